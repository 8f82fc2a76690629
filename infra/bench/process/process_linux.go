package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time that all threads of a process have used, as user and in the kernel. It is the kernel's own count in
// nanoseconds, where /proc/<pid>/stat has ticks of 10 ms.
func CPU(pid int) (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(clock(pid), &t); err != nil {
		return 0, fmt.Errorf("read processor time of %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// clock is the id of a process's clock, as clock_getcpuclockid(3) makes it: CPUCLOCK_SCHED of the whole thread group.
func clock(pid int) int32 { return ^int32(pid)<<3 | 2 }

// MemoryOf reads the memory of a process.
func MemoryOf(pid int) (Memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, fmt.Errorf("read memory: %w", err)
	}
	return memory(status)
}

func memory(status []byte) (m Memory, err error) {
	if m.Resident, err = field(status, "VmRSS"); err == nil {
		m.Peak, err = field(status, "VmHWM")
	}
	return m, err
}

// field is one of /proc/<pid>/status, in bytes: "VmRSS:\t   12345 kB".
func field(status []byte, name string) (int64, error) {
	for line := range bytes.Lines(status) {
		value, ok := bytes.CutPrefix(line, []byte(name+":"))
		if !ok {
			continue
		}
		number, ok := bytes.CutSuffix(bytes.TrimSpace(value), []byte(" kB"))
		kilobytes, err := strconv.ParseInt(string(number), 10, 64)
		if !ok || err != nil {
			return 0, fmt.Errorf("read memory: %s is %q", name, bytes.TrimSpace(value))
		}
		return kilobytes << 10, nil
	}
	return 0, fmt.Errorf("read memory: no %s", name)
}
