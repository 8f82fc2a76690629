package memdb

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// statement is a parsed PartiQL statement.
type statement struct {
	verb      string // INSERT, UPDATE, DELETE or SELECT
	table     string
	item      item       // of an INSERT
	update    *update    // of an UPDATE
	where     condition  // nil: none
	columns   projection // of a SELECT; nil: all
	returning types.ReturnValue
}

// parseStatement reads a PartiQL statement. The parameters were taken.
func parseStatement(text string, parameters []types.AttributeValue) (*statement, error) {
	p := &parser{lexer: lexer{source: text, statement: true}, parameters: parameters}
	s, err := parse(p, (*parser).readStatement)
	if err == nil && len(p.parameters) > 0 {
		err = wrongParameters()
	}
	return s, err
}

func wrongParameters() error {
	return invalid("Number of parameters in request and statement don't match.")
}

func (p *parser) readStatement() *statement {
	s := new(statement)
	switch {
	case p.accept("INSERT"):
		p.insert(s)
	case p.accept("UPDATE"):
		s.verb, s.table = "UPDATE", p.tableName()
		s.update = p.clauses()
		p.whereReturning(s)
	case p.accept("DELETE"):
		p.wantsWord("FROM")
		s.verb, s.table = "DELETE", p.tableName()
		p.whereReturning(s)
	case p.accept("SELECT"):
		s.verb = "SELECT"
		if !p.acceptSymbol("*") {
			s.columns = list(p, (*parser).column)
			for i, column := range s.columns {
				if slices.ContainsFunc(s.columns[:i], func(other path) bool { return column.compare(other) == 0 }) {
					p.fail("Duplicate identifiers in select clause: %s", column[0].name)
				}
			}
		}
		p.wantsWord("FROM")
		s.table = p.tableName()
		if p.accept("WHERE") {
			s.where = p.condition()
		}
	default:
		p.syntaxError()
	}
	p.acceptSymbol(";")
	return s
}

func (p *parser) wantsWord(word string) {
	if !p.accept(word) {
		p.syntaxError()
	}
}

func (p *parser) tableName() string {
	if p.token.kind == tokenQuoted {
		return p.advance().text
	}
	return p.wants(tokenWord).text
}

func (p *parser) insert(s *statement) {
	p.wantsWord("INTO")
	s.verb, s.table = "INSERT", p.tableName()
	p.wantsWord("VALUE")
	if !p.isSymbol("{") {
		p.fail("Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.")
	}
	s.item = p.tuple((*parser).literal)
}

// clauses are an UPDATE's, in any order.
func (p *parser) clauses() *update {
	u := new(update)
	for {
		switch {
		case p.accept("SET"):
			for _, a := range list(p, (*parser).assignment) {
				u.sets = append(u.sets, a)
				if c, ok := a.from.(changed); ok && c.of.compare(a.to) != 0 {
					p.fail("The first argument to SET_ADD must equal the assignment value")
				}
			}
		case p.accept("REMOVE"):
			u.removes = append(u.removes, p.path())
		default:
			if len(u.sets)+len(u.removes) == 0 {
				p.syntaxError()
			}
			p.endOfExpression()
			return p.checked(u)
		}
	}
}

// column is one of a SELECT's. What DynamoDB calls the column of a nested path is its own affair.
func (p *parser) column() path {
	steps := p.path()
	if len(steps) > 1 {
		panic(parseError{&UnsupportedError{What: "SELECT of a nested attribute"}})
	}
	return steps
}

