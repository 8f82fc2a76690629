package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/singleeffect/once/infra/template"
)

// statePath is where `up` tells `invoke` of its functions and their
// environment, for one checkout.
func statePath(root string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache directory: %w", err)
	}
	return filepath.Join(cache, "once", fmt.Sprintf("up-%x.json", sha256.Sum256([]byte(root)))), nil
}

// writeState leaves the state for as long as the file stays open. The lock, not
// the file, says that `up` runs: the system takes it back however `up` ends.
func writeState(path string, functions []template.Function) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make the cache directory: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("leave word of the stack: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another `up` runs for this checkout")
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		err = json.NewEncoder(file).Encode(functions)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("leave word of the stack: %w", err), file.Close())
	}
	return file, nil
}

// readState gives the functions of the running `up`, none if there is none.
func readState(path string) ([]template.Function, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for a running stack: %w", err)
	}
	defer file.Close()
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); {
	case err == nil:
		return nil, nil // nobody holds it: `up` has ended
	case !errors.Is(err, syscall.EWOULDBLOCK):
		return nil, fmt.Errorf("look for a running stack: %w", err)
	}
	var functions []template.Function
	if err := json.NewDecoder(file).Decode(&functions); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("the stack is being started: try again in a moment")
		}
		return nil, fmt.Errorf("read of the running stack: %w", err)
	}
	return functions, nil
}
