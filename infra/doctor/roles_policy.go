package doctor

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/singleeffect/once/infra/template"
)

// fromAddress is the condition that holds a wildcard of SES to one sender (Service Authorization Reference, "Actions, resources, and
// condition keys for Amazon Simple Email Service v2").
const fromAddress = "StringEquals ses:FromAddress"

// roleWildcards looks at what the roles of functions allow by a wildcard. None of an action is unavoidable.
func roleWildcards(s Stack, found report) {
	for _, r := range s.Roles {
		if !slices.ContainsFunc(s.Functions, func(f template.Function) bool { return f.Role == r.LogicalID }) {
			continue
		}
		for _, statement := range r.Statements {
			if statement.Effect != "Allow" {
				continue
			}
			for _, action := range statement.Actions {
				if isWild(action) {
					found(r.LogicalID, "allows %s on %s: a wildcard, and the actions have names", action, strings.Join(statement.Resources, ", "))
				}
			}
			for _, resource := range statement.Resources {
				if isWild(resource) && !unavoidable(s, statement, resource) {
					found(r.LogicalID, "allows %s on %s: a wildcard, and nothing holds it to what has a name", strings.Join(statement.Actions, ", "), resource)
				}
			}
		}
	}
}

func isWild(text string) bool { return strings.ContainsAny(text, "*?") }

// unavoidable tells whether a wildcard stands for what has no name here.
//
// SES asks for the identity that it finds for the sender: the address, or its domain, or a domain above that, and which of them is
// verified is not in the template; in its sandbox it asks for the recipient's identity, too, and where the sender's has a default
// configuration set for that. The sender's address is the one thing that is known, and a condition holds all of them to it.
//
// X-Ray knows no resources for what a function sends it (Service Authorization Reference, "Actions, resources, and condition keys for
// AWS X-Ray").
func unavoidable(s Stack, statement template.Statement, resource string) bool {
	for _, action := range statement.Actions {
		switch {
		case slices.Contains(ofTracing, action) && resource == "*":
		case action == "ses:SendEmail" && isSender(s, resource) && len(statement.Conditions[fromAddress]) > 0:
		default:
			return false
		}
	}
	return true
}

// isSender tells whether a resource is what SES asks for when an e-mail is sent.
func isSender(s Stack, resource string) bool {
	name, own := strings.CutPrefix(resource, "arn:aws:ses:"+s.Region+":"+s.AccountID+":")
	return own && (strings.HasPrefix(name, "identity/") || strings.HasPrefix(name, "configuration-set/"))
}

// denial says why a role does not allow something; empty if it does. Of conditions the sender of an e-mail alone is judged: an Allow under
// another one may never hold.
func denial(s Stack, r template.Role, n need) string {
	why := "does not allow " + n.String()
	for _, statement := range r.Statements {
		if !covers(s, statement, n) {
			continue
		}
		switch held := unjudged(statement.Conditions); {
		case statement.Effect == "Deny" && len(statement.Conditions) == 0:
			return "denies " + n.String()
		case statement.Effect == "Deny":
		case held == "":
			why = ""
		case why != "":
			why = "allows " + n.String() + " only under the condition " + held
		}
	}
	return why
}

// unjudged is a condition that no rule knows; empty if there is none. The sender under another operator is the rule on wildcards' to find.
func unjudged(conditions map[string][]string) string {
	for _, condition := range slices.Sorted(maps.Keys(conditions)) {
		if !strings.HasSuffix(condition, " ses:FromAddress") {
			return condition
		}
	}
	return ""
}

func covers(s Stack, statement template.Statement, n need) bool {
	if !slices.ContainsFunc(statement.Actions, func(action string) bool { return matches(action, n.action) }) {
		return false
	}
	if n.sender != "" {
		froms, held := statement.Conditions[fromAddress]
		if held && !slices.Contains(froms, n.sender) {
			return false
		}
		return slices.ContainsFunc(statement.Resources, func(resource string) bool { return resource == "*" || isSender(s, resource) })
	}
	service, _, _ := strings.Cut(n.action, ":")
	return slices.ContainsFunc(statement.Resources, func(resource string) bool {
		// Which of a service's resources a wildcard stands for is not looked into: the rule on wildcards finds it.
		return resource == n.resource || resource == "*" || isWild(resource) && strings.HasPrefix(resource, "arn:aws:"+service+":")
	})
}

// matches compares as IAM does: * and ? are wildcards, and case does not count.
func matches(pattern, action string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(action))
	return ok && err == nil
}

// extras are what a role allows and nothing needs, but for what another rule finds: a wildcard that could be avoided.
func extras(s Stack, r template.Role, needs []need) []string {
	var all []string
	for _, statement := range r.Statements {
		if statement.Effect != "Allow" {
			continue
		}
		for _, action := range statement.Actions {
			for _, resource := range statement.Resources {
				if isWild(action) || isWild(resource) && !unavoidable(s, statement, resource) {
					continue
				}
				of := template.Statement{Actions: []string{action}, Resources: []string{resource}, Conditions: statement.Conditions}
				if !slices.ContainsFunc(needs, func(n need) bool {
					return covers(s, of, n) || n.sender != "" && n.action == action && isSender(s, resource)
				}) {
					all = append(all, action+" on "+resource)
				}
			}
		}
	}
	return all
}
