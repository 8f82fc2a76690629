package soak

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/singleeffect/once/infra/local/demo"
	"github.com/singleeffect/once/shared/intent"
)

// Report is the account of a run. Readers rely on its names.
type Report struct {
	Intents     int    `json:"intents"`
	Deliveries  int    `json:"deliveries"`   // messages handed to a function
	Kills       int    `json:"kills"`        // processes killed while they ran a batch
	LostReplies int    `json:"lost_replies"` // of services that had applied what they were asked
	Refused     int    `json:"refused"`      // intents, by their records
	InDoubt     int    `json:"in_doubt"`     // intents, by their records
	Redriven    int    `json:"redriven"`     // messages
	Duplicates  int    `json:"duplicates"`   // effects beyond those due, summed over intents
	Lost        int    `json:"lost"`         // intents without their effect, of which nobody was told
	Outage      Outage `json:"outage"`

	odd    int // intents whose record or quarantine does not fit
	strays []string
	leaks  []string
	wanted Config
}

func (r *Report) count(e demo.Ended, v verdict) {
	r.Intents++
	switch e.Record.Kind {
	case intent.Refused:
		r.Refused++
	case intent.InDoubt:
		r.InDoubt++
	}
	r.Duplicates += v.duplicates
	if v.lost {
		r.Lost++
	}
	if v.odd != "" {
		r.odd++
	}
}

// Err says what a run failed to show.
func (r Report) Err() error {
	switch {
	case r.Duplicates > 0 || r.Lost > 0:
		return fmt.Errorf("%d duplicates and %d losses", r.Duplicates, r.Lost)
	case r.Outage.DeadLettered > 0 || r.Outage.Duplicates > 0 || r.Outage.Seconds == 0:
		return fmt.Errorf("an outage of %d s dead-letters %d messages, and %d take effect twice", r.Outage.Seconds, r.Outage.DeadLettered, r.Outage.Duplicates)
	case r.odd > 0:
		return fmt.Errorf("%d intents whose record or quarantine does not fit", r.odd)
	case len(r.strays) > 0:
		return fmt.Errorf("in quarantine, and nobody's: %q", r.strays)
	case len(r.leaks) > 0:
		return fmt.Errorf("told of messages, rows or secrets: %q", r.leaks)
	case r.Intents < r.wanted.Intents || r.Kills < r.wanted.Kills:
		return fmt.Errorf("%d intents and %d kills, want %d and %d: the run proves too little",
			r.Intents, r.Kills, r.wanted.Intents, r.wanted.Kills)
	case r.LostReplies == 0:
		return fmt.Errorf("no reply was lost: the run proves too little")
	case 2*operations*r.InDoubt > r.Intents: // most e-mails: what is doubted everywhere does nothing either
		return fmt.Errorf("%d of %d intents are in doubt", r.InDoubt, r.Intents)
	}
	return nil
}

// JSON writes the account on one line.
func (r Report) JSON(out io.Writer) error {
	return json.NewEncoder(out).Encode(map[string]any{"soak": r})
}
