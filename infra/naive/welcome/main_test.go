package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/naive/naivetest"
	"github.com/singleeffect/once/shared/intenttest"
)

// email is what the twin says of one.
type email struct {
	FromEmailAddress string
	Destination      struct{ ToAddresses []string }
	Content          struct {
		Simple struct {
			Subject struct{ Data string }
			Body    struct{ Text struct{ Data string } }
		}
	}
}

// post sends as SES does: once for each request.
type post struct {
	mu   sync.Mutex
	sent []email
}

func (p *post) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var e email
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil || r.Method != http.MethodPost || r.URL.Path != "/v2/email/outbound-emails" {
		http.NotFound(w, r)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, e)
	fmt.Fprintf(w, `{"MessageId":"%d"}`, len(p.sent))
}

func (p *post) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent)
}

// town has a post office and user 7.
func town(t *testing.T, ses http.Handler) *dynamodb.Client {
	t.Helper()
	listening := httptest.NewServer(ses)
	t.Cleanup(listening.Close)
	db := intenttest.Engine(t)
	users := intenttest.Table(t, db, "user_id")
	t.Setenv("USERS_TABLE", users)
	t.Setenv("AWS_ENDPOINT_URL_SESV2", listening.URL)
	t.Setenv("EMAIL_FROM", "shop@example.com")
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &users, Item: map[string]types.AttributeValue{
		"user_id": &types.AttributeValueMemberS{Value: "7"},
		"email":   &types.AttributeValueMemberS{Value: "ada@example.com"},
	}}); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestDeliveries(t *testing.T) {
	p := new(post)
	db := town(t, p)
	naivetest.Deliveries(t, naivetest.Twin{
		DB:     db,
		Effect: welcome(db),
		Message: func(key string) string {
			return fmt.Sprintf(`{"idempotency_key":%q,"user_id":"7","kind":"signup"}`, key)
		},
		Effects: p.count,
	})
	for _, e := range p.sent {
		to, simple := e.Destination.ToAddresses, e.Content.Simple
		if e.FromEmailAddress != "shop@example.com" || len(to) != 1 || to[0] != "ada@example.com" || simple.Subject.Data == "" || simple.Body.Text.Data == "" {
			t.Errorf("e-mail: got %+v", e)
		}
	}
}

// A lost reply is enough: the SDK itself sends the second e-mail.
func TestLostReply(t *testing.T) {
	p := new(post)
	db := town(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.ServeHTTP(httptest.NewRecorder(), r)
		if p.count() == 1 {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, `{"MessageId":"2"}`)
	}))
	if err := welcome(db)(t.Context(), []byte(`{"idempotency_key":"user-7-welcome","user_id":"7","kind":"signup"}`)); err != nil || p.count() != 2 {
		t.Errorf("got %d e-mails and error %v, want two and none", p.count(), err)
	}
}
