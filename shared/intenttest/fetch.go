package intenttest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// AWS publishes no archive of DynamoDB Local that is named by version; this
// npm package of AWS Amplify carries the jar, and the registry keeps each of
// its versions as it was. The licence lets us use the jar, not pass it on:
// hence a download on each machine, and never a copy in this repository.
const (
	enginePackage = "amplify-dynamodb-simulator@2.9.30"
	engineSHA512  = "c5379e44bbf311fab2779961ddb1f8734907bd21c79a6843e590ec1c5280439836665e89aa515dbad6908422c7cf1129e91cb5a3b4c1ea7888a17b9002749ec1"
	engineVersion = "1.25.1"
	engineJar     = "DynamoDBLocal.jar"
)

// ErrChecksum is returned when the fetched engine is not, byte for byte, the
// one these tests were written for. Nothing of it is kept.
var ErrChecksum = errors.New("the fetched engine has another checksum than the pinned one")

// missingError says that a tool is not there, and what to install.
type missingError struct{ tool, advice string }

func (e *missingError) Error() string {
	return fmt.Sprintf("%s is not on PATH: %s", e.tool, e.advice)
}

// cacheDir is where downloads are kept between runs: outside the tree, which
// `sam build` copies whole.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache directory: %w", err)
	}
	dir := filepath.Join(base, "once")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache directory: %w", err)
	}
	return dir, nil
}

// fetched gives the directory of the engine's jar, which it fetches on the
// first use. The caller holds the lock of cache.
func fetched(ctx context.Context, cache string) (string, error) {
	home := filepath.Join(cache, "dynamodb-local-"+engineVersion+"-"+engineSHA512[:12])
	_, err := os.Stat(filepath.Join(home, engineJar))
	if err == nil {
		return home, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for the engine: %w", err)
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", &missingError{"npm", "install Node.js with npm, which fetches DynamoDB Local on the first run (Debian and Ubuntu: apt install npm; macOS: brew install node)"}
	}
	scratch, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the download: %w", err)
	}
	defer os.RemoveAll(scratch)
	archive, err := download(ctx, npm, scratch)
	if err != nil {
		return "", err
	}
	unpacked := filepath.Join(scratch, "engine")
	if err := unpack(archive, unpacked); err != nil {
		return "", fmt.Errorf("unpack %s: %w", enginePackage, err)
	}
	// The rename is what makes the engine be there: whole, or not at all.
	if err := os.Rename(unpacked, home); err != nil {
		return "", fmt.Errorf("move the engine into place: %w", err)
	}
	return home, nil
}

func download(ctx context.Context, npm, dir string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, npm, "pack", enginePackage, "--silent", "--pack-destination", dir)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm pack %s: %w\n%s", enginePackage, err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("npm pack %s left %d archives, want 1", enginePackage, len(files))
	}
	archive, err := os.ReadFile(files[0])
	if err != nil {
		return nil, fmt.Errorf("read the download: %w", err)
	}
	sum := sha512.Sum512(archive)
	if got := hex.EncodeToString(sum[:]); got != engineSHA512 {
		return nil, fmt.Errorf("%w: %s: sha512 %s, want %s", ErrChecksum, enginePackage, got, engineSHA512)
	}
	return archive, nil
}

// unpack writes what lies under package/emulator/ to dir.
func unpack(archive []byte, dir string) error {
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	files := tar.NewReader(zipped)
	for {
		header, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(header.Name, "package/emulator/")
		if !ok || header.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the archive names a file outside itself: %q", header.Name)
		}
		if err := write(filepath.Join(dir, name), files); err != nil {
			return err
		}
	}
}

func write(path string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}

// lock waits for the lock of dir, which processes of one user share: one
// fetches while the others wait, and engines start one after the other. The
// system gives the lock back when its holder dies.
func lock(ctx context.Context, dir string) (unlock func() error, err error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the cache's lock: %w", err)
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file.Close, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock the cache: %w", err), file.Close())
		}
		if err := wait(ctx, poll); err != nil {
			return nil, errors.Join(fmt.Errorf("wait for the cache's lock: %w", err), file.Close())
		}
	}
}
