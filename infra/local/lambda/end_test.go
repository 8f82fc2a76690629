package lambda

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func hold(mark string) {
	w, err := NewWorker(context.Background(), os.Getenv("EMULATOR"),
		Config{Bootstrap: os.Getenv("PROBE"), Timeout: 900 * time.Second, Log: io.Discard})
	if err == nil {
		fmt.Println(w.emulator.dir)
		_, err = w.Invoke(context.Background(), fmt.Appendf(nil, `{"do":"hang","mark":%q}`, mark))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestParentDies(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env = append(os.Environ(), holdWorker+"="+mark, "EMULATOR="+binaries.emulator, "PROBE="+binaries.probe)
	parent.Stderr = os.Stderr
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid := marked(t, mark)
	if !running(pid) {
		t.Fatal("the function does not run while its parent does")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	parent.Wait() // killed, as it was to be
	eventuallyGone(t, pid)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for emulators(t, strings.TrimSpace(dir)) > 0 {
		pause(t, ctx)
	}
}

// emulators counts the processes whose arguments name the directory.
func emulators(t *testing.T, dir string) int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-ww", "-o", "args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(out), dir)
}

func TestNewWorkerErrors(t *testing.T) {
	tests := []struct {
		name     string
		emulator string
		config   Config
		want     string
	}{
		{"timeout in ms", binaries.emulator, Config{Bootstrap: binaries.probe, Timeout: 1500 * time.Millisecond}, "Timeout 1.5s is not a whole number of seconds"},
		{"no timeout", binaries.emulator, Config{Bootstrap: binaries.probe}, "Timeout 0s"},
		{"no emulator", filepath.Join(t.TempDir(), "none"), Config{Timeout: time.Second}, "start the runtime emulator"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := NewWorker(t.Context(), test.emulator, test.config); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("NewWorker error = %v, want %q", err, test.want)
			}
		})
	}
}
