package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/stack"
)

// projectRoot is seen from this folder.
func projectRoot(t *testing.T) string {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// withoutSAM makes sure that the runtime emulator is used: sam is not found.
func withoutSAM(t *testing.T) {
	t.Helper()
	onPath(t, map[string]string{"docker": "exit 1"})
}

// onPath puts shell scripts in front of PATH.
func onPath(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestUpAndInvoke(t *testing.T) {
	withoutSAM(t)
	root, state := projectRoot(t), filepath.Join(t.TempDir(), "cache", "up.json")
	ctx, interrupt := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- up(ctx, root, state, writer) }()
	go func() { // a failure to start ends the reading
		err := <-ended
		writer.CloseWithError(err)
		ended <- err
	}()
	told := readUntil(t, bufio.NewReader(reader), "Ctrl-C")
	for _, want := range []string{
		"IntentTable", "ChargeDeadLetterQueue", "\nSES ", "sam local invoke ChargeFunction --template .build/" + architecture() + "/template.yaml --event events/charge-first-delivery.json --env-vars ",
		"make invoke FUNCTION=adjust", "make invoke FUNCTION=ship", "make invoke FUNCTION=clearcart", "make invoke FUNCTION=welcome",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("up says %q, which lacks %q", told, want)
		}
	}
	if err := up(t.Context(), root, state, io.Discard); err == nil || !strings.Contains(err.Error(), "another `up` runs") {
		t.Errorf("a second up ended with %v", err)
	}

	// In their order, since they all meet the tables of the one up.
	tests := []struct{ event, logged string }{
		{"charge-first-delivery", `"Executed":1`},
		{"charge-redelivery", `"Replayed":1`},
		{"adjust-first-delivery", `"Executed":1`},
		{"adjust-redriven-with-new-message-id", `"Replayed":1`},
		{"adjust-poison", `"Quarantined":1`},
		{"ship-first-delivery", `"Executed":1`},
		{"ship-late-redelivery", `"Executed":1`},
		{"ship-unknown-order", `"Quarantined":1`},
		{"clearcart-first-delivery", `"Executed":1`},
		{"clearcart-redelivery", `"Executed":1`},
		{"welcome-first-delivery", `"Executed":1`},
		{"welcome-redelivery", `"Replayed":1`},
		{"welcome-unknown-user", `"Refused":1`},
	}
	for _, test := range tests {
		var stdout, stderr bytes.Buffer
		function, _, _ := strings.Cut(test.event, "-")
		c := invokeCommand{Function: function, Event: filepath.Join(root, "events", test.event+".json")}
		if err := invoke(t.Context(), root, state, c, &stdout, &stderr); err != nil {
			t.Fatalf("%s: %v\n%s", test.event, err, stderr.String())
		}
		if failed := readFailed(t, stdout.String()); len(failed) > 0 {
			t.Errorf("%s: failed %q, want none", test.event, failed)
		}
		if !strings.Contains(stderr.String(), test.logged) {
			t.Errorf("%s: the log lacks %s:\n%s", test.event, test.logged, stderr.String())
		}
	}

	sameAsToldByEvents(t, state)

	interrupt()
	if err := <-ended; err != nil {
		t.Errorf("up ended with %v", err)
	}
	functions, err := readState(state)
	if err != nil || functions != nil {
		t.Errorf("after its end, up is taken to run: %v, %v", functions, err)
	}
}

