package main

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The e-mails table: one row for each e-mail that SES accepted and whose intent is completed.
const (
	emailIDAttribute   = "email_id"
	kindAttribute      = "kind"
	messageIDAttribute = "message_id"
	sentAtAttribute    = "sent_at"
)

// email is one row. Whom it went to is the users table's to know.
type email struct {
	id        string // the intent's downstream key
	user      string
	kind      kind
	messageID string // SES's
	sentAt    time.Time
}

// emailsTable is the name of the table. IAM: dynamodb:PutItem on it.
type emailsTable string

// put is the row, to be committed with the intent's completion.
//
// It has no condition of its own and is safe without: it lands only in the transaction whose condition
// on the intent's record holds, so no stranger and no zombie writes it, and none twice. Were a row
// there already, left by an intent of this key that is older than the record's retention, this e-mail
// is the later one. A condition could only turn an e-mail that was sent into a doubt.
func (t emailsTable) put(e email) types.TransactWriteItem {
	name := string(t)
	return types.TransactWriteItem{Put: &types.Put{TableName: &name, Item: map[string]types.AttributeValue{
		emailIDAttribute:   &types.AttributeValueMemberS{Value: e.id},
		userIDAttribute:    &types.AttributeValueMemberS{Value: e.user},
		kindAttribute:      &types.AttributeValueMemberS{Value: string(e.kind)},
		messageIDAttribute: &types.AttributeValueMemberS{Value: e.messageID},
		sentAtAttribute:    &types.AttributeValueMemberN{Value: strconv.FormatInt(e.sentAt.UnixMilli(), 10)},
	}}}
}
