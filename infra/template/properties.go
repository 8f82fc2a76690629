package template

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// properties reads the properties of one thing. It keeps the errors for err, and what was not asked for, which is an error too: so
// nothing is dropped in silence.
type properties struct {
	evaluator *evaluator
	path      string
	line      int
	left      map[string]*yaml.Node
	errs      []error
	children  []*properties
}

// take hands out a property's node, Fn::If followed; nil if there is none.
func (p *properties) take(name string) *yaml.Node {
	n := p.left[name]
	if n == nil {
		return nil
	}
	delete(p.left, name)
	n, err := p.evaluator.choose(join(p.path, name), n)
	if err != nil {
		p.errs = append(p.errs, err)
	}
	return n
}

func (p *properties) fail(name string, line int, format string, args ...any) {
	p.errs = append(p.errs, fault(join(p.path, name), line, format, args...))
}

// resolve returns what a property's node stands for, one string; false where it stands for none.
func (p *properties) resolve(name string, n *yaml.Node) (string, bool) {
	text, err := p.evaluator.text(join(p.path, name), n)
	if err != nil {
		p.errs = append(p.errs, err)
	}
	return text, err == nil
}

// text returns a property that is one string, or the fallback where it is not there.
func (p *properties) text(name, fallback string) string {
	n := p.take(name)
	if n == nil {
		return fallback
	}
	text, _ := p.resolve(name, n)
	return text
}

// self is what a Ref to the resource itself stands for.
func (p *properties) self(r *resource) string { return p.attribute(r, "") }

// attribute is what an Fn::GetAtt of the resource itself stands for.
func (p *properties) attribute(r *resource, name string) string {
	text, err := p.evaluator.reference(p.path, r.line, r.logicalID, name)
	if err != nil {
		p.errs = append(p.errs, err)
	}
	return text
}

// required is text for a property that must be there.
func (p *properties) required(name string) string {
	if p.left[name] == nil {
		p.fail(name, p.line, "is missing")
		return ""
	}
	return p.text(name, "")
}

// only checks a property of which one value is known.
func (p *properties) only(name, known string) {
	if value := p.required(name); value != "" && value != known {
		p.fail(name, p.line, "is %q: only %s is known", value, known)
	}
}

// number returns a whole number between two bounds, or the fallback, whatever that is, where it is not there.
func (p *properties) number(name string, fallback, least, most int) int {
	n := p.take(name)
	if n == nil {
		return fallback
	}
	text, ok := p.resolve(name, n)
	if !ok {
		return fallback
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < least || number > most {
		p.fail(name, n.Line, "is %q: it must be a number from %d to %d", text, least, most)
	}
	return number
}

// requiredNumber is number for a property that must be there.
func (p *properties) requiredNumber(name string, least, most int) int {
	if p.left[name] == nil {
		p.fail(name, p.line, "is missing")
	}
	return p.number(name, least, least, most)
}

// seconds returns a required property that is a time in whole seconds.
func (p *properties) seconds(name string) time.Duration {
	return time.Duration(p.requiredNumber(name, 10, maxPeriod)) * time.Second
}

// decimal returns a required property that is any number.
func (p *properties) decimal(name string) float64 {
	text := p.required(name)
	number, err := strconv.ParseFloat(text, 64)
	if text != "" && (err != nil || math.IsNaN(number) || math.IsInf(number, 0)) {
		p.fail(name, p.line, "is %q: it must be a number", text)
	}
	return number
}

// oneOf checks a value of a property of which some are known.
func (p *properties) oneOf(name, value string, known []string) string {
	if value != "" && !slices.Contains(known, value) {
		p.fail(name, p.line, "is %q: known are %q", value, known)
	}
	return value
}

func (p *properties) flag(name string, fallback bool) bool {
	n := p.left[name]
	text := strings.ToLower(p.text(name, strconv.FormatBool(fallback)))
	if text != "true" && text != "false" {
		p.fail(name, n.Line, "is %q: it must be true or false", text)
	}
	return text == "true"
}

// named returns all properties that are left, each one string.
func (p *properties) named() map[string]string {
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(p.left)) {
		if n := p.take(name); n != nil {
			values[name], _ = p.resolve(name, n)
		}
	}
	return values
}

// texts returns a property that is a list of strings.
func (p *properties) texts(name string) []string { return p.list(name, false) }

// oneOrMore returns a required property that is a string or a list of them, and not empty.
func (p *properties) oneOrMore(name string) []string {
	if p.left[name] == nil {
		p.fail(name, p.line, "is missing")
	}
	return p.list(name, true)
}

// list reads a list of strings; orOne also takes one string for it, and not an empty list.
func (p *properties) list(name string, orOne bool) []string {
	n := p.take(name)
	if n == nil {
		return nil
	}
	value, err := p.evaluator.value(join(p.path, name), n)
	if err != nil {
		p.errs = append(p.errs, err)
		return nil
	}
	list, ok := value.([]any)
	switch {
	case !ok && orOne:
		list = []any{value}
	case !ok:
		p.fail(name, n.Line, "is no list")
	case orOne && len(list) == 0:
		p.fail(name, n.Line, "is empty")
	}
	var values []string
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			p.fail(name, n.Line, "is no list of single values")
		}
		values = append(values, text)
	}
	return values
}

// within returns the properties of a nested mapping; nil if there is none.
func (p *properties) within(name string) *properties {
	n := p.take(name)
	if n == nil {
		return nil
	}
	return p.child(join(p.path, name), n)
}

// all returns the properties of each mapping in a list.
func (p *properties) all(name string) []*properties {
	n := p.take(name)
	if n == nil {
		return nil
	}
	if !isList(n) {
		p.fail(name, n.Line, "is no list")
		return nil
	}
	var children []*properties
	for i, item := range n.Content {
		path := fmt.Sprintf("%s[%d]", join(p.path, name), i)
		item, err := p.evaluator.choose(path, item)
		if err != nil {
			p.errs = append(p.errs, err)
		}
		if item != nil {
			children = append(children, p.child(path, item))
		}
	}
	return children
}

func (p *properties) child(path string, n *yaml.Node) *properties {
	nodes, err := split(path, n)
	if err != nil {
		p.errs = append(p.errs, err)
	}
	c := &properties{evaluator: p.evaluator, path: path, line: n.Line, left: nodes}
	p.children = append(p.children, c)
	return c
}

// ignore leaves properties out on purpose.
func (p *properties) ignore(names ...string) {
	for _, name := range names {
		delete(p.left, name)
	}
}

var errDropped = errors.New("is not known here, so it would be dropped")

// faults returns what was wrong, here and in what is nested.
func (p *properties) faults() []error {
	errs := p.errs
	for _, name := range slices.Sorted(maps.Keys(p.left)) {
		errs = append(errs, fault(join(p.path, name), p.left[name].Line, "%w", errDropped))
	}
	for _, c := range p.children {
		errs = append(errs, c.faults()...)
	}
	return errs
}
