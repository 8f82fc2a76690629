package spin

import "slices"

// configuration is one set of the model's parameters (model/parameters.pml).
type configuration struct {
	name    string
	defines []string
	live    bool // a cycle is looked for, in which nothing ends
}

// configurations are what is explored, the largest first. Two workers at a time
// unless WORKERS says otherwise, one late copy unless LATE does.
var configurations = []configuration{
	{"keyed, three workers", []string{"KEYED", "WORKERS=3", "LATE=0", "LEASE=1", "WINDOW=6"}, false},
	{"blind, nothing forgotten", []string{"KEEP"}, false},
	{"keyed, live", []string{"LIVE", "KEYED", "LATE=0"}, true},
	{"keyed, provider dedups what has finished", []string{"KEYED", "FINISHED_ONLY", "LATE=2"}, false},
	{"keyed, heartbeat", []string{"KEYED", "RENEWS"}, false},
	{"keyed, heartbeat, provider dedups what has finished", []string{"KEYED", "FINISHED_ONLY", "RENEWS"}, false},
	{"keyed", []string{"KEYED", "LATE=2"}, false},
	{"blind with probe, three workers", []string{"PROBES", "WORKERS=3"}, false},
	{"keyed, two payloads", []string{"KEYED", "PAYLOADS", "LATE=0"}, false},
	{"blind with probe, heartbeat", []string{"PROBES", "RENEWS", "LATE=2"}, false},
	{"keyed with probe", []string{"KEYED", "PROBES"}, false},
	{"blind, live", []string{"LIVE"}, true},
	{"blind with probe, live", []string{"LIVE", "PROBES"}, true},
	{"blind with probe, two payloads", []string{"PROBES", "PAYLOADS"}, false},
	{"blind with probe, past the retention", []string{"PROBES", "FORGET"}, false},
	{"blind with probe, two payloads, a false no", []string{"PROBES", "PAYLOADS", "FALSE_NO"}, false},
	{"blind with probe, a false no", []string{"PROBES", "FALSE_NO"}, false},
	{"blind with probe", []string{"PROBES", "LATE=2"}, false},
	{"blind", []string{"LATE=2"}, false},
	{"ledger, three workers", []string{"LEDGER", "WORKERS=3", "LATE=2"}, false},
}

// The parameters under which mutants run: the smallest in which the rule counts.
var (
	blind          = configuration{"blind with probe", []string{"PROBES"}, false}
	blindHeartbeat = configuration{"blind with probe, heartbeat", []string{"PROBES", "RENEWS"}, false}
	blindPayloads  = configuration{"blind with probe, two payloads", []string{"PROBES", "PAYLOADS"}, false}
	blindFalseNo   = configuration{"blind with probe, two payloads, a false no", []string{"PROBES", "PAYLOADS", "FALSE_NO"}, false}
	blindRetention = configuration{"blind with probe, past the retention", []string{"PROBES", "FORGET"}, false}
	keyed          = configuration{"keyed", []string{"KEYED"}, false}
	keyedFinished  = configuration{"keyed, provider dedups what has finished", []string{"KEYED", "FINISHED_ONLY"}, false}
	keyedHeartbeat = configuration{"keyed, heartbeat", []string{"KEYED", "RENEWS"}, false}
	ledger         = configuration{"ledger", []string{"LEDGER"}, false}
	live           = configuration{"blind, live", []string{"LIVE"}, true}
)

// mutants are those of model/rules.pml by name.
var mutants = []struct {
	name string
	in   configuration
}{
	{"COMPLETION_IN_ANY_STATE", blind},
	{"COMPLETION_WITHOUT_OWNER", blindFalseNo},
	{"REFUSAL_WITHOUT_OWNER", blind},
	{"RELEASE_IN_ANY_STATE", blind},
	{"RELEASE_WITHOUT_OWNER", keyed},
	{"PARK_IN_ANY_STATE", blind},
	{"PARK_WITHOUT_OWNER", blind},
	{"RENEWAL_IN_ANY_STATE", blindHeartbeat},
	{"RENEWAL_OF_ANY_LEASE", blindHeartbeat},
	{"TAKEOVER_WITHOUT_STATE", keyed},
	{"TAKEOVER_WITHOUT_OWNER", keyedFinished},
	{"PARK_WITHOUT_SHOWN_STATE", blind},
	{"PARK_WITHOUT_SHOWN_OWNER", blind},
	{"SETTLE_WITHOUT_STATE", blind},
	{"SETTLE_WITHOUT_OWNER", blind},
	{"SETTLE_KEEPS_OWNER", keyed},
	{"SHOWN_WITHOUT_LEASE", blindHeartbeat},
	{"CLAIM_UNCONDITIONAL", blind},
	{"OWN_WIN_IN_ANY_STATE", blind},
	{"OWN_WIN_AFTER_LEASE", blind},
	{"ANSWER_FROM_MEMORY", blind},
	{"NO_CONFLICT", blindPayloads},
	{"LAPSED_BLIND_TAKEN_OVER", blind},
	{"TAKEOVER_PUTS", keyed},
	{"EXPIRY_KEPT", blindRetention},
	{"OLD_MESSAGE_CLAIMS", blindRetention},
	{"NO_SKEW_MARGIN", blind},
	{"NO_LAST_LOOK", blind},
	{"NO_TIME_TO_SETTLE", blind},
	{"NO_WINDOW", keyed},
	{"WINDOW_OF_LAPSED_ALONE", keyed},
	{"NO_WINDOW_MARGIN", keyed},
	{"RENEWAL_PAST_WINDOW", keyedHeartbeat},
	{"UNKNOWN_RELEASED", keyedFinished},
	{"BLIND_UNKNOWN_RELEASED", blind},
	{"WINDOW_CLEARED_BY_ALL", keyed},
	{"OWN_CHECK_TRUSTED", keyed},
	{"REFUSAL_SAID_AT_ONCE", ledger},
	{"LAPSED_NOT_TAKEN_OVER", live},
	{"RELEASED_NOT_TAKEN_OVER", live},
	{"DONE_IS_LISTED", live},
	{"DOUBT_ACKNOWLEDGED", live},
	{"SETTLED_NOT_REDRIVEN", live},
}

// Plan is what to check.
type Plan struct {
	configurations []configuration
	mutants        []string
}

// Everything is the proof: every configuration and every mutant. Some minutes on two
// cores.
func Everything() Plan {
	p := Plan{configurations: configurations}
	for _, m := range mutants {
		p.mutants = append(p.mutants, m.name)
	}
	return p
}

// Small is what tests take: some seconds.
func Small() Plan {
	return Plan{
		configurations: []configuration{blind, ledger},
		mutants: []string{"TAKEOVER_WITHOUT_STATE", "PARK_IN_ANY_STATE", "OWN_WIN_AFTER_LEASE", "DOUBT_ACKNOWLEDGED",
			"COMPLETION_WITHOUT_OWNER", "SETTLE_KEEPS_OWNER"},
	}
}

func (p Plan) checks() []check {
	var checks []check
	for _, c := range p.configurations {
		checks = append(checks, check{configuration: c})
	}
	for _, m := range mutants {
		if slices.Contains(p.mutants, m.name) {
			checks = append(checks, check{configuration: m.in, mutant: m.name})
		}
	}
	return checks
}
