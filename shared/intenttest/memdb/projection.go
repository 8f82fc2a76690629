package memdb

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// projection is what an answer is to hold of an item. The nil projection is all
// of it.
type projection []path

func (p *parser) projection() projection {
	paths := list(p, (*parser).path)
	if err := allDisjoint(p.kind, paths); err != nil {
		panic(parseError{err})
	}
	return paths
}

// parseProjection reads a request's ProjectionExpression, nil if it has none.
func parseProjection(text *string, s *scope) (projection, error) {
	if text == nil {
		return nil, nil
	}
	return parse(expressionParser("ProjectionExpression", *text, s), (*parser).projection)
}

// of copies for a caller what the projection holds of an item. Elements of one
// list keep their order and close up.
func (p projection) of(it item) item {
	if p == nil {
		return giveItem(it)
	}
	projected := item{}
	for name, v := range p.members(it) {
		projected[name] = v
	}
	return projected
}

// members keeps of a map what the paths lead to.
func (p projection) members(m item) item {
	kept := item{}
	for _, steps := range p {
		name := steps[0].name
		v, ok := m[name]
		if _, done := kept[name]; !ok || done || name == "" {
			continue
		}
		if v = p.after(step{name: name}).within(v); v != nil {
			kept[name] = v
		}
	}
	return kept
}

// after are the paths that go through the step, without it.
func (p projection) after(s step) projection {
	var rest projection
	for _, steps := range p {
		if steps[0] == s {
			rest = append(rest, steps[1:])
		}
	}
	return rest
}

// within keeps of a value what the paths, which lead on from it, lead to.
func (p projection) within(v types.AttributeValue) types.AttributeValue {
	if len(p[0]) == 0 { // the path ends here, and so it is the only one
		return give(v)
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		if m := p.members(v.Value); len(m) > 0 {
			return &types.AttributeValueMemberM{Value: m}
		}
	case *types.AttributeValueMemberL:
		var kept []types.AttributeValue
		for i, element := range v.Value {
			if rest := p.after(step{index: i}); len(rest) > 0 {
				if element = rest.within(element); element != nil {
					kept = append(kept, element)
				}
			}
		}
		if kept != nil {
			return &types.AttributeValueMemberL{Value: kept}
		}
	}
	return nil
}
