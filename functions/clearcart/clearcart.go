package main

import (
	"fmt"

	"github.com/singleeffect/once/shared/intent"
)

// checkout is the body of a message.
type checkout struct {
	UserID       intent.ID     `json:"user_id"`
	CheckedOutAt intent.Millis `json:"checked_out_at"`
}

// maxUserID is the longest partition key, in bytes, that DynamoDB takes (Amazon DynamoDB quotas,
// "Partition key length").
const maxUserID = 2048

// Validate returns an *intent.PayloadError that names the field at fault.
func (c *checkout) Validate() error {
	switch {
	case c.UserID == "":
		return &intent.PayloadError{Field: "user_id", Reason: "is missing or empty"}
	case len(c.UserID) > maxUserID:
		return &intent.PayloadError{Field: "user_id", Reason: fmt.Sprintf("has %d bytes, the limit is %d", len(c.UserID), maxUserID)}
	case c.CheckedOutAt == 0:
		return &intent.PayloadError{Field: "checked_out_at", Reason: "is missing"}
	}
	return nil
}
