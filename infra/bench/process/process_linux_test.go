package process

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func usage(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// What the kernel says of this process in two ways is the same, but for what was used between the looks.
func TestCPU(t *testing.T) {
	for spun := time.Now(); time.Since(spun) < 20*time.Millisecond; {
	}
	before := usage(t)
	got, err := CPU(os.Getpid())
	after := usage(t)
	const rounding = time.Millisecond
	if err != nil || got < before-rounding || got > after+rounding || got < time.Millisecond {
		t.Errorf("got %v, %v, want %v to %v", got, err, before, after)
	}
}

func TestErrGone(t *testing.T) {
	const gone = 1 << 22 // above what Linux gives
	if _, err := CPU(gone); err == nil {
		t.Error("processor time of nobody")
	}
	if _, err := MemoryOf(gone); err == nil {
		t.Error("memory of nobody")
	}
}

func TestMemory(t *testing.T) {
	m, err := MemoryOf(os.Getpid())
	if err != nil || m.Resident < 1<<20 || m.Peak < m.Resident {
		t.Errorf("got %+v, %v", m, err)
	}
	const status = "Name:\tx\nVmPeak:\t  99 kB\nVmHWM:\t  30 kB\nVmRSS:\t    20 kB\nThreads:\t3\n"
	if got, err := memory([]byte(status)); err != nil || got != (Memory{20 << 10, 30 << 10}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"VmRSS:\t 20 kB\n", "VmRSS:\t 20 MB\nVmHWM:\t 1 kB\n", "VmRSS:\t x kB\nVmHWM:\t 1 kB\n", ""} {
		if got, err := memory([]byte(bad)); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, got)
		}
	}
}
