package canary

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// variant is an event that differs from a sample in one thing, mostly one that no function can use.
type variant struct {
	name  string
	event []byte
}

// variants are those of a planted sample's first message: each of its fields in every form that is wrong for some, its body broken
// in every way that the readers know, and its attributes.
func (s *Set) variants(planted []record) []variant {
	first := planted[0]
	var all []variant
	with := func(name string, change func(r record)) {
		r := maps.Clone(first)
		r["messageAttributes"] = maps.Clone(first["messageAttributes"].(record))
		r["attributes"] = maps.Clone(first["attributes"].(record))
		change(r)
		all = append(all, variant{name, encode(r)})
	}
	body := first["body"].(string)
	for name, text := range s.bodies(body) {
		with(name, func(r record) { r["body"] = text })
	}
	other := s.Text("another key")
	for name, value := range map[string]record{
		"Idempotency-Key of another value": attribute(other),
		"Idempotency-Key too long":         attribute(other + strings.Repeat("x", 1100)),
		"Idempotency-Key not UTF-8 after":  attribute(other + "\ufffd"),
		"Idempotency-Key binary":           {"binaryValue": []byte(other), "dataType": "Binary", "stringListValues": []any{}, "binaryListValues": []any{}},
		"Idempotency-Key empty":            attribute(""),
		"Intent-Time text":                 attribute(s.Text("a time")),
		"Intent-Time number":               attribute(s.Number("1796000000000")),
		"Intent-Time in seconds":           attribute(s.Exact("a time in s", "1796083451")),
		"Intent-Time in ms":                attribute(s.Exact("a time in ms", "1796083451337")),
		"Intent-Time in microseconds":      attribute(s.Exact("a time in us", "1796083451337999")),
		"Intent-Time long ago":             attribute(s.Exact("a time long ago", "1083451337999")),
		"Quarantine-Reason":                attribute("conflict: " + s.Text("a reason")),
	} {
		attributeName, _, _ := strings.Cut(name, " ")
		with(name, func(r record) { r["messageAttributes"].(record)[attributeName] = value })
	}
	with("ten attributes and no key", func(r record) {
		for n := range 9 {
			r["messageAttributes"].(record)[s.Name(fmt.Sprint("attribute ", n))] = attribute(s.Text(fmt.Sprint("value ", n)))
		}
		r["body"] = strings.Replace(body, "idempotency_key", s.Name("not a key"), 1) + ","
	})
	with("SentTimestamp text", func(r record) { r["attributes"].(record)["SentTimestamp"] = s.Text("a send time") })
	with("ApproximateReceiveCount text", func(r record) { r["attributes"].(record)["ApproximateReceiveCount"] = "0" })
	with("no message id", func(r record) { r["messageId"] = "" })
	for name, event := range map[string]string{
		"a body straight to the function":          body,
		"an EventBridge event straight to it":      `{"version":"0","id":"1","detail-type":"` + s.Text("a type") + `","source":"` + s.Text("a source") + `","account":"1","time":"2100-01-01T00:00:00Z","region":"us-east-1","resources":[],"detail":` + body + `}`,
		"an SNS event straight to it":              `{"Records":[{"EventSource":"aws:sns","Sns":{"Message":` + quote(body) + `,"Subject":` + quote(s.Text("a subject")) + `}}]}`,
		"a list straight to it":                    "[" + body + "]",
		"a text straight to it":                    quote(s.Text("an event")),
		"Records of another type":                  `{"Records":` + quote(s.Text("records")) + `}`,
		"a record of another type":                 `{"Records":[` + quote(s.Text("a record")) + `]}`,
		"a message id of another type":             `{"Records":[{"messageId":71830999,"body":` + quote(body) + `}]}`,
		"an HTTP event straight to it":             `{"requestContext":{},"headers":{"` + s.Name("a header") + `":"` + s.Text("a header's value") + `"},"body":` + quote(body) + `}`,
		"an event with other names beside Records": `{"Records":[],"` + s.Name("beside") + `":` + body + `}`,
	} {
		all = append(all, variant{name, []byte(event)})
	}
	slices.SortFunc(all, func(a, b variant) int { return strings.Compare(a.name, b.name) })
	return all
}

