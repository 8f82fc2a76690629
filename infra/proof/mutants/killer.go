package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// killer is some tests of one package.
type killer struct {
	name  string
	tests string   // by the key of programs
	pkgs  []string // whose mutants it is run on
	only  string   // the tests that it runs, as -test.run has it; all if empty
	skip  string   // and those that it leaves out
	more  []string // further arguments
}

// of reports a killer of a package's mutants, which is one of its packages or inside of one.
func (k killer) of(pkg string) bool {
	return slices.ContainsFunc(k.pkgs, func(p string) bool { return p == pkg || strings.HasPrefix(pkg, p+"/") })
}

// alone is the killer with one test, and without the one.
func (k killer) alone(test string) killer { k.only, k.skip = exactly(test), ""; return k }

func (k killer) without(test string) killer {
	if k.skip != "" {
		k.skip += "|"
	}
	k.skip += exactly(test)
	return k
}

// exactly is the pattern of one test by its name.
func exactly(test string) string {
	levels := strings.Split(test, "/")
	for i, l := range levels {
		levels[i] = "^" + regexp.QuoteMeta(l) + "$"
	}
	return strings.Join(levels, "/")
}

// A mutant hangs that takes hangs times as long as the unchanged code, and patience in
// any case.
const (
	hangs    = 10
	patience = 5 * time.Second
	longest  = 10 * time.Minute // of the unchanged code
)

// within runs a program with as many seconds of a processor as $0 says, and with 3 GB of address space, half of which
// is what Go reserves: a mutant that turns in circles may take all the time and memory there is, and several run side
// by side.
const within = `ulimit -t "$0" -v 3145728 2>/dev/null; exec "$@"`

// limit is how long a killer may run on a mutant.
type limit struct {
	wall, cpu time.Duration
}

// limits are those of a mutant, by what the unchanged code took.
func limits(took limit) limit {
	return limit{max(patience, hangs*took.wall), max(patience, hangs*took.cpu)}
}

// verdict is what a run of a killer says.
type verdict struct {
	failed string        // the test that failed, or was the last to begin; empty: all passed
	how    string        // it ended all others, too: it panics, it hangs
	took   time.Duration // of processors
}

// run runs the killer's tests on one mutant, on none if the number is 0, against a
// DynamoDB in memory of its own.
func (k killer) run(ctx context.Context, t tests, dir string, mutant int, most limit) (verdict, error) {
	endpoint, stop, err := serve()
	if err != nil {
		return verdict{}, err
	}
	defer stop()
	args := append([]string{"-c", within, strconv.Itoa(int(most.cpu.Seconds())), t.program, "-test.v", "-test.failfast", "-test.parallel=64", "-test.timeout=" + most.wall.String(),
		"-test.run=" + k.only, "-test.skip=" + k.skip}, k.more...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = dir
	// One processor each: several are run side by side, and one that hangs turns in circles.
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", variable, mutant), "DYNAMODB_ENDPOINT="+endpoint, "GOMAXPROCS=1")
	// Tests start processes of their own, which a mutant may keep from ending.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = patience // for who still holds the output
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Run()
	if cmd.Process != nil {
		_ = cmd.Cancel() // those that are left
	}
	var v verdict
	if cmd.ProcessState != nil {
		v.took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	switch exit := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return v, ctx.Err()
	case err == nil:
		return v, nil
	case !errors.As(err, &exit):
		return v, err
	}
	v.failed, v.how = failure(output.String())
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && v.failed == "" {
		v.failed, v.how = lastBegun(output.String()), "hangs" // it had no time left
	}
	if v.failed == "" {
		return v, fmt.Errorf("%s ended with %w, and no test of it failed: %s", k.name, err, tail(output.String()))
	}
	return v, nil
}

var (
	failLine = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
	runLine  = regexp.MustCompile(`(?m)^=== (?:RUN|CONT|NAME) +(\S+)`)
)

// failure names the test that failed, the innermost of the first; after a panic and a
// hang, which end all tests, the one that was the last to begin.
func failure(output string) (name, how string) {
	for _, m := range failLine.FindAllStringSubmatch(output, -1) {
		if name == "" || strings.HasPrefix(m[1], name+"/") {
			name = m[1]
		}
	}
	switch {
	case strings.Contains(output, "panic: test timed out after"):
		how = "hangs"
	case strings.Contains(output, "\npanic: "), strings.Contains(output, "\nfatal error: "):
		how = "panics"
	}
	if name == "" && how != "" {
		name = lastBegun(output)
	}
	return name, how
}

// lastBegun is the test that was the last to begin.
func lastBegun(output string) string {
	begun := runLine.FindAllStringSubmatch(output, -1)
	if begun == nil {
		return ""
	}
	return begun[len(begun)-1][1]
}

// tail is the end of an output.
func tail(output string) string { return output[max(0, len(output)-2000):] }

// serve starts a DynamoDB in memory for other processes. Like DynamoDB Local, for
// which the tests count their calls, it leaves the items out of the errors of a batch
// of statements.
func serve() (endpoint string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: memdb.New(memdb.Config{Plan: memdb.LikeLocal})}
	go func() { _ = s.Serve(l) }() // it ends with Close
	return "http://" + l.Addr().String(), func() { _ = s.Close() }, nil
}
