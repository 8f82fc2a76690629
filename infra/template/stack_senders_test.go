package template

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Who may send is a parameter. With it, a queue refuses whoever is not named and lets the named topics and rules of this account in;
// without it neither is said, and no queue allows anything to anybody.
func TestStackSenders(t *testing.T) {
	senders := []string{"arn:aws:iam::123456789012:role/shop", "arn:aws:sns:eu-central-1:123456789012:orders"}
	for _, given := range [][]string{nil, senders} {
		got, err := stack(t, map[string]string{"SenderArns": strings.Join(given, ",")})
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for _, p := range got.Policies {
			if !strings.HasSuffix(p.LogicalID, "QueuePolicy") {
				continue
			}
			queue := strings.TrimSuffix(p.LogicalID, "Policy")
			if !slices.Equal(p.Of, []string{queue}) {
				t.Errorf("%s is of %q, want of %s", p.LogicalID, p.Of, queue)
			}
			var want []Statement
			if len(given) > 0 && !strings.HasSuffix(queue, "DeadLetterQueue") {
				want = []Statement{{
					Effect: "Deny", Principals: []string{"*"}, Actions: []string{"sqs:SendMessage"}, Resources: []string{queue},
					Conditions: map[string][]string{"ArnNotLike aws:PrincipalArn": senders, "ArnNotLike aws:SourceArn": senders},
				}, {
					Effect: "Allow", Principals: []string{"Service sns.amazonaws.com", "Service events.amazonaws.com"},
					Actions: []string{"sqs:SendMessage"}, Resources: []string{queue},
					Conditions: map[string][]string{"StringEquals aws:SourceAccount": {"123456789012"}, "ArnLike aws:SourceArn": senders},
				}}
			}
			var said []Statement
			for _, s := range p.Statements {
				_, dead := s.Conditions["ArnNotEquals aws:PrincipalArn"]
				_, plain := s.Conditions["Bool aws:SecureTransport"]
				if !dead && !plain { // which the doctor holds
					said = append(said, s)
				}
			}
			if !reflect.DeepEqual(said, want) {
				t.Errorf("senders %q: %s says %+v, want %+v", given, p.LogicalID, said, want)
			}
			held++
		}
		if held != len(got.Queues) {
			t.Errorf("%d queues have a policy, want all %d", held, len(got.Queues))
		}
	}
}
