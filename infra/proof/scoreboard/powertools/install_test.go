package powertools

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestVersion(t *testing.T) {
	content, err := fs.ReadFile(function, "function/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	if err := json.Unmarshal(content, &lock); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"batch", "idempotency"} {
		if got := lock.Packages["node_modules/@aws-lambda-powertools/"+name].Version; got != Version {
			t.Errorf("%s: the lock file has version %s, want %s", name, got, Version)
		}
	}
	for name, p := range lock.Packages {
		if name != "" && p.Integrity == "" {
			t.Errorf("%s: no checksum in the lock file", name)
		}
		if p.Resolved != "" {
			t.Errorf("%s: fetched from %s, want the registry that npm is set up with", name, p.Resolved)
		}
	}
}

func TestHome(t *testing.T) {
	one, err := home(fstest.MapFS{"handler.mjs": {Data: []byte("1")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []fstest.MapFS{{"handler.mjs": {Data: []byte("2")}}, {"other.mjs": {Data: []byte("1")}}} {
		if got, err := home(other); err != nil || got == one {
			t.Errorf("another function has the same home: %s, %v", got, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	for text, want := range map[string]bool{
		"npm error code ENOTFOUND\nnpm error syscall getaddrinfo": true,
		"npm ERR! code ECONNREFUSED":                              true,
		"npm error code E404\nnpm error 404 Not Found":            false,
		"npm error code EINTEGRITY":                               false,
		"":                                                        false,
	} {
		if got := unreachable([]byte(text)); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}

// Nobody takes a peer that is not there for one that is wrong.
func TestCommandWithoutNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Command(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestCommandWithoutRegistry(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("npm_config_registry", "http://127.0.0.1:9") // discard: nobody listens there
	t.Setenv("npm_config_fetch_retries", "0")
	t.Setenv("npm_config_cache", t.TempDir())
	_, err := Command(t.Context())
	if !errors.Is(err, ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(base + "/once")
	if err != nil || len(left) != 0 {
		var names []string
		for _, entry := range left {
			names = append(names, entry.Name())
		}
		t.Errorf("left behind: %s, %v", strings.Join(names, " "), err)
	}
}
