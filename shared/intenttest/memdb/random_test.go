package memdb

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// More seeds, more steps: go test ./shared/intenttest/memdb -run '^TestRandomSequences$' -args -seeds=8 -steps=5000
var (
	seed   = flag.Uint64("seed", 1, "of the first random sequence of calls")
	seeds  = flag.Int("seeds", 4, "how many sequences, each by the next seed")
	steps  = flag.Int("steps", 75, "of each random sequence of calls")
	report = flag.String("report", "", "write how many calls were made, and how many sequences differ, to this file")
)

// stride is after how many calls both engines' items are compared, too.
const stride = 75

// TestRandomSequences makes the same calls, drawn at random over a few keys, on both engines.
func TestRandomSequences(t *testing.T) {
	t.Parallel()
	var calls, differences atomic.Int64
	t.Run("sequences", func(t *testing.T) { // ends when all of them have
		for i := range *seeds {
			seed := *seed + uint64(i)
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				defer func() {
					if t.Failed() {
						differences.Add(1)
					}
				}()
				calls.Add(int64(sequence(t, seed)))
			})
		}
	})
	if *report == "" {
		return
	}
	text, err := json.Marshal(map[string]int64{"calls": calls.Load(), "differences": differences.Load()})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*report, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// sequence makes the calls of a seed until one is answered in two ways, since what follows would follow from that, and says how
// many it made.
func sequence(t *testing.T, seed uint64) (calls int) {
	defer func() {
		if t.Failed() {
			t.Logf("again: go test ./shared/intenttest/memdb -run '^TestRandomSequences$' -args -seed=%d -seeds=1 -steps=%d", seed, *steps)
		}
	}()
	e := newEngines(t)
	e.anyFault = true
	d := &dice{rand.New(rand.NewPCG(seed, 0)), e}
	for calls < *steps && !t.Failed() {
		what, call := d.call()
		e.same(t, fmt.Sprintf("seed %d, step %d: %s", seed, calls, what), call)
		if calls++; calls%stride == 0 || calls == *steps {
			e.sameItems(t)
		}
	}
	return calls
}

// dice draws calls. Each attribute has one type, so that updates fail as often as they should and not more.
type dice struct {
	*rand.Rand
	*engines
}

func pick[T any](d *dice, from ...T) T { return from[d.IntN(len(from))] }

func (d *dice) id() string                    { return fmt.Sprint("k", d.IntN(6)) }
func (d *dice) number() types.AttributeValue  { return n(d.IntN(7) - 2) }
func (d *dice) word() types.AttributeValue    { return s(pick(d, "", "a", "ab", "abc", "b")) }
func (d *dice) wordSet() types.AttributeValue { return ss([]string{"a", "b", "c"}[:1+d.IntN(3)]...) }
func (d *dice) list() types.AttributeValue {
	return l([]types.AttributeValue{d.number(), d.word(), d.number()}[:d.IntN(4)]...)
}
func (d *dice) show() types.ReturnValuesOnConditionCheckFailure { return pick(d, "", allOld) }

func (d *dice) item(id string) item {
	it := item{"id": s(id)}
	// In the order of a slice: that of a map would draw otherwise each time.
	for i, draw := range []func() types.AttributeValue{d.number, d.word, d.wordSet, d.list} {
		if d.IntN(3) > 0 {
			it[[]string{"n", "s", "ss", "l"}[i]] = draw()
		}
	}
	if d.IntN(3) == 0 {
		it["m"] = m(item{"n": d.number(), "s": d.word()})
	}
	if d.IntN(12) == 0 {
		it["pad"] = s(long(d.IntN(5000)))
	}
	return it
}

