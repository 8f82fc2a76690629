package sqsbatch_test

import (
	"encoding/json"
	"fmt"
)

// snsAttributes are those of a notification: type and value by name.
type snsAttributes map[string][2]string

// snsAt is a body as SNS delivers it to a queue without raw message delivery (Amazon
// SNS developer guide, "Parsing message formats").
func snsAt(timestamp, message string, attributes snsAttributes) string {
	envelope := map[string]any{
		"Type": "Notification", "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
		"TopicArn": "arn:aws:sns:eu-west-1:123456789012:orders", "Subject": "order", "Message": message,
		"Timestamp": timestamp, "SignatureVersion": "1", "Signature": "EXAMPLE",
		"SigningCertURL": "https://sns.eu-west-1.amazonaws.com/cert.pem", "UnsubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe",
	}
	if attributes != nil {
		inner := map[string]any{}
		for name, a := range attributes {
			inner[name] = map[string]string{"Type": a[0], "Value": a[1]}
		}
		envelope["MessageAttributes"] = inner
	}
	b, err := json.Marshal(envelope)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// eventAt is a body as EventBridge delivers it (Amazon EventBridge user guide, "Event
// structure").
func eventAt(time, detail string) string {
	return fmt.Sprintf(`{"version":"0","id":"6a7e8feb-b491-4cf7-a9f1-bf3703467718","detail-type":"order.paid","source":"shop",`+
		`"account":"123456789012","time":%q,"region":"eu-west-1","resources":[],"detail":%s}`, time, detail)
}
