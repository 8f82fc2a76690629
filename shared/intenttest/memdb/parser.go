package memdb

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// parser reads an expression, or a statement, by recursive descent. It replaces
// placeholders and checks types as it goes, so that what it makes can be run and
// cannot fail. Inside, an error is a panic with a parseError.
type parser struct {
	lexer
	kind       string // the expression's name in the request; empty in a statement
	scope      *scope
	parameters []types.AttributeValue // of a statement, those not yet read

	previous, token, following token
	pair                       struct{ open, close int } // the last of inParentheses, by where they stand
	operators                  int                       // operators and functions that the expression has so far
}

type parseError struct{ error }

// parse runs a rule over all of the source.
func parse[T any](p *parser, rule func(*parser) T) (result T, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			failed, ok := caught.(parseError)
			if !ok {
				panic(caught)
			}
			err = failed.error
		}
	}()
	switch size := len(p.source); {
	case p.statement:
	case size == 0:
		p.fail("The expression can not be empty;")
	case size > maxExpression && (p.kind == "UpdateExpression" || p.kind == "ProjectionExpression"):
		p.fail("Expression size has exceeded the maximum allowed size;")
	case size > maxExpression:
		p.fail("Expression size has exceeded the maximum allowed size; expression size: %d", size)
	}
	p.advance()
	p.advance()
	p.previous = token{}
	result = rule(p)
	if p.token.kind != tokenEnd {
		p.syntaxError()
	}
	p.endOfExpression()
	return result, nil
}

// endOfExpression wants no more operators than one expression may have, and counts those of the next from 0.
func (p *parser) endOfExpression() {
	if p.operators > maxOperators {
		p.fail("The expression contains too many operators; operator count: %d", maxOperators+1) // DynamoDB counts no further
	}
	p.operators = 0
}

// acceptOperator is accept for an operator, which is counted.
func (p *parser) acceptOperator(word string) bool {
	if !p.accept(word) {
		return false
	}
	p.operators++
	return true
}

// expressionParser reads one of a request's expressions.
func expressionParser(kind, source string, s *scope) *parser {
	return &parser{lexer: lexer{source: source}, kind: kind, scope: s}
}

func (p *parser) advance() token {
	p.previous, p.token, p.following = p.token, p.following, p.lexer.next()
	return p.previous
}

// in begins the errors about an expression.
func in(kind string) string {
	if kind == "" {
		return ""
	}
	return "Invalid " + kind + ": "
}

func (p *parser) fail(format string, args ...any) {
	panic(parseError{invalid(in(p.kind)+format, args...)})
}

func (p *parser) syntaxError() {
	if p.kind == "" {
		p.fail("Statement wasn't well formed, can't be processed: %s", p.source)
	}
	end := p.following.end
	if p.token.kind == tokenEnd {
		end = len(p.source)
	}
	p.fail("Syntax error; token: \"%s\", near: \"%s\"", p.token.text, p.source[p.previous.at:end])
}

func (p *parser) wants(kind tokenKind) token {
	if p.token.kind != kind {
		p.syntaxError()
	}
	return p.advance()
}

func (p *parser) wantsSymbol(s string) token {
	if !p.isSymbol(s) {
		p.syntaxError()
	}
	return p.advance()
}

func (p *parser) isSymbol(s string) bool { return p.token.kind == tokenSymbol && p.token.text == s }

func (p *parser) acceptSymbol(s string) bool {
	if !p.isSymbol(s) {
		return false
	}
	p.advance()
	return true
}

func (t token) isWord(word string) bool {
	return t.kind == tokenWord && len(t.text) == len(word) && strings.EqualFold(t.text, word)
}

func (p *parser) accept(word string) bool {
	if !p.token.isWord(word) {
		return false
	}
	p.advance()
	return true
}

