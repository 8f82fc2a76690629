package stripe

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// process is a function's real binary, waiting at a Runtime API for what to run.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
type process struct {
	events    chan string
	responses chan string
	ended     chan struct{}
	log       output
}

// output takes what a process writes while a test reads it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// root is the root module's directory.
const root = "../../.."

// run builds the package as it is deployed, but for this machine, and starts it. timeout is the
// function's.
func run(t *testing.T, pkg string, timeout time.Duration, environment ...string) *process {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	build := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", binary, pkg)
	build.Dir = root // the module whose versions are deployed, not this one
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	p := &process{events: make(chan string), responses: make(chan string), ended: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, r *http.Request) {
		select {
		case event := <-p.events:
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "request")
			w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(timeout).UnixMilli()))
			w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:123456789012:function:once-charge")
			_, _ = io.WriteString(w, event)
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("POST /2018-06-01/runtime/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		select {
		case p.responses <- string(body):
		case <-p.ended:
		}
	})
	api := httptest.NewServer(mux)

	command := exec.Command(binary)
	command.Env = append(os.Environ(), append(environment, "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(api.URL, "http://"))...)
	command.Stdout, command.Stderr = &p.log, &p.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = command.Wait() // killed below; before that, invoke says what it wrote
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-p.ended
		api.CloseClientConnections()
		api.Close()
	})
	return p
}

// invoke hands the process one event and returns its response.
func (p *process) invoke(t *testing.T, event string) string {
	t.Helper()
	for taken := p.events; ; {
		select {
		case taken <- event:
			taken = nil
		case response := <-p.responses:
			return response
		case <-p.ended:
			t.Fatalf("the function ended:\n%s", p.log.String())
		}
	}
}
