package queue

import (
	"fmt"
	"net/http"
)

// Error is every refusal of a Service that AWS would give too.
type Error struct {
	// Code is the error's shape name in the SQS model, which the AWS SDKs turn into their error types:
	// "QueueDoesNotExist", "ReceiptHandleIsInvalid", "InvalidParameterValueException" ...
	Code string
	// Message says which value was refused and why.
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Shape names of the errors, from the service's model.
const (
	batchEntryIdsNotDistinct = "BatchEntryIdsNotDistinct"
	batchRequestTooLong      = "BatchRequestTooLong"
	emptyBatchRequest        = "EmptyBatchRequest"
	invalidAttributeName     = "InvalidAttributeName"
	invalidAttributeValue    = "InvalidAttributeValue"
	invalidBatchEntryID      = "InvalidBatchEntryId"
	invalidMessageContents   = "InvalidMessageContents"
	invalidParameterValue    = "InvalidParameterValueException"
	missingParameter         = "MissingRequiredParameterException"
	overLimit                = "OverLimit"
	purgeQueueInProgress     = "PurgeQueueInProgress"
	queueDoesNotExist        = "QueueDoesNotExist"
	queueNameExists          = "QueueNameExists"
	receiptHandleIsInvalid   = "ReceiptHandleIsInvalid"
	resourceNotFound         = "ResourceNotFoundException"
	tooManyEntriesInBatch    = "TooManyEntriesInBatchRequest"
	unknownOperation         = "UnknownOperationException"
	unsupportedOperation     = "UnsupportedOperation"
)

// queryCodes has the codes that differ in the older query protocol. Clients still see them: AWS sends them in the
// header x-amzn-query-error, and the SDKs report them as the error's code.
var queryCodes = map[string]string{
	batchEntryIdsNotDistinct: "AWS.SimpleQueueService.BatchEntryIdsNotDistinct",
	batchRequestTooLong:      "AWS.SimpleQueueService.BatchRequestTooLong",
	emptyBatchRequest:        "AWS.SimpleQueueService.EmptyBatchRequest",
	invalidBatchEntryID:      "AWS.SimpleQueueService.InvalidBatchEntryId",
	invalidParameterValue:    "InvalidParameterValue",
	missingParameter:         "MissingParameter",
	purgeQueueInProgress:     "AWS.SimpleQueueService.PurgeQueueInProgress",
	queueDoesNotExist:        "AWS.SimpleQueueService.NonExistentQueue",
	queueNameExists:          "QueueAlreadyExists",
	tooManyEntriesInBatch:    "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
	unsupportedOperation:     "AWS.SimpleQueueService.UnsupportedOperation",
}

// statuses has the HTTP statuses that are not 400.
var statuses = map[string]int{
	overLimit:              http.StatusForbidden,
	purgeQueueInProgress:   http.StatusForbidden,
	receiptHandleIsInvalid: http.StatusNotFound,
	resourceNotFound:       http.StatusNotFound,
}

func (e *Error) queryCode() string {
	if code, ok := queryCodes[e.Code]; ok {
		return code
	}
	return e.Code
}

func (e *Error) status() int {
	if status, ok := statuses[e.Code]; ok {
		return status
	}
	return http.StatusBadRequest
}

func refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// invalidValue has the wording that AWS uses for most parameters.
func invalidValue(value any, parameter, reason string) *Error {
	return refuse(invalidParameterValue, "Value %v for parameter %s is invalid. Reason: %s", value, parameter, reason)
}
