// Package powertools brings the scoreboard's peer to this machine: a function made of Powertools for AWS Lambda (TypeScript), run by
// Node. npm installs what the lock file names into the user's cache directory, once, never into the tree.
package powertools

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// Version is the one that package.json and its lock file name.
const Version = "2.35.0"

// ErrUnavailable is returned where the peer is not to be had: Node or npm is missing, or the registry cannot be reached.
var ErrUnavailable = errors.New("the peer, Powertools for AWS Lambda (TypeScript), is not to be had here")

//go:embed function
var function embed.FS

// installLimit bounds the download of some 30 MB.
const installLimit = 5 * time.Minute

// Command installs the function where it is not yet and gives the command that runs it.
func Command(ctx context.Context) ([]string, error) {
	source, err := fs.Sub(function, "function")
	if err != nil {
		return nil, err
	}
	return Install(ctx, source)
}

// Install installs a function where it is not yet: what its lock file names, and what its script "build" makes of it, if it has one. The
// command that it gives runs the function's runtime.mjs, in whose folder all of it is.
func Install(ctx context.Context, source fs.FS) (command []string, err error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("%w: install Node 20 or later: %w", ErrUnavailable, err)
	}
	home, err := home(source)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		err = install(ctx, source, home)
		if err != nil {
			return nil, fmt.Errorf("install the peer: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("look for the peer: %w", err)
	}
	return []string{node, filepath.Join(home, "runtime.mjs")}, nil
}

// home is named for what is in it: another function, or another lock file, has another.
func home(source fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(source, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(source, path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the peer's function: %w", err)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache directory: %w", err)
	}
	return filepath.Join(base, "once", fmt.Sprintf("powertools-%s-%x", Version, sum.Sum(nil)[:6])), nil
}

// install makes home be there whole, or not at all. Of two that install at once one is second, and its work in vain.
func install(ctx context.Context, source fs.FS, home string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("%w: install npm: %w", ErrUnavailable, err)
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(home), "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	made := filepath.Join(scratch, "function")
	if err := os.CopyFS(made, source); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	for _, arguments := range [][]string{
		{"ci", "--ignore-scripts", "--no-audit", "--no-fund"},
		{"run", "build", "--if-present"},
	} {
		cmd := exec.CommandContext(ctx, npm, arguments...)
		cmd.Dir = made
		cmd.WaitDelay = time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("npm %s: %w\n%s", arguments[0], err, out)
			if unreachable(out) {
				err = fmt.Errorf("%w: %w", ErrUnavailable, err)
			}
			return err
		}
	}
	if err := os.Rename(made, home); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

var npmCode = regexp.MustCompile(`npm (?:error|ERR!) code (\w+)`)

// unreachable tells from npm's words that it heard nothing from its registry, not that it heard a no.
func unreachable(out []byte) bool {
	code := npmCode.FindSubmatch(out)
	return code != nil && slices.Contains([]string{"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "ERR_SOCKET_TIMEOUT"}, string(code[1]))
}