// condition draws a condition and the values that it mentions.
func (d *dice) condition(values item) string {
	value := func(v types.AttributeValue) string {
		name := fmt.Sprint(":c", len(values))
		values[name] = v
		return name
	}
	operator := pick(d, "=", "<>", "<", "<=", ">", ">=")
	switch d.IntN(14) {
	case 0:
		return "attribute_exists(" + pick(d, "id", "n", "m.n", "l[1]") + ")"
	case 1:
		return "attribute_not_exists(" + pick(d, "id", "n", "m.n", "l[1]") + ")"
	case 2:
		return pick(d, "n", "m.n", "l[0]", "size(s)", "size(l)", "size(ss)") + " " + operator + " " + value(d.number())
	case 3:
		return pick(d, "s", "m.s", "l[1]") + " " + operator + " " + value(d.word())
	case 4:
		return "contains(ss, " + value(d.word()) + ")"
	case 5:
		return "begins_with(s, " + value(d.word()) + ")"
	case 6:
		return "n IN (" + value(d.number()) + ", " + value(d.number()) + ")"
	case 7:
		return "n BETWEEN " + value(n(-d.IntN(2))) + " AND " + value(n(d.IntN(4)))
	case 8:
		return pick(d, "n "+operator+" m.n", "m.s "+operator+" s", "size(s) "+operator+" n")
	case 9:
		return "NOT " + d.condition(values)
	case 10:
		return "(" + d.condition(values) + " AND " + d.condition(values) + ")"
	case 11:
		return d.condition(values) + " OR " + d.condition(values)
	case 12:
		return pick(d, "ss", "l") + " = " + value(pick(d, d.wordSet, d.list)())
	}
	return "attribute_type(" + pick(d, "n", "s", "l", "m.n") + ", " + value(s(pick(d, "N", "S", "L"))) + ")"
}

// maybeCondition is nil half of the time.
func (d *dice) maybeCondition(values item) *string {
	if d.IntN(2) == 0 {
		return nil
	}
	return aws.String(d.condition(values))
}

// update draws an update. A safe one succeeds whatever item there is.
func (d *dice) update(values item, safe bool) string {
	value := func(v types.AttributeValue) string {
		name := fmt.Sprint(":u", len(values))
		values[name] = v
		return name
	}
	sets := []string{"s = " + value(d.word()), "n = if_not_exists(n, " + value(d.number()) + ") + " + value(d.number()),
		"l = list_append(if_not_exists(l, " + value(d.list()) + "), " + value(d.list()) + ")", "#r = " + value(d.word())}
	removes := []string{"gone", "pad", "q"}
	if !safe {
		sets = append(sets, "n = n - "+value(d.number()), "m.n = n", "s = m.s", "l[1] = "+value(d.word()), "l[9] = n", "q = l", "m.l = s")
		removes = append(removes, "m.s", "n", "l[0]", "l[1]", "l[2]", "m.gone.x")
	}
	text := "SET " + strings.Join(d.some(sets), ", ")
	if d.IntN(2) == 0 {
		text += " REMOVE " + strings.Join(d.some(removes), ", ")
	}
	if d.IntN(3) == 0 {
		text += " ADD ss " + value(d.wordSet()) + ", hits " + value(n(1))
	} else if d.IntN(3) == 0 {
		text += " DELETE ss " + value(d.wordSet())
	}
	for name := range values { // those of the alternatives that were not taken
		if strings.HasPrefix(name, ":u") && !mentions(text, name) {
			delete(values, name)
		}
	}
	return text
}

func mentions(text, name string) bool {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,()", c) }) {
		if word == name {
			return true
		}
	}
	return false
}

// some are one to three of the texts, of which none begins with the same attribute as another one.
func (d *dice) some(texts []string) []string {
	var taken []string
	for _, i := range d.Perm(len(texts))[:1+d.IntN(3)] {
		fits := true
		for _, other := range taken {
			fits = fits && firstWord(other) != firstWord(texts[i])
		}
		if fits {
			taken = append(taken, texts[i])
		}
	}
	return taken
}

func firstWord(text string) string {
	name, _, _ := strings.Cut(text, " ")
	return name
}

func namesOf(text string) map[string]string {
	if strings.Contains(text, "#r") {
		return map[string]string{"#r": "state"}
	}
	return nil
}

func orNil(values item) item {
	if len(values) == 0 {
		return nil
	}
	return values
}