// sameAsToldByEvents looks where the effects are: twice -1000 cents, for order 8821
// and, beside the poison, for 8822; the order shipped; of the cart what was put in
// after the checkout; and one e-mail.
func sameAsToldByEvents(t *testing.T, state string) {
	t.Helper()
	functions, err := readState(state)
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	var endpoint string
	for _, f := range functions {
		maps.Copy(table, f.Environment)
		endpoint = f.Environment["AWS_ENDPOINT_URL_DYNAMODB"]
	}
	db := dynamodb.New(dynamodb.Options{
		Region: stack.Region, BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	for _, look := range []struct{ table, shows, want string }{
		{"ACCOUNTS_TABLE", "balance", "98000"},
		{"ORDERS_TABLE", "status", "shipped"},
		{"CARTS_TABLE", "item_id", "mug"},
		{"EMAILS_TABLE", "user_id", "7"},
	} {
		name := table[look.table]
		out, err := db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &name, ConsistentRead: aws.Bool(true)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range out.Items {
			switch value := item[look.shows].(type) {
			case *types.AttributeValueMemberS:
				got = append(got, value.Value)
			case *types.AttributeValueMemberN:
				got = append(got, value.Value)
			}
		}
		if !slices.Equal(got, []string{look.want}) {
			t.Errorf("%s: got %s %q, want %q alone", look.table, look.shows, got, look.want)
		}
	}
}

func readUntil(t *testing.T, from *bufio.Reader, last string) string {
	t.Helper()
	var told strings.Builder
	for !strings.Contains(told.String(), last) {
		line, err := from.ReadString('\n')
		if err != nil {
			t.Fatalf("up ended: %v\n%s", err, told.String())
		}
		told.WriteString(line)
	}
	return told.String()
}

// readFailed reads the answer, the one line on standard output.
func readFailed(t *testing.T, stdout string) []string {
	t.Helper()
	var answer struct {
		Failures []struct {
			ID string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || answer.Failures == nil || strings.Count(stdout, "\n") != 1 {
		t.Fatalf("standard output is %q, want one line with the answer (%v)", stdout, err)
	}
	var ids []string
	for _, failure := range answer.Failures {
		ids = append(ids, failure.ID)
	}
	return ids
}

// Without a running up, invoke has services of its own, gone when it ends.
func TestInvokeAlone(t *testing.T) {
	withoutSAM(t)
	root := projectRoot(t)
	c := invokeCommand{Function: "charge", Event: filepath.Join(root, "events", "charge-duplicate-in-batch.json")}
	var stdout, stderr bytes.Buffer
	if err := invoke(t.Context(), root, filepath.Join(t.TempDir(), "up.json"), c, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if failed := readFailed(t, stdout.String()); len(failed) > 0 {
		t.Errorf("failed %v", failed)
	}
	if !strings.Contains(stderr.String(), `"Executed":1`) {
		t.Errorf("the log lacks the execution:\n%s", stderr.String())
	}
	out, err := exec.Command("ps", "-A", "-o", "ppid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		parent, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		if parent == strconv.Itoa(os.Getpid()) && !strings.HasPrefix(command, "ps ") {
			t.Errorf("left running: %s", command)
		}
	}
}

// With no store to be reached, each message is listed, with the reason, before
// the function times out.
func TestInvokeWithoutStore(t *testing.T) {
	root := projectRoot(t)
	functions, err := stack.Unreachable(stack.Options{
		Root: root, Name: stackName, Environment: localEnvironment("http://127.0.0.1:1", "http://127.0.0.1:1"),
		Parameters: map[string]string{"FunctionTimeoutSeconds": "2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range functions {
		t.Run(f.Folder, func(t *testing.T) {
			event := filepath.Join(root, "events", f.Folder+"-duplicate-in-batch.json")
			var stdout, stderr bytes.Buffer
			if err := invokeHere(t.Context(), root, t.TempDir(), f, event, &stdout, &stderr); err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			if got, want := readFailed(t, stdout.String()), messagesOf(t, event); !slices.Equal(got, want) {
				t.Errorf("listed %v, want %v", got, want)
			}
			if !strings.Contains(stderr.String(), "connection refused") {
				t.Errorf("the log lacks the reason:\n%s", stderr.String())
			}
		})
	}
}

func messagesOf(t *testing.T, event string) []string {
	t.Helper()
	data, err := os.ReadFile(event)
	if err != nil {
		t.Fatal(err)
	}
	var records struct {
		Records []struct {
			MessageID string `json:"messageId"`
		}
	}
	if err := json.Unmarshal(data, &records); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range records.Records {
		ids = append(ids, r.MessageID)
	}
	return ids
}

// A sam of ours shows what we ask of SAM, not what SAM does.
func TestInvokeBySAM(t *testing.T) {
	root, dir := projectRoot(t), t.TempDir()
	calls := filepath.Join(dir, "calls")
	onPath(t, map[string]string{
		"docker": "exit 0",
		"make":   `echo "$PWD $*" >>'` + calls + `'; echo built`,
		"sam": `echo "$PWD $*" >>'` + calls + `'
cp "$9" '` + dir + `/environment.json'
echo a log line >&2; echo '{"batchItemFailures":[]}'`,
	})
	event := filepath.Join(root, "events", "charge-first-delivery.json")
	var stdout, stderr bytes.Buffer
	err := invoke(t.Context(), root, filepath.Join(dir, "up.json"), invokeCommand{Function: "charge", Event: event, NoStore: true}, &stdout, &stderr)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if failed := readFailed(t, stdout.String()); len(failed) > 0 {
		t.Errorf("failed %v", failed)
	}
	if got := stderr.String(); got != "built\na log line\n" {
		t.Errorf("standard error is %q", got)
	}
	asked, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(asked)), "\n")
	if len(lines) != 2 || lines[0] != root+" build ARCHITECTURE="+architecture() ||
		!strings.HasPrefix(lines[1], root+" local invoke ChargeFunction --template .build/"+architecture()+"/template.yaml --event "+event+" --env-vars ") ||
		!strings.HasSuffix(lines[1], " --add-host host.docker.internal:host-gateway") {
		t.Errorf("sam was called with %q", lines)
	}
	var environment map[string]map[string]string
	written, err := os.ReadFile(filepath.Join(dir, "environment.json"))
	if err == nil {
		err = json.Unmarshal(written, &environment)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SESV2", "STRIPE_API_BASE"} {
		if got := environment["ChargeFunction"][name]; got != "http://host.docker.internal:1" {
			t.Errorf("in the container, %s is %q", name, got)
		}
	}
}

func TestInvokeErrors(t *testing.T) {
	withoutSAM(t)
	root := projectRoot(t)
	tests := []struct {
		name    string
		command invokeCommand
		want    string
	}{
		{"unknown function", invokeCommand{Function: "refund", NoStore: true}, `no function "refund" in template.yaml: it declares ["charge" "adjust" "ship" "clearcart" "welcome"]`},
		{"no event", invokeCommand{Function: "charge", Event: "none.json", NoStore: true}, "none.json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := invoke(t.Context(), root, filepath.Join(t.TempDir(), "up.json"), test.command, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
