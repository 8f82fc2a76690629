package main

import (
	"errors"
	"strings"

	"github.com/singleeffect/once/shared/secret"
)

// apiKeyConfig says what is a usable API key of Stripe's. variable is the environment variable that names it,
// or holds it.
func apiKeyConfig(variable string) secret.Config {
	return secret.Config{Variable: variable, Check: checkAPIKey}
}

// checkAPIKey takes the keys that may charge: secret ones and restricted ones, of either mode. What
// else is in a key is Stripe's to say.
// Source: https://docs.stripe.com/keys
func checkAPIKey(text string) error {
	kind, rest, _ := strings.Cut(text, "_")
	switch {
	case kind == "pk":
		return errors.New("is a publishable key of Stripe's (pk_), want a secret one (sk_) or a restricted one (rk_)")
	case kind != "sk" && kind != "rk" || rest == "":
		return errors.New("is no API key of Stripe's: it begins neither with sk_ nor with rk_")
	case strings.ContainsFunc(rest, notOfAKey):
		return errors.New("is no API key of Stripe's: it holds more than letters, digits and underscores")
	}
	return nil
}

func notOfAKey(c rune) bool {
	return !(c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
}
