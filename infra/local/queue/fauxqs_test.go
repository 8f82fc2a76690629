package queue_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// fauxqsVersion is the newest that runs on Node 20: the later ones need node:sqlite, so Node 22.5.
const fauxqsVersion = "1.9.2"

// startFauxqs runs fauxqs from the user's cache directory, where the first run installs it, and returns its address.
func startFauxqs(t *testing.T) string {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is missing: this test compares with fauxqs, an npm package; install Node.js 20 or newer, which brings npm", tool)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "once", "fauxqs-"+fauxqsVersion)
	if _, err := os.Stat(dir); err != nil {
		installFauxqs(t, dir)
	}
	script, err := filepath.Abs("testdata/fauxqs.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", script, filepath.Join(dir, "node_modules", "fauxqs", "dist", "app.js"))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close() // the script ends with its standard input
		cmd.Wait()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("fauxqs did not say where it listens: %v", err)
	}
	return strings.TrimSpace(address)
}

// installFauxqs installs beside dir and renames, so that an interrupted install is never taken for a finished one.
func installFauxqs(t *testing.T, dir string) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "install-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	npm := exec.CommandContext(t.Context(), "npm", "install", "--prefix", tmp, "--no-audit", "--no-fund", "fauxqs@"+fauxqsVersion)
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("install fauxqs %s: %v\n%s", fauxqsVersion, err, out)
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			t.Fatal(err)
		}
	}
}

