package memdb

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	ordered   = "S N B"
	allKinds  = "N, BS, L, B, NULL, M, S, SS, NS, BOOL"
	sizedKind = "S B L M SS NS BS"
)

// condition is the rule of all that an item may be held to:
//
//	condition = conjunction { OR conjunction }
//	conjunction = negation { AND negation }
//	negation = NOT negation | "(" condition ")" | function | operand comparison
func (p *parser) condition() condition {
	c := p.conjunction()
	for p.acceptOperator("OR") {
		c = either{c, p.conjunction()}
	}
	return c
}

func (p *parser) conjunction() condition {
	c := p.negation()
	for p.acceptOperator("AND") {
		c = both{c, p.negation()}
	}
	return c
}

func (p *parser) negation() condition {
	switch {
	case p.acceptOperator("NOT"):
		return negation{p.negation()}
	case p.isSymbol("(") && !p.isOperandInParentheses():
		return inParentheses(p, (*parser).condition)
	case p.isCall() && p.token.text != "size":
		return p.function()
	}
	return p.comparison()
}

// inParentheses reads a rule with parentheses around it, but not two pairs of them.
func inParentheses[T any](p *parser, rule func(*parser) T) T {
	open := p.wantsSymbol("(").at
	first := p.token.at
	result := rule(p)
	if p.pair.open == first && p.pair.close == p.previous.at && !p.statement {
		p.fail("The expression has redundant parentheses;")
	}
	p.pair.open, p.pair.close = open, p.wantsSymbol(")").at
	return result
}

// isOperandInParentheses looks ahead: a parenthesis may also stand around a mere
// operand.
func (p *parser) isOperandInParentheses() bool {
	ahead, previous, depth := p.lexer, p.token, 1
	for t := p.following; ; previous, t = t, ahead.next() {
		switch {
		case t.kind == tokenSymbol && t.text == "(" && previous.text == "size":
			depth++
		case t.kind == tokenSymbol && t.text == ")":
			if depth--; depth == 0 {
				return true
			}
		case t.kind == tokenEnd, p.isOperator(t), t.kind == tokenSymbol && !strings.Contains(".[]", t.text):
			return false
		}
	}
}

func (p *parser) comparison() condition {
	one := p.operand()
	switch {
	case p.acceptOperator("BETWEEN"):
		return p.between(one)
	case p.acceptOperator("IN"):
		return p.among(one)
	case p.statement && p.acceptOperator("IS"):
		return p.missing(one)
	case p.token.kind != tokenSymbol || !isComparison(p.token.text):
		if s, ok := one.(size); ok && s.of != nil {
			p.misplaced("size")
		}
		p.syntaxError()
	}
	operator := p.advance().text
	p.operators++
	two := p.operand()
	p.distinct(operator, one, two)
	if operator != "=" && operator != "<>" && operator != "!=" {
		p.wantsKind(operator, one, ordered)
		p.wantsKind(operator, two, ordered)
	}
	return comparison{operator, one, two}
}

func isComparison(s string) bool {
	return s == "=" || s == "<>" || s == "<" || s == "<=" || s == ">" || s == ">=" || s == "!="
}

func (p *parser) between(of operand) condition {
	low := p.operand()
	if !p.accept("AND") {
		p.syntaxError()
	}
	high := p.operand()
	p.distinct("BETWEEN", of, low, high)
	for _, o := range []operand{of, low, high} {
		p.wantsKind("BETWEEN", o, ordered)
	}
	one, ok1 := low.(constant)
	two, ok2 := high.(constant)
	if ok1 && ok2 {
		order, comparable := compare(one.AttributeValue, two.AttributeValue)
		if !comparable {
			p.fail("The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: %s, upper bound operand: %s", one, two)
		}
		if order > 0 {
			p.fail("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: %s, upper bound operand: %s", one, two)
		}
	}
	return between{of, low, high}
}

// String is how DynamoDB's errors write a value that has an order.
func (c constant) String() string {
	switch v := c.AttributeValue.(type) {
	case *types.AttributeValueMemberS:
		return "AttributeValue: {S:" + v.Value + "}"
	case *types.AttributeValueMemberN:
		return "AttributeValue: {N:" + v.Value + "}"
	}
	return "AttributeValue: {" + kindOf(c.AttributeValue) + "}"
}

func (p *parser) among(of operand) condition {
	closing := ")"
	if p.statement && p.acceptSymbol("[") {
		closing = "]"
	} else {
		p.wantsSymbol("(")
	}
	operands := list(p, (*parser).operand)
	p.wantsSymbol(closing)
	if len(operands) > maxOperands {
		p.fail("The IN operator is provided with too many operands; number of operands: %d", len(operands))
	}
	p.distinct("IN", of, operands...)
	return among{of, operands}
}

// missing reads on after IS, which is PartiQL's alone.
func (p *parser) missing(of operand) condition {
	steps, ok := of.(path)
	want := p.accept("NOT")
	if !ok || !p.accept("MISSING") {
		p.syntaxError()
	}
	return existence{of: steps, want: want}
}

func (p *parser) distinct(operator string, first operand, others ...operand) {
	one, ok := first.(path)
	if !ok {
		return
	}
	for _, o := range others {
		if two, ok := o.(path); ok && slices.Equal(one, two) {
			p.fail("The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: %s", operator, one)
		}
	}
}

func (p *parser) operand() operand {
	switch {
	case p.isSymbol("("):
		return inParentheses(p, (*parser).operand)
	case p.isConstant():
		return p.constant()
	case p.isCall() && p.token.text == "size":
		_, operands := p.call((*parser).operand)
		p.wantsOperands("size", operands, 1)
		p.wantsKind("size", operands[0], sizedKind)
		return size{operands[0]}
	case p.isCall():
		p.known(p.token.text)
		p.misplaced(p.token.text)
	}
	return p.path()
}

func (p *parser) misplaced(function string) {
	p.fail("The function is not allowed to be used this way in an expression; function: %s", function)
}

func (p *parser) known(function string) {
	switch function {
	case "attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size":
	default:
		p.fail("Invalid function name; function: %s", function)
	}
}

func (p *parser) function() condition {
	p.known(p.token.text)
	name, operands := p.call((*parser).operand)
	if p.token.kind == tokenSymbol && isComparison(p.token.text) {
		p.misplaced(name)
	}
	if name == "attribute_exists" || name == "attribute_not_exists" {
		p.wantsOperands(name, operands, 1)
		return existence{of: p.wantsPath(name, operands[0]), want: name == "attribute_exists"}
	}
	p.wantsOperands(name, operands, 2)
	of, other := operands[0], operands[1]
	switch name {
	case "attribute_type":
		p.wantsType(other)
		return kinship{of, other}
	case "begins_with":
		p.distinct(name, of, other)
		p.wantsKind(name, of, "S B")
		p.wantsKind(name, other, "S B")
		return prefix{of, other}
	}
	p.distinct(name, of, other)
	return contains{of, other}
}

// wantsType wants a type's name, as a constant.
func (p *parser) wantsType(o operand) {
	p.wantsKind("attribute_type", o, "S")
	c, ok := o.(constant)
	if !ok {
		p.fail("Incorrect operand type for operator or function; operator or function: attribute_type, operand type: {%s}", strings.ReplaceAll(allKinds, " ", ""))
	}
	name := c.AttributeValue.(*types.AttributeValueMemberS).Value
	if !slices.Contains(strings.Split(allKinds, ", "), name) {
		p.fail("Invalid attribute type name found; type: %s, valid types: {%s}", name, strings.ReplaceAll(allKinds, " ", ""))
	}
}
