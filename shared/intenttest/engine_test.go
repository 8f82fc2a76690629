package intenttest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// holdEngine makes this test binary a process that starts an engine, says
// where it is, and then ends as the variable says.
const holdEngine = "INTENTTEST_HOLD_ENGINE"

func TestMain(m *testing.M) {
	if ending := os.Getenv(holdEngine); ending != "" {
		hold(ending)
	}
	os.Exit(m.Run())
}

func hold(ending string) {
	endpoint, stop, err := Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(endpoint)
	switch ending {
	case "panic":
		panic("as asked")
	case "stop":
		stop()
	}
	select {} // until killed
}

func TestEngineEnds(t *testing.T) {
	for _, ending := range []string{"killed", "panic", "stop"} {
		t.Run(ending, func(t *testing.T) {
			holder := exec.CommandContext(t.Context(), os.Args[0])
			holder.Env = append(os.Environ(), holdEngine+"="+ending, "DYNAMODB_ENDPOINT=")
			var stderr tail
			holder.Stderr = &stderr
			stdout, err := holder.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := holder.Start(); err != nil {
				t.Fatal(err)
			}
			endpoint, err := bufio.NewReader(stdout).ReadString('\n')
			if err != nil {
				t.Fatalf("the holder said nothing: %v\n%s", err, stderr.String())
			}
			endpoint = strings.TrimSpace(endpoint)
			if ending == "killed" && !answers(t.Context(), endpoint) {
				t.Errorf("no engine at %s while its holder runs", endpoint)
			}
			if ending == "stop" {
				eventuallyGone(t, endpoint)
			}
			if ending == "killed" || ending == "stop" {
				if err := holder.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			holder.Wait() // its status is its ending's
			eventuallyGone(t, endpoint)
		})
	}
}

func eventuallyGone(t *testing.T, endpoint string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for answers(ctx, endpoint) {
		if err := wait(ctx, poll); err != nil {
			t.Fatalf("the engine at %s outlives its end", endpoint)
		}
	}
}

func TestStartsAtOnce(t *testing.T) {
	t.Setenv("DYNAMODB_ENDPOINT", "")
	endpoints := make([]string, 3)
	err := atOnce(len(endpoints), func(i int) (err error) {
		var stop func()
		endpoints[i], stop, err = Start(t.Context())
		if err == nil {
			t.Cleanup(stop)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, endpoint := range endpoints {
		if seen[endpoint] {
			t.Errorf("two engines share %s", endpoint)
		}
		seen[endpoint] = true
		if _, err := createTable(t.Context(), client(endpoint), "id"); err != nil {
			t.Errorf("engine at %s: %v", endpoint, err)
		}
	}
}

func TestStartWithEndpointGiven(t *testing.T) {
	const given = "http://127.0.0.1:9"
	t.Setenv("DYNAMODB_ENDPOINT", given)
	t.Setenv("PATH", t.TempDir()) // nothing can be started
	endpoint, stop, err := Start(t.Context())
	if err != nil || endpoint != given {
		t.Fatalf("Start() = %q, %v, want %q", endpoint, err, given)
	}
	stop()
}

func TestStartErrors(t *testing.T) {
	tests := []struct {
		name  string
		tools map[string]string // on PATH: name to script, or "real"
		want  []string
	}{
		{name: "no Java", tools: map[string]string{"npm": "real"},
			want: []string{"java is not on PATH", "install a Java runtime 17 or newer", "docker is not on PATH"}},
		{name: "no npm", tools: map[string]string{"java": "real"},
			want: []string{"npm is not on PATH", "install Node.js with npm"}},
		{name: "npm fails", tools: map[string]string{"java": "real", "npm": "echo no network >&2; exit 7"},
			want: []string{"npm pack " + enginePackage, "no network", "exit status 7"}},
		{name: "npm leaves nothing", tools: map[string]string{"java": "real", "npm": "exit 0"},
			want: []string{"left 0 archives"}},
		{name: "Docker does not run", tools: map[string]string{"docker": "echo is the daemon running? >&2; exit 1"},
			want: []string{"install a Java runtime", "is the daemon running?"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onPath(t, test.tools)
			emptyCache(t)
			_, _, err := Start(t.Context())
			if err == nil {
				t.Fatal("Start() succeeded")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

// Two that find no engine start at once: one of them fetches, by the real npm,
// whose own cache has the package if it was ever fetched here.
func TestFetchedOnce(t *testing.T) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatal(err)
	}
	npmCache, err := exec.CommandContext(t.Context(), npm, "config", "get", "cache").Output()
	if err != nil {
		t.Fatal(err)
	}
	fetches := filepath.Join(t.TempDir(), "fetches")
	path := os.Getenv("PATH") // npm's own
	onPath(t, map[string]string{
		"java": "real",
		"npm": fmt.Sprintf(`echo fetch >>%q; PATH=%q exec %q "$@" --prefer-offline --cache %q`,
			fetches, path, npm, strings.TrimSpace(string(npmCache))),
	})
	emptyCache(t)
	if err := atOnce(2, func(int) error {
		endpoint, stop, err := Start(t.Context())
		if err != nil {
			return err
		}
		defer stop()
		_, err = createTable(t.Context(), client(endpoint), "id")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if calls, err := os.ReadFile(fetches); err != nil || string(calls) != "fetch\n" {
		t.Errorf("npm was called as %q, %v, want once", calls, err)
	}
}

func TestCorruptDownloadIsRefused(t *testing.T) {
	onPath(t, map[string]string{
		"java": "real",
		"npm":  `while [ "$1" != --pack-destination ]; do shift; done; echo other bytes >"$2/engine.tgz"`,
		// A corrupt download is no reason to turn to another source.
		"docker": "exit 0",
	})
	cache := emptyCache(t)
	_, _, err := Start(t.Context())
	if !errors.Is(err, ErrChecksum) {
		t.Fatalf("Start() error = %v, want ErrChecksum", err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "once", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if filepath.Base(path) != "lock" {
			t.Errorf("%s is left of a refused download", path)
		}
	}
}

// TestDockerStandsIn runs the real engine behind a docker command of ours:
// it shows what we ask of Docker, not what Docker does.
func TestDockerStandsIn(t *testing.T) {
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	Engine(t) // fetches
	home, err := fetched(t.Context(), cache)
	if err != nil {
		t.Fatal(err)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), "killed")
	onPath(t, map[string]string{"docker": fmt.Sprintf(`
case "$1" in
version) echo 1 ;;
kill) echo "$2" >%q ;;
run)
	test "$5" = -p || exit 2
	port=${6#127.0.0.1:}; port=${port%%:8000}
	test "$7" = amazon/dynamodb-local:%s || exit 3
	cd %q; shift 7; exec %q "$@" -port "$port" ;;
esac`, killed, engineVersion, home, java)})
	t.Setenv("DYNAMODB_ENDPOINT", "")
	endpoint, stop, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := Fitness(t.Context(), client(endpoint)); err != nil {
		t.Error(err)
	}
	stop()
	eventuallyGone(t, endpoint)
	if name, err := os.ReadFile(killed); err != nil || !strings.HasPrefix(string(name), "once-dynamodb-") {
		t.Errorf("killed container %q, %v, want the one that was run", name, err)
	}
}

// onPath leaves on PATH the named tools and what a shell script needs.
func onPath(t *testing.T, tools map[string]string) {
	t.Helper()
	dir := t.TempDir()
	real := func(tool string) {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	real("cat")
	for tool, script := range tools {
		if script == "real" {
			real(tool)
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func emptyCache(t *testing.T) string {
	t.Helper()
	t.Setenv("DYNAMODB_ENDPOINT", "")
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, ".cache"))
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

// Whoever asks the system for any port, as each test's server does, gets none that an engine is about to take.
func TestPortsOfEnginesAreTheirOwn(t *testing.T) {
	const anyPort = 32_768 // where Linux begins to give them out (net.ipv4.ip_local_port_range)
	for range 100 {
		port, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1024 || n >= anyPort {
			t.Fatalf("got port %s, want one from 1024 up to %d", port, anyPort)
		}
	}
}
