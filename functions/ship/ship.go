package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// shipment is the body of a message.
type shipment struct {
	OrderID   intent.ID     `json:"order_id"`
	ShippedAt intent.Millis `json:"shipped_at"`
}

// Validate returns an *intent.PayloadError that names the field at fault.
func (s *shipment) Validate() error {
	if err := s.OrderID.Validate("order_id"); err != nil {
		return err
	}
	if s.ShippedAt == 0 {
		return &intent.PayloadError{Field: "shipped_at", Reason: "is missing"}
	}
	return nil
}

// shipped is the status that this function writes. The others are told apart by their rank: an order
// goes from one of before, or from none at all, through shipped to one of past, and never back.
const shipped = "shipped"

var (
	before = []string{"pending", "placed", "confirmed", "paid", "processing", "packed"}
	past   = []string{"delivered", "returned", "refunded", "cancelled"}
)

// errMoved is returned when the order that is read no longer is the one that refused the write.
var errMoved = errors.New("order changed between the write and the read")

// errUnknownOrder is returned for an order that has no row.
var errUnknownOrder = errors.New("unknown order")

// refused tells by the order that refused the write whether that is well: it is past shipped, or was
// shipped at the same time or a later one. A status that nobody has ranked is not guessed at. An order
// that is not there may be written a moment later, beside the message; it is quarantined after that.
func (s shipment) refused(order item, a intent.Attempt) error {
	switch {
	case len(order) == 0 && a.Early():
		return intent.NotApplied(errUnknownOrder)
	case len(order) == 0:
		return intent.Quarantine(errUnknownOrder)
	}
	attribute, ok := order[statusAttribute]
	if !ok {
		return s.overtaken(order)
	}
	status, ok := attribute.(*types.AttributeValueMemberS)
	switch {
	case !ok:
		return intent.Quarantine(errors.New("order's status is no string"))
	case slices.Contains(past, status.Value):
		return nil
	case status.Value != shipped && !slices.Contains(before, status.Value):
		return intent.Quarantine(errors.New("order's status is neither before shipped nor past it"))
	}
	return s.overtaken(order)
}

// overtaken tells by an order that is not past shipped whether its time is the one to stay: it was
// shipped then, and is still, or somebody has put it back since.
func (s shipment) overtaken(order item) error {
	attribute, ok := order[shippedAtAttribute]
	if !ok {
		return errMoved
	}
	number, ok := attribute.(*types.AttributeValueMemberN)
	if !ok {
		return intent.Quarantine(errors.New("order's shipped_at is no number"))
	}
	at, err := strconv.ParseFloat(number.Value, 64) // exact for whole milliseconds, and takes what somebody else may have written
	if err != nil {
		return intent.Quarantine(fmt.Errorf("read order's shipped_at: %w", err))
	}
	if at < float64(s.ShippedAt) {
		return errMoved
	}
	return nil
}
