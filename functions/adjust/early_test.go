package main

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// What an account has says its item, also at a message's first receive: only an account that is not there is waited for.
func TestFirstReceive(t *testing.T) {
	b := newBooks(t)
	b.open(t, "7", &types.AttributeValueMemberN{Value: "1000"})
	m := message("k", "7", -1001)
	m.Attributes = map[string]string{"ApproximateReceiveCount": "1"}
	report, listed := b.deliver(t, m)
	wantOne(t, "insufficient funds", report, listed, intent.Refused)
	if got := b.balance(t, "7"); got != "1000" {
		t.Errorf("balance %s, want 1000", got)
	}
}

// An account that somebody else has overdrawn takes money in. The balance is bounded for what is taken out.
func TestMoneyIntoAnOverdrawnAccount(t *testing.T) {
	b := newBooks(t)
	b.open(t, "7", &types.AttributeValueMemberN{Value: "-500"})
	report, listed := b.deliver(t, message("k", "7", 100))
	wantOne(t, "money in", report, listed, intent.Executed)
	if got := b.balance(t, "7"); got != "-400" {
		t.Errorf("balance %s, want -400", got)
	}
}
