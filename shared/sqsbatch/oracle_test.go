package sqsbatch_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// deliveryOf tells by decoded values what a handler is to be given of a message; nil
// if nothing.
func deliveryOf(body, attribute string, attached bool) *intent.Delivery {
	var keys []string
	if attached {
		keys = append(keys, attribute)
	}
	for envelopes := 0; ; envelopes++ {
		fields := decoded(body)
		if fields == nil {
			return nil
		}
		var sent any
		switch {
		case fields["Type"] == "Notification" && carries(fields, "MessageId", "TopicArn", "Message", "Timestamp"):
			message, isText := fields["Message"].(string)
			if !isText && fields["Message"] != nil {
				return nil
			}
			more, ok := snsKeys(raw(body, "MessageAttributes"))
			if !ok {
				return nil
			}
			keys, sent, body = append(keys, more...), fields["Timestamp"], message
		case carries(fields, "version", "id", "detail-type", "source", "account", "time", "region", "detail"):
			sent, body = fields["time"], raw(body, "detail")
		default:
			return finished(body, fields, keys)
		}
		var moment time.Time
		text, isText := sent.(string)
		if !isText || moment.UnmarshalText([]byte(text)) != nil || moment.UnixMilli() < 1e12 || moment.UnixMilli() >= 1e13 || envelopes == 2 {
			return nil
		}
	}
}

// finished is the delivery of a body that is in no envelope.
func finished(body string, fields map[string]any, keys []string) *intent.Delivery {
	if field, inBody := fields[sqsbatch.KeyField]; inBody {
		key := ""
		switch field.(type) {
		case string, json.Number, bool:
			key = fmt.Sprint(field)
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		if key == "" || key != keys[0] {
			return nil
		}
	}
	p, err := intent.ParsePayload([]byte(body))
	if err != nil || len(keys) == 0 {
		return nil
	}
	return &intent.Delivery{Key: keys[0], Fingerprint: p.Fingerprint(), Payload: p}
}

// decoded is a body that is a JSON object and read alike by all.
func decoded(body string) (fields map[string]any) {
	if _, err := intent.ParsePayload([]byte(body)); err != nil {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if d.Decode(&fields) != nil {
		return nil
	}
	return fields
}

func carries(fields map[string]any, names ...string) bool {
	for _, name := range names {
		if _, ok := fields[name]; !ok {
			return false
		}
	}
	return true
}

// raw is a field as it is written; empty if there is none.
func raw(body, name string) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal([]byte(body), &fields)
	return string(fields[name])
}

// snsKeys are the keys in a notification's attributes; false if they cannot be read.
func snsKeys(attributes string) (keys []string, ok bool) {
	var all map[string]struct{ Type, Value string }
	if attributes != "" && json.Unmarshal([]byte(attributes), &all) != nil {
		return nil, false
	}
	for name, a := range all {
		binary := strings.HasPrefix(a.Type, "Binary")
		if binary {
			if _, err := base64.StdEncoding.DecodeString(a.Value); err != nil {
				return nil, false
			}
			a.Value = "" // no key
		}
		switch name {
		case sqsbatch.KeyAttribute:
			keys = append(keys, a.Value)
		case sqsbatch.TimeAttribute:
			if ms, err := strconv.ParseInt(a.Value, 10, 64); err != nil || ms < 1e12 || ms >= 1e13 {
				return nil, false
			}
		}
	}
	return keys, true
}