// isOperator reports a word that is never a name.
func (p *parser) isOperator(t token) bool {
	if t.kind != tokenWord {
		return false
	}
	switch len(t.text) { // which few words are
	case 2:
		return t.isWord("IN") || t.isWord("OR") || p.statement && t.isWord("IS")
	case 3:
		return t.isWord("AND") || t.isWord("NOT") || t.isWord("SET") || !p.statement && t.isWord("ADD")
	case 4:
		return p.statement && t.isWord("FROM")
	case 5:
		return p.statement && t.isWord("WHERE")
	case 6:
		return t.isWord("REMOVE") || !p.statement && t.isWord("DELETE")
	case 7:
		return t.isWord("BETWEEN")
	case 9:
		return p.statement && t.isWord("RETURNING")
	}
	return false
}

// list reads rules with commas between them.
func list[T any](p *parser, rule func(*parser) T) []T {
	all := []T{rule(p)}
	for p.acceptSymbol(",") {
		all = append(all, rule(p))
	}
	return all
}

func (p *parser) path() path {
	steps := path{{name: p.attribute()}}
	for {
		switch {
		case p.acceptSymbol("."):
			steps = append(steps, step{name: p.attribute()})
		case p.acceptSymbol("["):
			index, err := strconv.ParseInt(p.wants(tokenDigits).text, 10, 32)
			if err != nil {
				p.fail("List index is not within the allowable range; index: [%s]", p.previous.text)
			}
			steps = append(steps, step{index: int(index)})
			p.wantsSymbol("]")
		default:
			if len(steps) > maxPath {
				p.fail("The document path has too many nesting levels; nesting levels: %d", len(steps))
			}
			return steps
		}
	}
}

func (p *parser) attribute() string {
	switch t := p.token; {
	case t.kind == tokenName:
		p.advance()
		name, ok := p.scope.name(t.text)
		if !ok {
			p.fail("An expression attribute name used in the document path is not defined; attribute name: %s", t.text)
		}
		return name
	case t.kind == tokenWord && !p.isOperator(t):
		if p.statement && isKeyword(t.text) {
			p.syntaxError()
		}
		p.advance()
		if !p.statement && isReserved(t.text) {
			p.fail("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
		}
		return t.text
	case t.kind == tokenQuoted:
		return p.advance().text
	}
	p.syntaxError()
	return ""
}

// isConstant reports that a value that the caller gave comes next.
func (p *parser) isConstant() bool {
	return p.token.kind == tokenValue || p.statement && p.isLiteral()
}

func (p *parser) constant() constant {
	if p.statement {
		return constant{p.literal()}
	}
	name := p.wants(tokenValue).text
	value, ok := p.scope.value(name)
	if !ok {
		p.fail("An expression attribute value used in expression is not defined; attribute value: %s", name)
	}
	return constant{value}
}

// isCall reports that a function's name comes next, with its parenthesis.
func (p *parser) isCall() bool {
	return p.token.kind == tokenWord && !p.isOperator(p.token) && p.following.kind == tokenSymbol && p.following.text == "("
}

// call reads a function's name and its operands.
func (p *parser) call(argument func(*parser) operand) (name string, operands []operand) {
	name = p.advance().text
	p.operators++
	p.wantsSymbol("(")
	operands = list(p, argument)
	p.wantsSymbol(")")
	return name, operands
}

func (p *parser) wantsOperands(function string, operands []operand, want int) {
	if len(operands) != want {
		p.fail("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", function, len(operands))
	}
}

func (p *parser) wantsPath(function string, o operand) path {
	steps, ok := o.(path)
	if !ok {
		p.fail("Operator or function requires a document path; operator or function: %s", function)
	}
	return steps
}

// wantsKind refuses an operand whose kind is known and not one of the kinds, which
// are separated by spaces.
func (p *parser) wantsKind(function string, o operand, kinds string) {
	kind := ""
	switch o := o.(type) {
	case constant:
		kind = kindOf(o.AttributeValue)
	case size:
		kind = "N"
	default:
		return
	}
	if !isOneOf(kind, kinds) {
		p.fail("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", function, kind)
	}
}

func isOneOf(kind, kinds string) bool {
	for k := range strings.FieldsSeq(kinds) {
		if k == kind {
			return true
		}
	}
	return false
}
