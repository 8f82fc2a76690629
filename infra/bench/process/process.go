// Package process reads what another process has used. Elsewhere than on Linux it builds, and returns errors.ErrUnsupported.
package process

// Memory is what a process holds, in bytes.
type Memory struct{ Resident, Peak int64 }
