package explore

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// chooser decides at every branch of a history. Option 0 is that nothing unusual
// happens.
type chooser interface {
	choose(options int) int
	String() string // the flag that runs the same history again
}

// path is one of the histories with up to a number of deviations. next goes on to
// the next of them.
type path struct {
	branches []branch
	at       int
	budget   int // deviations allowed
	spent    int
}

type branch struct{ options, taken int }

func (p *path) choose(options int) int {
	if p.spent == p.budget || options < 2 {
		return 0
	}
	if p.at == len(p.branches) {
		p.branches = append(p.branches, branch{options: options})
	}
	b := p.branches[p.at]
	if b.options != options {
		panic(fmt.Sprintf("the history is not the same again: branch %d has %d options, and had %d", p.at, options, b.options))
	}
	p.at++
	if b.taken > 0 {
		p.spent++
	}
	return b.taken
}

// next prepares the next history; false after the last.
func (p *path) next() bool {
	p.branches = p.branches[:p.at]
	p.at, p.spent = 0, 0
	for n := len(p.branches) - 1; n >= 0; n-- {
		if b := &p.branches[n]; b.taken+1 < b.options {
			b.taken++
			return true
		}
		p.branches = p.branches[:n]
	}
	return false
}

func (p *path) String() string {
	var t track
	for _, b := range p.branches {
		t.taken = append(t.taken, b.taken)
	}
	return t.String()
}

// track is one path alone: what is taken at each branch, and 0 after that.
type track struct {
	taken []int
	at    int
}

func parseTrack(s string) (*track, error) {
	t := new(track)
	for _, taken := range strings.Split(s, ",") {
		n, err := strconv.Atoi(taken)
		if err != nil {
			return nil, err
		}
		t.taken = append(t.taken, n)
	}
	return t, nil
}

func (t *track) choose(options int) int {
	if options < 2 || t.at == len(t.taken) {
		return 0
	}
	taken := t.taken[t.at]
	if t.at++; taken >= options {
		panic(fmt.Sprintf("no such path: %d of %d options", taken, options))
	}
	return taken
}

func (t *track) String() string {
	var taken []string
	for _, n := range t.taken {
		taken = append(taken, strconv.Itoa(n))
	}
	return "-path=" + cmp.Or(strings.Join(taken, ","), "0")
}

// dice is a history by chance.
type dice struct {
	seed   uint64
	random *rand.Rand
	odds   float64 // of a deviation, at each branch
	left   int     // deviations, so that it ends
}

func newDice(seed uint64) *dice {
	r := rand.New(rand.NewPCG(seed, 11))
	return &dice{seed: seed, random: r, odds: []float64{0.05, 0.2, 0.5}[r.IntN(3)], left: 2 + r.IntN(10)}
}

func (d *dice) choose(options int) int {
	if options < 2 || d.left == 0 || d.random.Float64() >= d.odds {
		return 0
	}
	d.left--
	return 1 + d.random.IntN(options-1)
}

func (d *dice) String() string { return fmt.Sprintf("-seed=%d", d.seed) }