// forms are the values that a field gets.
func (s *Set) forms() map[string]string {
	text, name := s.Text("another value"), s.Name("a field inside")
	return map[string]string{
		"another text":           quote(text),
		"a long text":            quote(text + strings.Repeat("x", 2000)),
		"a text of control":      quote(text + "\x01\u2028"),
		"half a surrogate pair":  `"` + text + `\ud800"`,
		"a number":               s.Number("123"),
		"a negative number":      s.Number("-123"),
		"a number of many bytes": s.Number("124") + strings.Repeat("0", 30),
		"a number out of range":  s.Number("125") + "e400",
		"a fraction":             s.Number("126") + ".5",
		"a time":                 `"2100-01-01T00:00:00Z` + text + `"`,
		"a time in other units":  s.Number("127") + "00000000",
		"true":                   "true",
		"null":                   "null",
		"an object":              `{"` + name + `":` + quote(text) + `}`,
		"an array":               `[` + quote(text) + `,` + s.Number("128") + `]`,
		"a name twice inside":    `{"` + name + `":1,"` + name + `":2}`,
		"too deep inside":        strings.Repeat(`{"`+name+`":`, 70) + quote(text) + strings.Repeat("}", 70),
	}
}

// bodies are the planted one with one thing changed, by what that is.
func (s *Set) bodies(body string) map[string]string {
	bodies := map[string]string{}
	for _, at := range member.FindAllStringSubmatchIndex(body, -1) {
		name := body[at[2]:at[3]]
		from := at[4] - 1
		to := at[5] + 1
		if at[4] < 0 {
			from, to = at[6], at[7]
		}
		if strings.HasPrefix(name, "canary") {
			name = "a field of no meaning"
		}
		for form, value := range s.forms() {
			bodies[name+" is "+form] = body[:from] + value + body[to:]
		}
		member := body[at[0]:at[1]]
		bodies[name+" twice"] = body[:at[0]] + member + "," + member + body[at[1]:]
		bodies[name+" in capitals, too"] = body[:at[0]] + `"` + strings.ToUpper(body[at[2]:at[3]]) + `":` + quote(s.Text("in capitals")) + "," + body[at[0]:]
		bodies[name+" is not there"] = body[:at[0]] + `"` + s.Name("instead") + `":1` + body[at[1]:]
		bodies["cut off after "+name] = body[:at[1]]
		bodies["cut off within "+name] = body[:max(from+3, to-4)]
	}
	text, name := s.Text("another body"), s.Name("a field")
	for what, form := range s.forms() {
		bodies["the body is "+what] = form
	}
	bodies["the body is no JSON"] = text
	bodies["the body goes on"] = body + text
	bodies["a field of no meaning twice"] = strings.Replace(body, `"`+name+`":`, `"`+name+`":1,"`+name+`":`, 1)
	bodies["in too many envelopes"] = body
	for n := range 4 {
		bodies["in too many envelopes"] = `{"Type":"Notification","MessageId":"` + strconv.Itoa(n) + `","TopicArn":` + quote(s.Text("a topic")) +
			`,"Timestamp":"2100-01-01T00:00:00Z","Message":` + quote(bodies["in too many envelopes"]) + `}`
	}
	notification := func(rest string) string {
		return `{"Type":"Notification","MessageId":"1","TopicArn":` + quote(s.Text("a topic")) + `,"Message":` + quote(body) + "," + rest + `}`
	}
	bodies["an envelope with another time"] = notification(`"Timestamp":` + quote(s.Text("a time")))
	bodies["an envelope with an attribute that is no base64"] = notification(`"Timestamp":"2100-01-01T00:00:00Z","MessageAttributes":{"` +
		s.Name("an attribute") + `":{"Type":"Binary","Value":"` + text + `!"}}`)
	bodies["an envelope with attributes of another form"] = notification(`"Timestamp":"2100-01-01T00:00:00Z","MessageAttributes":` + quote(text))
	bodies["an envelope with another key"] = notification(`"Timestamp":"2100-01-01T00:00:00Z","MessageAttributes":{"Idempotency-Key":{"Type":"String","Value":` +
		quote(text) + `}}`)
	return bodies
}
