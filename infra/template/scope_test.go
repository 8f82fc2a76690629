package template

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// stackAt is a deployment of template.yaml.
type stackAt struct{ account, region, stack, scope string }

func (d stackAt) template(t *testing.T) Template {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parameters := map[string]string{}
	if d.scope != "" {
		parameters["Scope"] = d.scope
	}
	read, err := Parse(f, Options{Parameters: parameters, StackName: d.stack, Region: d.region, AccountID: d.account, Resolve: local})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// provider charges once for each idempotency key.
type provider map[string]int

func (p provider) charge(_ context.Context, _ struct{}, a intent.Attempt) (any, error) {
	p[a.Downstream]++
	return nil, nil
}

// charge delivers the message of order 8821 to a deployment's charge function, which has the scope that the template gives it and a
// table of records of its own.
func (d stackAt) charge(t *testing.T, p provider) {
	t.Helper()
	db := memdb.New(memdb.Config{Tables: []memdb.Table{{Name: "records", Keys: []string{"intent"}, TTL: "expires_at"}}})
	charge := d.template(t).Functions[0]
	if charge.Folder != "charge" {
		t.Fatalf("the first function is %s, want charge", charge.Folder)
	}
	batch, err := sqsbatch.New(sqsbatch.Config{Handler: &intent.Keyed[struct{}]{
		Config: intent.Config{Scope: charge.Environment["SCOPE"], Operation: "charge", Store: dynamo.New(db, "records")},
		Window: 24 * time.Hour, Effect: p.charge,
	}})
	if err != nil {
		t.Fatal(err)
	}
	response, err := batch.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "1", Body: `{"idempotency_key":"order-8821-charge"}`},
	}})
	if err != nil || len(response.BatchItemFailures) > 0 {
		t.Fatalf("%+v: got %+v and error %v", d, response, err)
	}
}

// C53: deployments that share a provider's account share no key of its by accident: the customers of each are charged. They share them
// where the parameter says so, and then a fail-over charges no one twice.
func TestScopeC53(t *testing.T) {
	once := stackAt{"123456789012", "eu-central-1", "once", ""}
	p := provider{}
	for i, d := range []stackAt{
		once,
		{once.account, "us-east-1", once.stack, ""},
		{"210987654321", once.region, once.stack, ""},
		{once.account, once.region, "once-2", ""},
		{once.account, once.region, once.stack, "shop"},
	} {
		d.charge(t, p)
		if len(p) != i+1 {
			t.Errorf("%+v: %d charges, want %d", d, len(p), i+1)
		}
	}
	before := len(p)
	stackAt{"210987654321", "us-east-1", "standby", once.account + "/" + once.region + "/" + once.stack}.charge(t, p)
	if len(p) != before {
		t.Errorf("%d charges after the fail-over, want the %d from before", len(p), before)
	}
}
