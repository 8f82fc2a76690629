// Package worker holds the two Go functions of the scoreboard: Once's, and the conditional put of the tutorials. Each is the whole of a
// process that Lambda's Go runtime runs. They have the same work to do, on the same kind of message, at the same far side.
package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
)

// Variable names the environment variable that makes a process one of the functions.
const Variable = "SCOREBOARD_FUNCTION"

type handler func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Run runs the function that Variable names, and does not come back then. Without one it comes back at once.
func Run() {
	functions := map[string]func(settings) (handler, error){"once": once, "naive": naive}
	name := os.Getenv(Variable)
	if name == "" {
		return
	}
	function, ok := functions[name]
	if !ok {
		exit(fmt.Errorf("%s is %q, which is no function", Variable, name))
	}
	s, err := read()
	if err != nil {
		exit(err)
	}
	h, err := function(s)
	if err != nil {
		exit(err)
	}
	lambda.Start(h)
	os.Exit(0)
}

func exit(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// settings is the functions' environment.
type settings struct {
	aws       aws.Config
	table     string
	far       far
	retention time.Duration
}

func read() (settings, error) {
	seconds, err := strconv.Atoi(os.Getenv("RETENTION_SECONDS"))
	if err != nil {
		return settings{}, fmt.Errorf("RETENTION_SECONDS: %w", err)
	}
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		return settings{}, fmt.Errorf("load AWS configuration: %w", err)
	}
	return settings{cfg, os.Getenv("TABLE"), far(os.Getenv("FAR_SIDE")), time.Duration(seconds) * time.Second}, nil
}

// queue is the name of the queue that an event comes from: an event is of one alone.
func queue(event events.SQSEvent) string {
	arn := event.Records[0].EventSourceARN
	return arn[strings.LastIndexByte(arn, ':')+1:]
}

// far is the URL of the far side.
type far string

// call makes the effect. The far side is told which intent it is only to count by it.
func (f far) call(ctx context.Context, body []byte) (result any, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(f), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	err = f.do(request, &result)
	return result, err
}

// effects asks what became of an intent.
func (f far) effects(ctx context.Context, intent string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, string(f)+"?intent="+url.QueryEscape(intent), nil)
	if err != nil {
		return 0, err
	}
	var answer struct {
		Effects int `json:"effects"`
	}
	err = f.do(request, &answer)
	return answer.Effects, err
}

func (f far) do(request *http.Request, answer any) error {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("far side answered %s", response.Status)
	}
	return json.Unmarshal(body, answer)
}
