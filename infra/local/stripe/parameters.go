package stripe

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// parameters is what a POST to /v1/payment_intents says.
type parameters struct {
	request     Request // without the key and the arrival, which are not parameters
	confirm     bool
	offSession  bool
	fingerprint string // equal for equal parameters, in whatever order they were sent
}

// accepted are the parameters of a PaymentIntent that the stand-in knows, besides metadata[…].
var accepted = []string{
	"amount", "currency", "customer", "payment_method", "payment_method_types[]", "payment_method_types[0]",
	"confirm", "off_session", "description",
}

// maxAmount is the largest amount that Stripe takes: "eight digits", in the smallest currency unit.
const maxAmount = 99_999_999

// parse reads the parameters of r, or says which one Stripe would not take, and why. What could be
// read is returned either way, so that faults and hooks see it.
func parse(r *http.Request) (parameters, *failure) {
	if err := r.ParseForm(); err != nil {
		return parameters{}, invalid("", "", "The request body could not be read: "+err.Error())
	}
	form := r.PostForm
	p := parameters{fingerprint: r.Method + " " + r.URL.Path + "?" + form.Encode()}
	p.request.Customer = form.Get("customer")
	p.request.PaymentMethod = form.Get("payment_method")
	p.request.Currency = form.Get("currency")
	p.request.Metadata = map[string]string{}

	if failed := p.readNames(form); failed != nil {
		return p, failed
	}
	if failed := p.readAmount(form); failed != nil {
		return p, failed
	}
	if !isCurrency(p.request.Currency) {
		return p, invalid("currency", "", fmt.Sprintf("Invalid currency: %s.", p.request.Currency))
	}
	var failed *failure
	if p.confirm, failed = readBool(form, "confirm"); failed != nil {
		return p, failed
	}
	if p.offSession, failed = readBool(form, "off_session"); failed != nil {
		return p, failed
	}
	switch {
	case p.offSession && !p.confirm:
		return p, invalid("off_session", "", "off_session can only be used with confirm=true.")
	case p.confirm && p.request.PaymentMethod == "":
		return p, invalid("payment_method", "parameter_missing", "You cannot confirm this PaymentIntent because it's missing a payment method.")
	}
	return p, nil
}

// readNames collects the metadata and turns away what is missing or unknown.
func (p *parameters) readNames(form url.Values) *failure {
	for name := range form {
		if key, ok := strings.CutPrefix(name, "metadata["); ok && strings.HasSuffix(key, "]") {
			p.request.Metadata[strings.TrimSuffix(key, "]")] = form.Get(name)
			continue
		}
		if !slices.Contains(accepted, name) {
			return invalid(name, "parameter_unknown", "Received unknown parameter: "+name)
		}
	}
	for _, name := range []string{"amount", "currency"} {
		if form.Get(name) == "" {
			return invalid(name, "parameter_missing", fmt.Sprintf("Missing required param: %s.", name))
		}
	}
	return nil
}

func (p *parameters) readAmount(form url.Values) *failure {
	amount, err := strconv.ParseInt(form.Get("amount"), 10, 64)
	switch {
	case err != nil:
		return invalid("amount", "parameter_invalid_integer", "Invalid integer: "+form.Get("amount"))
	case amount < 1:
		return invalid("amount", "parameter_invalid_integer", "This value must be greater than or equal to 1.")
	case amount > maxAmount:
		return invalid("amount", "amount_too_large", "Amount must be no more than $999,999.99")
	}
	p.request.Amount = amount
	return nil
}

func readBool(form url.Values, name string) (bool, *failure) {
	switch value := form.Get(name); value {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	default:
		return false, invalid(name, "", "Invalid boolean: "+value)
	}
}

func isCurrency(s string) bool {
	return len(s) == 3 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

func invalid(param, code, message string) *failure {
	return &failure{
		status: http.StatusBadRequest, Type: "invalid_request_error",
		Code: code, Param: param, Message: message,
	}
}
