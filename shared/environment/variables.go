// Package environment makes what every function of the stack is made of out of
// its environment variables, which template.yaml declares.
package environment

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go/middleware"
)

// Variables reads environment variables and keeps what is wrong with them, so
// that one error names all that is missing.
type Variables struct {
	lookup  func(string) (string, bool)
	options []func(*middleware.Stack) error // of clients
	missing []string
	invalid []string
}

// NewVariables reads through lookup: os.LookupEnv, but for tests. Every client that is
// made of the variables has the options, too, such as a recorder of calls.
func NewVariables(lookup func(string) (string, bool), options ...func(*middleware.Stack) error) *Variables {
	return &Variables{lookup: lookup, options: options}
}

// Required returns a variable that must be set and not empty.
func (v *Variables) Required(name string) string {
	value := v.Optional(name)
	if value == "" {
		v.missing = append(v.missing, name)
	}
	return value
}

// Optional returns a variable, empty if it is not set.
func (v *Variables) Optional(name string) string {
	value, _ := v.lookup(name)
	return value
}

// Whole returns a required whole number of units, 1 or more.
func (v *Variables) Whole(name string, unit time.Duration) time.Duration {
	value := v.Required(name)
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || int64(n) > int64(1<<62/unit) {
		v.invalid = append(v.invalid, fmt.Sprintf("%s=%q is not a whole number from 1", name, value))
		return 0
	}
	return time.Duration(n) * unit
}

// Switch returns an optional truth value, false if it is not set.
func (v *Variables) Switch(name string) bool {
	value := v.Optional(name)
	on := strings.EqualFold(value, "true")
	if value != "" && !on && !strings.EqualFold(value, "false") {
		v.invalid = append(v.invalid, fmt.Sprintf("%s=%q is neither true nor false", name, value))
	}
	return on
}

// Here returns a required address of this machine: what is sent there, such as a
// token, leaves it neither by mistake nor unencrypted.
func (v *Variables) Here(name string) string {
	value := v.Required(name)
	address, err := url.Parse(value)
	if value != "" && (err != nil || address.Scheme != "http" || !here(address.Hostname())) {
		v.invalid = append(v.invalid, fmt.Sprintf("%s=%q is no http address of this machine", name, value))
	}
	return value
}

// here reports a host that is this machine, or the link-local address where AWS's
// agents answer.
func here(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip.IsLoopback() || ip.IsLinkLocalUnicast()
}

// Err returns a *Error for all variables that were missing or unusable so far.
func (v *Variables) Err() error {
	if len(v.missing)+len(v.invalid) == 0 {
		return nil
	}
	return &Error{Missing: v.missing, Invalid: v.invalid}
}

// Error names the environment variables that are missing or unusable.
type Error struct {
	Missing []string // names
	Invalid []string // name, value and what is wrong with it
}

func (e *Error) Error() string {
	var parts []string
	if len(e.Missing) > 0 {
		parts = append(parts, "missing "+strings.Join(e.Missing, ", "))
	}
	return "environment: " + strings.Join(append(parts, e.Invalid...), "; ")
}
