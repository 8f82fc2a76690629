package memdb

import (
	"crypto/sha256"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	// maxToken and tokenLife are a ClientRequestToken's longest length and how long it is remembered (Amazon DynamoDB,
	// "TransactWriteItems").
	maxToken  = 36
	tokenLife = 10 * time.Minute
)

// tokens are those of the transactions that were committed, the eldest first. A transaction that was cancelled is tried anew.
type tokens []usedToken

type usedToken struct {
	token, fingerprint string
	at                 time.Time
}

func (t *tokens) remember(token, fingerprint string, now time.Time) {
	if token != "" {
		*t = append(*t, usedToken{token, fingerprint, now})
	}
}

// find forgets what is too old and looks for the token.
func (t *tokens) find(token string, now time.Time) (fingerprint string, found bool) {
	for len(*t) > 0 && now.Sub((*t)[0].at) >= tokenLife {
		*t = (*t)[1:]
	}
	for _, used := range *t {
		if used.token == token {
			return used.fingerprint, true
		}
	}
	return "", false
}

// fingerprintOf tells inputs apart, and none by the order of its maps.
func fingerprintOf(actions []types.TransactWriteItem) string {
	sum := sha256.Sum256(encode(actions))
	return string(sum[:])
}

func (r *request) replayed(t *transaction, token, fingerprint string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.replay(t, token, fingerprint)
}

// replay reports a transaction that was committed before under the same token, which costs reading what it wrote. The database
// is locked.
func (r *request) replay(t *transaction, token, fingerprint string) (bool, error) {
	if token == "" {
		return false, nil
	}
	known, found := r.tokens.find(token, r.now())
	switch {
	case !found:
		return false, nil
	case known != fingerprint:
		message := "The request was rejected because it attempted to use an idempotent token with different parameters"
		return false, &types.IdempotentParameterMismatchException{Message: &message}
	}
	for _, w := range t.writes {
		size := 0
		if found := w.table.find(w.key); found != nil {
			size = found.size
		}
		r.cost(w.table, 2*readUnits(size, true), 0)
	}
	return true, nil
}
