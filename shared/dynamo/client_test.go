package dynamo_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
)

// The SDK's retries are few and quick, and the calls of one intent take none from those of another.
func TestRetriesOfTheClient(t *testing.T) {
	retryer := dynamo.NewClient(aws.Config{Region: "eu-central-1"}).Options().Retryer
	throttled := &types.ProvisionedThroughputExceededException{}
	if got := retryer.MaxAttempts(); got != 3 {
		t.Errorf("got %d attempts, want 3", got)
	}
	for range 1000 {
		for attempt, most := range map[int]time.Duration{1: 50 * time.Millisecond, 2: 100 * time.Millisecond, 3: 200 * time.Millisecond, 20: time.Second} {
			if wait, err := retryer.RetryDelay(attempt, throttled); err != nil || wait < 0 || wait > most {
				t.Fatalf("got a wait of %v and error %v before try %d, want at most %v", wait, err, attempt+1, most)
			}
		}
		if _, err := retryer.GetRetryToken(t.Context(), throttled); err != nil {
			t.Fatalf("got %v, want that others' retries do not count", err)
		}
	}
}

// A record that was refused and has expired is replaced like one that was completed.
func TestExpiredRefusalIsReplaced(t *testing.T) {
	b := newBench(t)
	for name, final := range map[string]types.AttributeValue{"completed": s("completed"), "refused": s("refused")} {
		d := message(t, `{"cents":10}`)
		next := claimOf(d)
		b.put(t, b.records, item{
			"intent": s(next.Intent), "v": n(1), "state": final, "owner": s("another"), "fingerprint": s(d.Fingerprint.String()), "attempt": n(1),
			"expires_at": n(time.Now().Add(-time.Hour).Unix()),
		})
		standing, err := dynamo.New(b.db, b.records).Claim(t.Context(), next)
		if err != nil || standing.Owner != next.Owner {
			t.Errorf("%s: got %+v and error %v, want our claim", name, standing, err)
		}
	}
}

// A client hides what DynamoDB says of a request, whoever configures it (C73).
func TestClientHidesAnswers(t *testing.T) {
	const quoted = "The parameter cannot be converted to a numeric value: order-8821"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"__type":"com.amazon.coral.validate#ValidationException","message":%q}`, quoted)
	}))
	defer server.Close()
	client := dynamo.NewClient(aws.Config{Region: "eu-central-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{}})
	_, err := client.ListTables(t.Context(), nil)
	if err == nil || strings.Contains(err.Error(), quoted) || !strings.Contains(err.Error(), "ValidationException") {
		t.Errorf("got %v, want its code, and not what it says", err)
	}
}
