package intenttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func through(f *Faults) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.HTTPClient = f.Client() }
}

func TestC23_FitEngine(t *testing.T) {
	var mu sync.Mutex
	var transactions [][]byte
	faults := &Faults{Plan: func(call Call) Fault {
		if call.Operation == "TransactWriteItems" && bytes.Contains(call.Body, []byte(probeToken)) {
			mu.Lock()
			defer mu.Unlock()
			transactions = append(transactions, call.Body)
		}
		return Fault{}
	}}
	if err := Fitness(t.Context(), Engine(t, through(faults))); err != nil {
		t.Fatal(err)
	}
	if got := faults.Counts()["PutItem"]; got < 64 {
		t.Errorf("%d puts, want at least 64", got)
	}
	if len(transactions) < 16 {
		t.Errorf("%d transactions with one token, want at least 16", len(transactions))
	}
	for _, body := range transactions {
		if !bytes.Equal(body, transactions[0]) {
			t.Errorf("C18: inputs under one token differ:\n%s\n%s", body, transactions[0])
		}
	}
}

// Each row is an engine that breaks one property, made of the real one and a
// fault.
func TestC23_UnfitEngine(t *testing.T) {
	without := func(field string) func(Call) Fault {
		return func(Call) Fault {
			return Fault{Edit: func(r Reply) Reply { return Reply{r.Status, removeKey(t, r.Body, field)} }}
		}
	}
	tests := []struct {
		property Property
		plan     func(Call) Fault
	}{
		{OneWinner, func(call Call) Fault {
			if call.Operation == "PutItem" && call.Number <= 64 {
				return Fault{Reply: &Reply{200, "{}"}}
			}
			return Fault{}
		}},
		{LoserSeesItem, func(call Call) Fault {
			if call.Operation == "PutItem" && call.Number > 64 {
				return without("Item")(call)
			}
			return Fault{}
		}},
		{TokenAppliedOnce, func(call Call) Fault {
			if call.Operation == "GetItem" {
				return Fault{Edit: func(r Reply) Reply {
					return Reply{r.Status, string(bytes.Replace([]byte(r.Body), []byte(`"1"`), []byte(`"2"`), 1))}
				}}
			}
			return Fault{}
		}},
		{CancellationReasons, func(call Call) Fault {
			if call.Operation == "TransactWriteItems" && !bytes.Contains(call.Body, []byte(probeToken)) {
				return without("Item")(call)
			}
			return Fault{}
		}},
	}
	for _, test := range tests {
		t.Run(string(test.property), func(t *testing.T) {
			err := Fitness(t.Context(), Engine(t, through(&Faults{Plan: test.plan})))
			unfit := new(FitnessError)
			if !errors.As(err, &unfit) || unfit.Property != test.property {
				t.Fatalf("Fitness() = %v, want a FitnessError for %q", err, test.property)
			}
		})
	}
}

func TestC23_UnreachableEngine(t *testing.T) {
	db := client("http://127.0.0.1:9", func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	err := Fitness(t.Context(), db)
	if unfit := new(FitnessError); !errors.As(err, &unfit) {
		t.Fatalf("Fitness() = %v, want a FitnessError", err)
	}
}

// removeKey takes a key out of every object in a JSON text.
func removeKey(t *testing.T, body, key string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Errorf("reply %q: %v", body, err)
	}
	var strip func(any)
	strip = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			delete(value, key)
			for _, inner := range value {
				strip(inner)
			}
		case []any:
			for _, inner := range value {
				strip(inner)
			}
		}
	}
	strip(value)
	edited, err := json.Marshal(value)
	if err != nil {
		t.Error(err)
	}
	return string(edited)
}
