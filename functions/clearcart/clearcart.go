package main

import (
	"github.com/singleeffect/once/shared/intent"
)

// checkout is the body of a message.
type checkout struct {
	UserID       intent.ID     `json:"user_id"`
	CheckedOutAt intent.Millis `json:"checked_out_at"`
}

// Validate returns an *intent.PayloadError that names the field at fault.
func (c *checkout) Validate() error {
	if err := c.UserID.Validate("user_id"); err != nil {
		return err
	}
	if c.CheckedOutAt == 0 {
		return &intent.PayloadError{Field: "checked_out_at", Reason: "is missing"}
	}
	return nil
}
