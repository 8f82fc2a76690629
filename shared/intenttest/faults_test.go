package intenttest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// faulty is a client whose every call meets the fault, and which does not
// retry; plain is one that sees what is in the store.
func faulty(t *testing.T, fault Fault) (db, plain *dynamodb.Client, table string, faults *Faults) {
	t.Helper()
	faults = &Faults{Plan: func(Call) Fault { return fault }}
	plain = Engine(t)
	db = Engine(t, through(faults), func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	return db, plain, Table(t, plain, "id"), faults
}

func put(ctx context.Context, db *dynamodb.Client, table string) error {
	_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &table, Item: map[string]types.AttributeValue{"id": text("a")},
		ConditionExpression:                 aws.String(ifAbsent),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}

func exists(t *testing.T, db *dynamodb.Client, table string) bool {
	t.Helper()
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &table, Key: map[string]types.AttributeValue{"id": text("a")}, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Item) > 0
}

func TestFaultDropAndLoseReply(t *testing.T) {
	tests := []struct {
		name    string
		fault   Fault
		applied bool
	}{
		{"Drop", Fault{Drop: true}, false},
		{"LoseReply", Fault{LoseReply: true}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			db, plain, table, faults := faulty(t, test.fault)
			if err := put(t.Context(), db, table); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("PutItem error = %v, want a reset connection", err)
			}
			if got := exists(t, plain, table); got != test.applied {
				t.Errorf("applied = %t, want %t", got, test.applied)
			}
			if got, want := faults.Counts(), map[string]int{"PutItem": 1}; !maps.Equal(got, want) {
				t.Errorf("counts = %v, want %v", got, want)
			}
		})
	}
}

// The sequence behind C01: the SDK takes the loss for retryable, and the copy
// fails its condition on the item the first one wrote.
func TestFaultLoseReplyOnceIsRetriedBySDK(t *testing.T) {
	faults := &Faults{Plan: func(call Call) Fault { return Fault{LoseReply: call.Number == 1} }}
	db := Engine(t, through(faults))
	err := put(t.Context(), db, Table(t, Engine(t), "id"))
	failed := new(types.ConditionalCheckFailedException)
	if !errors.As(err, &failed) || len(failed.Item) == 0 {
		t.Errorf("PutItem error = %v, want a failed condition with the item", err)
	}
	if got := faults.Counts()["PutItem"]; got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
}

func TestFaultLoseReplyAppliesThoughCallerGaveUp(t *testing.T) {
	ctx, giveUp := context.WithCancel(t.Context())
	db, plain, table, _ := faulty(t, Fault{LoseReply: true, Before: giveUp})
	if err := put(ctx, db, table); err == nil {
		t.Error("PutItem succeeded, want an error")
	}
	if !exists(t, plain, table) {
		t.Error("the request was not applied")
	}
}

func TestFaultHooksSurroundTheStore(t *testing.T) {
	var before, after bool
	var fault Fault
	db, plain, table, faults := faulty(t, Fault{})
	fault.Before = func() { before = exists(t, plain, table) }
	fault.After = func() { after = exists(t, plain, table) }
	faults.Plan = func(Call) Fault { return fault }
	if err := put(t.Context(), db, table); err != nil {
		t.Fatal(err)
	}
	if before || !after {
		t.Errorf("item there: before %t, after %t, want false, true", before, after)
	}
}

func TestFaultReplyAndEdit(t *testing.T) {
	throttle := &Reply{http.StatusBadRequest,
		`{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}`}
	db, plain, table, _ := faulty(t, Fault{Reply: throttle})
	err := put(t.Context(), db, table)
	if slow := new(types.ProvisionedThroughputExceededException); !errors.As(err, &slow) || slow.ErrorMessage() != "slow down" {
		t.Errorf("PutItem error = %v, want the canned one", err)
	}
	if exists(t, plain, table) {
		t.Error("the store saw a request that was answered in its stead")
	}

	if err := put(t.Context(), plain, table); err != nil {
		t.Fatal(err)
	}
	edited, _, _, _ := faulty(t, Fault{Edit: func(r Reply) Reply { return Reply{r.Status, removeKey(t, r.Body, "Item")} }})
	err = put(t.Context(), edited, table)
	if failed := new(types.ConditionalCheckFailedException); !errors.As(err, &failed) || len(failed.Item) != 0 {
		t.Errorf("PutItem error = %v, want a failed condition without the item", err)
	}
}

// sent is a base transport that answers at once and says when.
type sent struct{ at time.Time }

func (s *sent) RoundTrip(req *http.Request) (*http.Response, error) {
	s.at = time.Now()
	return Reply{http.StatusOK, "{}"}.response(req), nil
}

func TestFaultDelay(t *testing.T) {
	const delay = 3 * time.Second
	t.Run("OK", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			base, began := new(sent), time.Now()
			faults := &Faults{Base: base, Plan: func(Call) Fault { return Fault{Delay: delay} }}
			if _, err := faults.RoundTrip(request(t, t.Context())); err != nil {
				t.Fatal(err)
			}
			if got := base.at.Sub(began); got != delay {
				t.Errorf("sent after %v, want %v", got, delay)
			}
		})
	})
	t.Run("caller gives up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			base := new(sent)
			faults := &Faults{Base: base, Plan: func(Call) Fault { return Fault{Delay: delay} }}
			ctx, cancel := context.WithTimeout(t.Context(), delay/2)
			defer cancel()
			if _, err := faults.RoundTrip(request(t, ctx)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error = %v, want the caller's", err)
			}
			if !base.at.IsZero() {
				t.Error("the request was sent")
			}
		})
	})
}

func request(t *testing.T, ctx context.Context) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:9", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
	return req
}

func TestFaultPlanSeesEachCall(t *testing.T) {
	const calls = 50
	var seen []int
	faults := &Faults{Base: new(quiet), Plan: func(call Call) Fault {
		if call.Operation != "PutItem" || string(call.Body) != "{}" {
			t.Errorf("call = %+v", call)
		}
		seen = append(seen, call.Number)
		return Fault{}
	}}
	if err := atOnce(calls, func(int) error {
		_, err := faults.RoundTrip(request(t, t.Context()))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != calls {
		t.Fatalf("the plan saw %d calls, want %d", len(seen), calls)
	}
	for i, number := range seen {
		if number != i+1 {
			t.Fatalf("call numbers %v are not in order", seen)
		}
	}
}

type quiet struct{}

func (*quiet) RoundTrip(req *http.Request) (*http.Response, error) {
	return Reply{http.StatusOK, "{}"}.response(req), nil
}

func TestTable(t *testing.T) {
	db := Engine(t)
	var name string
	t.Run("in use", func(t *testing.T) {
		name = Table(t, db, "user_id", "item_id")
		if other := Table(t, db, "user_id"); other == name {
			t.Errorf("two tables are named %s", name)
		}
		out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		keys := out.Table.KeySchema
		if len(keys) != 2 || *keys[0].AttributeName != "user_id" || keys[0].KeyType != types.KeyTypeHash ||
			*keys[1].AttributeName != "item_id" || keys[1].KeyType != types.KeyTypeRange {
			t.Errorf("key schema %+v", keys)
		}
	})
	_, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
	if gone := new(types.ResourceNotFoundException); !errors.As(err, &gone) {
		t.Errorf("after its test the table answers %v, want ResourceNotFoundException", err)
	}
}
