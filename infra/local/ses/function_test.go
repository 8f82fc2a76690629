package ses_test

import (
	"bytes"
	"errors"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/lambda"
	"github.com/singleeffect/once/infra/local/ses"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// root is the root module's directory.
const root = "../../.."

// The real welcome function at the stand-in. Throttled, it sends with the next delivery.
func TestWelcomeThrottled(t *testing.T) {
	requests := 0
	s := ses.New(ses.Config{Throttle: func() bool { requests++; return requests == 1 }})
	f := start(t, s, "ada@example.com")
	for i, want := range []struct {
		listed      bool
		mails, rows int
	}{{true, 0, 0}, {false, 1, 1}, {false, 1, 1}} {
		if listed := f.deliver(t); listed != want.listed || len(s.Sent()) != want.mails || f.rows(t) != want.rows {
			t.Errorf("delivery %d: listed is %t, %d e-mails, %d rows, want %+v", i+1, listed, len(s.Sent()), f.rows(t), want)
		}
	}
}

// C66: an internationalised domain reaches SES in its ASCII form, and its e-mail is sent once.
func TestC66_WelcomeToAnInternationalisedDomain(t *testing.T) {
	s := ses.New(ses.Config{})
	f := start(t, s, "ada@bücher.example")
	for i := range 2 {
		if f.deliver(t) {
			t.Errorf("delivery %d is listed", i+1)
		}
	}
	if got, want := s.Sent().ByRecipient(), map[string]int{"ada@xn--bcher-kva.example": 1}; !maps.Equal(got, want) {
		t.Errorf("e-mails by recipient: got %v, want %v", got, want)
	}
}

// Killed when its e-mail has left, it never sends another.
func TestWelcomeKilled(t *testing.T) {
	victim := make(chan *lambda.Worker, 1)
	s := ses.New(ses.Config{AfterSend: func(ses.Email) {
		if err := (<-victim).Kill(); err != nil {
			t.Error(err)
		}
	}})
	f := start(t, s, "ada@example.com")
	victim <- f.worker
	for !f.inDoubt(t) { // until the lease of the first delivery has lapsed
		if !f.deliver(t) {
			t.Fatal("a delivery was acknowledged before anybody said that it is in doubt")
		}
	}
	for range 2 {
		f.deliver(t)
	}
	if len(s.Sent()) != 1 || f.rows(t) != 0 || !f.inDoubt(t) {
		t.Errorf("got %d e-mails and %d rows, want 1 and none", len(s.Sent()), f.rows(t))
	}
}

// function is a worker with tables of its own.
type function struct {
	worker          *lambda.Worker
	db              *dynamodb.Client
	records, emails string
	event           []byte
}

// start makes one whose user 7 has the address.
func start(t *testing.T, s *ses.Server, address string) function {
	t.Helper()
	bootstrap, err := lambda.Build(t.Context(), filepath.Join(root, "functions/welcome"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	emulator, err := lambda.Emulator(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	db := intenttest.Engine(t)
	f := function{db: db, records: intenttest.Table(t, db, "intent"), emails: intenttest.Table(t, db, "email_id")}
	if f.event, err = os.ReadFile(filepath.Join(root, "events/welcome-first-delivery.json")); err != nil {
		t.Fatal(err)
	}
	users := intenttest.Table(t, db, "user_id")
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &users, Item: map[string]types.AttributeValue{
		"user_id": &types.AttributeValueMemberS{Value: "7"},
		"email":   &types.AttributeValueMemberS{Value: address},
		"name":    &types.AttributeValueMemberS{Value: "Ada"},
	}}); err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	log := new(output)
	if f.worker, err = lambda.NewWorker(t.Context(), emulator, lambda.Config{
		Bootstrap: bootstrap, Timeout: 3 * time.Second, Log: log,
		Environment: map[string]string{
			"SCOPE": "test", "INTENT_TABLE": f.records, "USERS_TABLE": users, "EMAILS_TABLE": f.emails,
			"QUEUE_URL": "http://127.0.0.1:1/once-welcome", "DEAD_LETTER_QUEUE_URL": "http://127.0.0.1:1/once-welcome-dead",
			"LEASE_MARGIN_SECONDS": "1", "RETENTION_DAYS": "90", "EMAIL_FROM": "shop@example.com",
			"AWS_ENDPOINT_URL_DYNAMODB": *db.Options().BaseEndpoint, "AWS_ENDPOINT_URL_SESV2": listening.URL,
			"AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:1",
		},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.worker.Close()
		for _, private := range []string{"ada@", "Ada"} {
			if strings.Contains(log.String(), private) {
				t.Errorf("the function's log tells %q:\n%s", private, log.String())
			}
		}
	})
	return f
}

// deliver is one delivery of the sample; a killed one is not acknowledged either.
func (f function) deliver(t *testing.T) (listed bool) {
	t.Helper()
	answer, err := f.worker.Invoke(t.Context(), f.event)
	if crashed := (*lambda.CrashError)(nil); err != nil && !errors.As(err, &crashed) {
		t.Fatal(err)
	}
	return err != nil || strings.Contains(string(answer), "itemIdentifier")
}

func (f function) inDoubt(t *testing.T) bool {
	t.Helper()
	o, err := intent.Lookup(t.Context(), dynamo.New(f.db, f.records), intent.Key{Scope: "test", Operation: "welcome", ID: "user-7-welcome"})
	if err != nil && !errors.Is(err, intent.ErrNoIntent) {
		t.Fatal(err)
	}
	return o.Kind == intent.InDoubt
}

func (f function) rows(t *testing.T) int {
	t.Helper()
	out, err := f.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &f.emails, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Items)
}

// output takes what a function writes while a test reads it.
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
