package doctor

import (
	"regexp"
	"slices"
	"strings"

	"github.com/singleeffect/once/infra/template"
)

// statements are those of a queue's or a topic's policies.
func (s Stack) statements(logicalID string) (all []template.Statement) {
	for _, p := range s.Policies {
		if slices.Contains(p.Of, logicalID) {
			all = append(all, p.Statements...)
		}
	}
	return all
}

// denies tells whether one of the statements denies everybody an action on a resource under exactly these conditions.
func denies(statements []template.Statement, action, resource string, conditions map[string]string) bool {
	return slices.ContainsFunc(statements, func(s template.Statement) bool {
		if s.Effect != "Deny" || !slices.Equal(s.Principals, []string{"*"}) || !slices.Contains(s.Resources, resource) || len(s.Conditions) != len(conditions) {
			return false
		}
		for key, value := range conditions {
			if !slices.Equal(s.Conditions[key], []string{value}) {
				return false
			}
		}
		service, _, _ := strings.Cut(action, ":")
		return slices.Contains(s.Actions, action) || slices.Contains(s.Actions, service+":*")
	})
}

// overTLS asks for the one statement by which AWS refuses plain HTTP (Amazon SQS developer guide, "Amazon SQS security best practices"). It
// must cover all that carries a message: a queue is written and read, a topic is written only.
func overTLS(s Stack, found report) {
	plain := map[string]string{"Bool aws:SecureTransport": "false"}
	need := func(logicalID string, actions ...string) {
		for _, action := range actions {
			if !denies(s.statements(logicalID), action, logicalID, plain) {
				found(logicalID, "has no policy that denies everybody %s where aws:SecureTransport is false", action)
				return
			}
		}
	}
	for _, q := range s.Queues {
		need(q.LogicalID, "sqs:SendMessage", "sqs:ReceiveMessage")
	}
	for _, t := range s.Topics {
		need(t, "sns:Publish")
	}
}

// deadLetterSenders leaves SQS's own moves alone, which come from a service of AWS. What several functions share is another rule's.
func deadLetterSenders(s Stack, found report) {
	users, roles := s.users(), map[string]int{}
	for _, f := range s.Functions {
		roles[f.Role]++
	}
	for _, f := range s.feeds() {
		if f.dead == nil || len(users[f.dead.LogicalID]) > 1 || f.Role == "" || roles[f.Role] > 1 {
			continue
		}
		others := map[string]string{"ArnNotEquals aws:PrincipalArn": "${" + f.Role + ".Arn}", "Bool aws:PrincipalIsAWSService": "false"}
		if !denies(s.statements(f.dead.LogicalID), "sqs:SendMessage", f.dead.LogicalID, others) {
			found(f.dead.LogicalID, "has no policy that denies sqs:SendMessage to all but %s and SQS", f.Role)
		}
	}
}

// openDoors looks for whom a policy lets in from any account.
func openDoors(s Stack, found report) {
	for _, p := range s.Policies {
		for _, st := range p.Statements {
			if st.Effect == "Allow" && !bound(st.Conditions) {
				found(p.LogicalID, "allows %q to %q, whatever account they act for", st.Actions, st.Principals)
			}
		}
	}
}

// positive are the operators that hold only if the request has the key and its value is one of those given. One with Not, or with
// IfExists, also holds for strangers.
var positive = []string{"StringEquals", "StringEqualsIgnoreCase", "StringLike", "ArnEquals", "ArnLike"}

// bound tells whether one of the conditions names the accounts, or the organisation, that it holds for.
func bound(conditions map[string][]string) bool {
	for condition, values := range conditions {
		operator, key, _ := strings.Cut(condition, " ")
		ofARN := slices.Contains([]string{"aws:SourceArn", "aws:PrincipalArn"}, key)
		if !ofARN && !slices.Contains([]string{"aws:SourceAccount", "aws:PrincipalAccount", "aws:PrincipalOrgID"}, key) {
			continue
		}
		anybody := isWild
		if ofARN {
			anybody = anyAccount
		}
		if slices.Contains(positive, operator) && !slices.ContainsFunc(values, anybody) {
			return true
		}
	}
	return false
}

// reference is one that stays in a policy as in Fn::Sub, and may have colons of its own.
var reference = regexp.MustCompile(`\$\{[^}]*\}`)

// anyAccount tells whether a pattern matches ARNs of more than one account: arn:partition:service:region:account:resource. The ARN of an S3
// bucket has no account, and its name is one bucket's in all of AWS.
func anyAccount(pattern string) bool {
	parts := strings.SplitN(reference.ReplaceAllString(pattern, "x"), ":", 6)
	switch {
	case len(parts) < 6:
		return isWild(pattern)
	case parts[4] == "":
		return isWild(parts[5])
	}
	return isWild(parts[4])
}

func encrypted(s Stack, found report) {
	for _, q := range s.Queues {
		if !q.Encrypted {
			found(q.LogicalID, "keeps its messages as they are: SqsManagedSseEnabled is false, and it has no KmsMasterKeyId")
		}
	}
}