func (p *parser) whereReturning(s *statement) {
	if p.accept("WHERE") {
		s.where = p.condition()
	}
	if !p.accept("RETURNING") {
		return
	}
	all, old := p.accept("ALL"), false
	if !all {
		p.wantsWord("MODIFIED")
	}
	if old = p.accept("OLD"); !old {
		p.wantsWord("NEW")
	}
	p.wantsSymbol("*")
	switch {
	case all && old:
		s.returning = types.ReturnValueAllOld
	case all:
		s.returning = types.ReturnValueAllNew
	case old:
		s.returning = types.ReturnValueUpdatedOld
	default:
		s.returning = types.ReturnValueUpdatedNew
	}
	if s.verb == "DELETE" && s.returning != types.ReturnValueAllOld {
		p.syntaxError()
	}
}

// isLiteral reports that a literal or a parameter comes next.
func (p *parser) isLiteral() bool {
	switch t := p.token; t.kind {
	case tokenText, tokenDigits, tokenPlaceholder:
		return true
	case tokenSymbol:
		return t.text == "-" || t.text == "{" || t.text == "[" || t.text == "<<"
	case tokenWord:
		return t.isWord("TRUE") || t.isWord("FALSE") || t.isWord("NULL")
	}
	return false
}

// literal is a value that the statement holds, or the next parameter.
func (p *parser) literal() types.AttributeValue {
	if p.token.kind == tokenPlaceholder {
		if len(p.parameters) == 0 {
			panic(parseError{wrongParameters()})
		}
		p.advance()
		v := p.parameters[0]
		p.parameters = p.parameters[1:]
		return v
	}
	v, err := take(p.written(), 0)
	if err != nil {
		panic(parseError{err})
	}
	return v
}

// written is a literal without parameters: inside of one DynamoDB takes none.
func (p *parser) written() types.AttributeValue {
	switch {
	case p.token.kind == tokenPlaceholder:
		p.fail("Unsupported data type: Parameter")
	case p.token.kind == tokenText:
		return &types.AttributeValueMemberS{Value: p.advance().text}
	case p.token.kind == tokenDigits:
		return &types.AttributeValueMemberN{Value: p.advance().text}
	case p.acceptSymbol("-"):
		return &types.AttributeValueMemberN{Value: "-" + p.wants(tokenDigits).text}
	case p.accept("TRUE"):
		return &types.AttributeValueMemberBOOL{Value: true}
	case p.accept("FALSE"):
		return &types.AttributeValueMemberBOOL{}
	case p.accept("NULL"):
		return &types.AttributeValueMemberNULL{Value: true}
	case p.isSymbol("{"):
		return &types.AttributeValueMemberM{Value: p.tuple((*parser).written)}
	case p.acceptSymbol("["):
		if p.acceptSymbol("]") {
			return &types.AttributeValueMemberL{}
		}
		elements := list(p, (*parser).written)
		p.wantsSymbol("]")
		return &types.AttributeValueMemberL{Value: elements}
	case p.acceptSymbol("<<"):
		return p.set()
	}
	p.syntaxError()
	return nil
}

func (p *parser) tuple(value func(*parser) types.AttributeValue) item {
	m := item{}
	p.wantsSymbol("{")
	if p.acceptSymbol("}") {
		return m
	}
	list(p, func(p *parser) string {
		name := p.wants(tokenText).text
		p.wantsSymbol(":")
		if _, twice := m[name]; twice {
			p.fail("Duplicate keys in tuple. Key: %s", name)
		}
		m[name] = value(p)
		return name
	})
	p.wantsSymbol("}")
	return m
}

func (p *parser) set() types.AttributeValue {
	elements := list(p, (*parser).written)
	p.wantsSymbol(">>")
	var texts, numbers []string
	for _, element := range elements {
		switch v := element.(type) {
		case *types.AttributeValueMemberS:
			texts = append(texts, v.Value)
		case *types.AttributeValueMemberN:
			numbers = append(numbers, v.Value)
		}
	}
	switch len(elements) {
	case len(texts):
		return &types.AttributeValueMemberSS{Value: texts}
	case len(numbers):
		return &types.AttributeValueMemberNS{Value: numbers}
	}
	p.fail("Sets must hold strings only, or numbers only")
	return nil
}
