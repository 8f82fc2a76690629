package main

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/stripe/stripe-go/v83"

	"github.com/singleeffect/once/shared/intent"
)

// outage marks what speaks of Stripe as a whole and not of one intent, as intent.RetryAfter does: no
// readable answer, a limit, a status from 500 on. A stored answer is the key's own, and lock_timeout that of an
// object that somebody else holds. err is Stripe's error, said what may be logged of it.
func outage(err, said error) error {
	var e *stripe.Error
	switch {
	case !errors.As(err, &e):
		return intent.RetryAfter(said, 0)
	case e.HTTPStatusCode == http.StatusTooManyRequests && e.Code != stripe.ErrorCodeLockTimeout,
		e.HTTPStatusCode >= http.StatusInternalServerError && !replayed(e.LastResponse):
		return intent.RetryAfter(said, retryAfter(e.LastResponse))
	}
	return said
}

// retryAfter reads the header Retry-After, in seconds or as a date (RFC 9110, section 10.2.3); 0 without one.
func retryAfter(r *stripe.APIResponse) time.Duration {
	if r == nil {
		return 0
	}
	header := r.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(header, 10, 16); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