// TestSameAsFauxqs compares FIFO queues with fauxqs's.
func TestSameAsFauxqs(t *testing.T) {
	t.Parallel()
	fifo := func(more ...string) map[string]string {
		out := map[string]string{"FifoQueue": "true", "VisibilityTimeout": "60"}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	// say sends a body to the group that its first letter names, with itself as deduplication id.
	say := func(p *caller, url, body string) *sqs.SendMessageOutput {
		return p.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: new(body[:1]), MessageDeduplicationId: &body})
	}
	compare(t, serve(t), sdk(startFauxqs(t)), map[string]scenario{
		"groups": func(p *caller) {
			url := p.create("", fifo())
			for _, body := range []string{"A1", "B1", "A2", "B2", "A3"} {
				say(p, url, body)
			}
			a1 := p.receive(url, 1)
			p.note("first", texts(a1), " ", a1[0].Attributes["MessageGroupId"], " ", a1[0].Attributes["MessageDeduplicationId"])
			b1 := p.receive(url, 1)
			p.note("other group", texts(b1))
			p.note("both closed", texts(p.receive(url, 1)))
			p.noteCounts("counts", url)
			p.noteError("delete", p.delete(url, a1[0]))
			a2 := p.receive(url, 1)
			p.note("next of the group", texts(a2))
			p.noteError("fail", p.visibility(url, a2[0], 0))
			p.note("again before its followers", texts(p.receive(url, 1)))
			p.noteError("short", p.visibility(url, b1[0], 1))
			p.note("after its timeout", texts(p.eventually(url, 1)))
		},
		"several-of-a-group": func(p *caller) {
			url := p.create("", fifo())
			say(p, url, "A1")
			say(p, url, "A2")
			p.note("receive 10", texts(p.receive(url, 10)))
		},
		"deduplication": func(p *caller) {
			url := p.create("", fifo())
			first := say(p, url, "A1")
			second := say(p, url, "A1")
			p.note("same answer", *first.MessageId == *second.MessageId && *first.SequenceNumber == *second.SequenceNumber)
			got := p.receive(url, 1)
			p.note("one", texts(got))
			p.noteError("delete", p.delete(url, got[0]))
			p.note("across groups and after the delete", *p.send(&sqs.SendMessageInput{
				QueueUrl: &url, MessageBody: new("other"), MessageGroupId: new("B"), MessageDeduplicationId: new("A1"),
			}).MessageId == *first.MessageId)
			p.note("nothing more", texts(p.receive(url, 1)))
			third := say(p, url, "A2")
			p.note("sequence rises", len(*third.SequenceNumber), *third.SequenceNumber > *first.SequenceNumber)
		},
		"content-deduplication": func(p *caller) {
			url := p.create("", fifo("ContentBasedDeduplication", "true"))
			for _, body := range []string{"same", "same", "other"} {
				p.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: new(body)})
			}
			got := p.receive(url, 10)
			p.note("bodies", texts(got))
			p.note("id", got[0].Attributes["MessageDeduplicationId"])
		},
		"dead-letter": func(p *caller) {
			dead := p.create("-dead", fifo())
			url := p.create("", fifo("RedrivePolicy", p.redrivePolicy(dead, 2)))
			sent := say(p, url, "A1")
			say(p, url, "A2")
			for n := range 2 {
				got := p.receive(url, 1)
				p.note(fmt.Sprint("receive ", n), texts(got), got[0].Attributes["ApproximateReceiveCount"])
				p.noteError(fmt.Sprint("fail ", n), p.visibility(url, got[0], 0))
			}
			p.note("group goes on", texts(p.receive(url, 1)))
			got := p.receive(dead, 1)
			p.note("moved", texts(got), got[0].Attributes["MessageGroupId"])
			p.note("same id", *got[0].MessageId == *sent.MessageId)
			p.note("deduplication id is the message id", got[0].Attributes["MessageDeduplicationId"] == *sent.MessageId)
			p.note("receive count", got[0].Attributes["ApproximateReceiveCount"])
			p.note("source", got[0].Attributes["DeadLetterQueueSourceArn"] != "")
		},
		"expired-handle": func(p *caller) {
			url := p.create("", fifo("VisibilityTimeout", "1"))
			say(p, url, "A1")
			first := p.receive(url, 1)[0]
			p.note("again", texts(p.eventually(url, 1)))
			p.noteError("delete", p.delete(url, first))
			p.noteError("visibility", p.visibility(url, first, 1))
		},
		"refusals": func(p *caller) {
			url := p.create("", fifo())
			send := func(in sqs.SendMessageInput) error {
				in.QueueUrl, in.MessageBody = &url, new("a")
				_, err := p.c.SendMessage(p.ctx, &in)
				return err
			}
			p.noteError("no group", send(sqs.SendMessageInput{MessageDeduplicationId: new("d")}))
			p.noteError("no deduplication id", send(sqs.SendMessageInput{MessageGroupId: new("g")}))
			p.noteError("own delay", send(sqs.SendMessageInput{MessageGroupId: new("g"), MessageDeduplicationId: new("d"), DelaySeconds: 1}))
			_, err := p.c.CreateQueue(p.ctx, &sqs.CreateQueueInput{QueueName: new("no-suffix"), Attributes: map[string]string{"FifoQueue": "true"}})
			p.noteError("no suffix", err)
			sent, err := p.c.SendMessageBatch(p.ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: []types.SendMessageBatchRequestEntry{
				{Id: new("1"), MessageBody: new("A1"), MessageGroupId: new("A"), MessageDeduplicationId: new("A1")},
				{Id: new("2"), MessageBody: new("A2"), MessageDeduplicationId: new("A2")},
			}})
			p.noteError("batch", err)
			p.note("batch results", len(sent.Successful), len(sent.Failed))
		},
	}, map[string]string{
		"dead-letter/deduplication id is the message id": "fauxqs keeps the id; AWS rewrites it (C16)",
		"dead-letter/receive count":                      "fauxqs counts the attempt that moved the message as a receive",
		"dead-letter/source":                             "fauxqs has no DeadLetterQueueSourceArn",
		"expired-handle/delete":                          "fauxqs takes any handle and deletes nothing",
		"expired-handle/visibility":                      "fauxqs says MessageNotInflight; AWS says the handle has expired",
		"several-of-a-group/receive 10":                  "fauxqs returns one message a group per receive",
	})
}
