package memdb

import (
	"strings"
	"unicode/utf8"
)

// tokenKind tells the tokens of expressions and of PartiQL statements apart.
type tokenKind int

const (
	tokenEnd         tokenKind = iota
	tokenWord                  // status
	tokenName                  // #status
	tokenValue                 // :status
	tokenDigits                // 17
	tokenSymbol                // one or two characters
	tokenQuoted                // "status", in statements
	tokenText                  // 'text', in statements
	tokenPlaceholder           // ?, in statements
)

type token struct {
	kind    tokenKind
	text    string // without its quotes
	at, end int    // in the source
}

// lexer cuts a source into tokens.
type lexer struct {
	source    string
	at        int
	statement bool // PartiQL, which has quotes and placeholders
}

func (l *lexer) next() token {
	for l.at < len(l.source) && isSpace(l.source[l.at]) {
		l.at++
	}
	start := l.at
	if start == len(l.source) {
		return token{kind: tokenEnd, text: "<EOF>", at: start, end: start}
	}
	kind := tokenSymbol
	switch c := l.source[start]; {
	case isLetter(c) || l.statement && c == '_':
		kind = tokenWord
		l.skip(isWordPart)
	case isDigit(c):
		kind = tokenDigits
		if l.at++; c != '0' || l.statement {
			l.skip(l.isDigitPart())
		}
	case !l.statement && (c == '#' || c == ':') && start+1 < len(l.source) && isWordPart(l.source[start+1]):
		kind = tokenName
		if c == ':' {
			kind = tokenValue
		}
		l.at++
		l.skip(isWordPart)
	case l.statement && (c == '"' || c == '\''):
		return l.quoted(c)
	case l.statement && c == '?':
		kind = tokenPlaceholder
		l.at++
	default:
		l.symbol()
	}
	return token{kind: kind, text: l.source[start:l.at], at: start, end: l.at}
}

func (l *lexer) skip(part func(byte) bool) {
	for l.at < len(l.source) && part(l.source[l.at]) {
		l.at++
	}
}

// isDigitPart: numbers stand only in statements, expressions have none but
// indexes.
func (l *lexer) isDigitPart() func(byte) bool {
	if !l.statement {
		return isDigit
	}
	return func(c byte) bool { return isWordPart(c) || c == '.' }
}

// symbol takes the longest symbol there is, or one character.
func (l *lexer) symbol() {
	rest := l.source[l.at:]
	if len(rest) > 1 {
		switch two := rest[:2]; two {
		case "<>", "<=", ">=":
			l.at += 2
			return
		case "<<", ">>", "!=":
			if l.statement {
				l.at += 2
				return
			}
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	l.at += size
}

// quoted reads up to the closing quote; two of them are one in the text.
func (l *lexer) quoted(quote byte) token {
	start := l.at
	kind := tokenText
	if quote == '"' {
		kind = tokenQuoted
	}
	var text strings.Builder
	for l.at++; l.at < len(l.source); l.at++ {
		if l.source[l.at] == quote {
			l.at++
			if l.at == len(l.source) || l.source[l.at] != quote {
				return token{kind: kind, text: text.String(), at: start, end: l.at}
			}
		}
		text.WriteByte(l.source[l.at])
	}
	return token{kind: tokenSymbol, text: l.source[start:], at: start, end: l.at} // which no rule takes
}

func isSpace(c byte) bool    { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isLetter(c byte) bool   { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isWordPart(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }
