//go:build !linux

package process

import (
	"errors"
	"time"
)

// CPU is the processor time that all threads of a process have used.
func CPU(int) (time.Duration, error) { return 0, errors.ErrUnsupported }

// MemoryOf reads the memory of a process.
func MemoryOf(int) (Memory, error) { return Memory{}, errors.ErrUnsupported }
