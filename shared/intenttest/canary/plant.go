package canary

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// record is one message of an event, with all that the event has of it.
type record = map[string]any

// decode reads an event; fixed says that its file is a sample that the caller has checked.
func decode(event []byte) []record {
	var e struct{ Records []record }
	if err := json.Unmarshal(event, &e); err != nil || len(e.Records) == 0 {
		panic(fmt.Sprintf("canary: no sample event: %v", err))
	}
	return e.Records
}

func encode(records ...record) []byte {
	event, err := json.Marshal(map[string]any{"Records": records})
	if err != nil {
		panic(err)
	}
	return event
}

// plant puts canaries into the messages of a sample event: for every value of a body, of an attribute of the message's own and of
// those of SQS's that are the producer's. The values of the fields in keep stay, since their form is read.
func (s *Set) plant(records []record, keep []string) []record {
	for _, r := range records {
		r["body"] = s.body(r["body"].(string), keep)
		r["receiptHandle"] = s.Text(r["receiptHandle"].(string))
		attributes := r["attributes"].(record)
		for _, name := range []string{"MessageGroupId", "MessageDeduplicationId", "SenderId"} {
			if value, ok := attributes[name].(string); ok {
				attributes[name] = s.Text(value)
			}
		}
		own, _ := r["messageAttributes"].(record)
		if own == nil {
			own = record{}
		}
		for name, a := range own {
			if value, ok := a.(record)["stringValue"].(string); ok && name != "Intent-Time" {
				a.(record)["stringValue"] = s.Text(value)
			}
		}
		own[s.Name("an attribute")] = attribute(s.Text("an attribute's value"))
		r["messageAttributes"] = own
	}
	return records
}

func attribute(value string) record {
	return record{"stringValue": value, "stringListValues": []any{}, "binaryListValues": []any{}, "dataType": "String"}
}

// fields are those of an envelope whose form is read.
var envelope = []string{"Type", "Timestamp", "time"}

// member is a name and its value in a JSON object, which may be cut off: a string or a number.
var member = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|(-?[0-9][0-9.eE+-]*))`)

// body plants a text that is most often a JSON object, by its letters: what is broken stays broken, and in the same way. A string
// that holds an object, as in an envelope, is planted inside.
func (s *Set) body(text string, keep []string) string {
	text = member.ReplaceAllStringFunc(text, func(found string) string {
		parts := member.FindStringSubmatch(found)
		head, name, value, number := found, parts[1], parts[2], parts[3]
		switch {
		case slices.Contains(keep, name) || slices.Contains(envelope, name):
			return found
		case number != "":
			return strings.TrimSuffix(head, number) + s.Number(number)
		}
		head = strings.TrimSuffix(head, `"`+value+`"`)
		var unquoted string
		if json.Unmarshal([]byte(`"`+value+`"`), &unquoted) == nil && strings.HasPrefix(unquoted, "{") {
			return head + quote(s.body(unquoted, keep))
		}
		return head + quote(s.Text(unquoted))
	})
	extra := fmt.Sprintf("%s:%s,", quote(s.Name("a field")), quote(s.Text("a field's value")))
	text = strings.Replace(text, `"detail":{`, `"detail":{`+extra, 1)
	if rest, ok := strings.CutPrefix(text, "{"); ok {
		text = "{" + extra + rest
	}
	return text
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}
