package template

import "strings"

// Policy is what a queue or a topic says itself of who may use it.
type Policy struct {
	LogicalID string
	// Of are the logical ids of the queues or topics that it is of.
	Of         []string
	Statements []Statement
}

// policy reads a queue's or a topic's policy; of is the property that says whose it is.
func policy(p *properties, r *resource, of string) Policy {
	p.evaluator = p.evaluator.symbolic()
	policy := Policy{LogicalID: r.logicalID}
	for _, reference := range p.texts(of) {
		policy.Of = append(policy.Of, strings.Trim(reference, "${}"))
	}
	policy.Statements = p.statements()
	return policy
}

// principals are those of a statement: * alone, or by their kind, such as "Service sns.amazonaws.com". A role has none.
func (p *properties) principals() (all []string) {
	n := p.take("Principal")
	if n == nil {
		return nil
	}
	if text, err := literal(join(p.path, "Principal"), n); err == nil {
		return []string{text}
	}
	of := p.child(join(p.path, "Principal"), n)
	for _, kind := range []string{"AWS", "Service", "Federated", "CanonicalUser"} {
		if of.left[kind] != nil {
			for _, name := range of.oneOrMore(kind) {
				all = append(all, kind+" "+name)
			}
		}
	}
	return all
}
