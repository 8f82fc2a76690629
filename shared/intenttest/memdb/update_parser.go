package memdb

// update is the rule of update expressions: each section at most once.
func (p *parser) update() *update {
	u := new(update)
	seen := map[string]bool{}
	section := func(word string) bool {
		if !p.accept(word) {
			return false
		}
		if seen[word] {
			p.fail("The \"%s\" section can only be used once in an update expression;", word)
		}
		seen[word] = true
		return true
	}
	for p.token.kind != tokenEnd || len(seen) == 0 {
		switch {
		case section("SET"):
			u.sets = list(p, (*parser).assignment)
		case section("REMOVE"):
			u.removes = list(p, (*parser).path)
		case section("ADD"):
			u.adds = list(p, func(p *parser) change { return p.change("ADD", "N SS NS BS") })
		case section("DELETE"):
			u.deletes = list(p, func(p *parser) change { return p.change("DELETE", "SS NS BS") })
		default:
			p.syntaxError()
		}
	}
	return p.checked(u)
}

func (p *parser) checked(u *update) *update {
	u, err := u.checked(p.kind)
	if err != nil {
		panic(parseError{err})
	}
	return u
}

func (p *parser) assignment() assignment {
	to := p.path()
	p.wantsSymbol("=")
	return assignment{to: to, from: p.rightSide()}
}

// rightSide is that of an assignment, with at most one + or -.
func (p *parser) rightSide() source {
	one := p.termOr((*parser).rightSide)
	if !p.isSymbol("+") && !p.isSymbol("-") {
		return one
	}
	if _, second := one.(sum); second {
		p.syntaxError()
	}
	operator := p.advance().text
	p.operators++
	two := p.termOr((*parser).term)
	for _, s := range []source{one, two} {
		if _, ok := s.(joined); ok {
			p.misplaced("list_append")
		}
		p.wantsSourceKind(operator, s, "N")
	}
	return sum{one, two, operator == "-"}
}

// termOr is a term, or the rule in parentheses.
func (p *parser) termOr(rule func(*parser) source) source {
	if p.isSymbol("(") {
		return inParentheses(p, rule)
	}
	return p.term()
}

func (p *parser) wantsSourceKind(function string, s source, kinds string) {
	if g, ok := s.(given); ok {
		p.wantsKind(function, constant(g), kinds)
	}
}

func (p *parser) term() source {
	switch {
	case p.isConstant():
		return given(p.constant())
	case p.isCall():
		return p.sourceFunction()
	}
	return copied{p.path()}
}

func (p *parser) sourceFunction() source {
	var sources []source
	name, operands := p.call(func(p *parser) operand {
		s := p.term()
		sources = append(sources, s)
		switch s := s.(type) {
		case given:
			return constant(s)
		case copied:
			return s.of
		case joined:
			p.misplaced("list_append")
		}
		return size{} // the result of a function
	})
	switch name {
	case "if_not_exists":
		p.wantsOperands(name, operands, 2)
		of := p.wantsPath(name, operands[0])
		p.distinct(name, of, operands[1])
		return ifUnset{of, sources[1]}
	case "list_append":
		p.wantsOperands(name, operands, 2)
		for _, s := range sources {
			p.wantsSourceKind(name, s, "L")
		}
		return joined{sources[0], sources[1]}
	case "set_add", "set_delete":
		if p.statement {
			return p.setFunction(name, operands, sources)
		}
	case "attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size":
		p.fail("The function is not allowed in an update expression; function: %s", name)
	}
	p.fail("Invalid function name; function: %s", name)
	return nil
}

func (p *parser) setFunction(name string, operands []operand, sources []source) source {
	p.wantsOperands(name, operands, 2)
	p.wantsSourceKind(name, sources[1], "SS NS BS")
	by := added
	if name == "set_delete" {
		by = without
	}
	return changed{of: p.wantsPath(name, operands[0]), by: by, with: sources[1]}
}

// longKinds are the names of types in one error of DynamoDB.
var longKinds = map[string]string{
	"S": "STRING", "N": "NUMBER", "B": "BINARY", "BOOL": "BOOLEAN", "NULL": "NULL", "L": "LIST", "M": "MAP",
	"SS": "STRING_SET", "NS": "NUMBER_SET", "BS": "BINARY_SET",
}

func (p *parser) change(section, kinds string) change {
	to := p.path()
	c := p.constant()
	if kind := kindOf(c.AttributeValue); !isOneOf(kind, kinds) {
		p.fail("Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%s_OPERAND", section, longKinds[kind], section)
	}
	return change{to: to, with: c.AttributeValue}
}
