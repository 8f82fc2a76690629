package mutants

import (
	"regexp"
	"slices"
	"strings"
)

// programs are the tests that mutants are run against.
var programs = map[string]tests{
	"intent":      {module: "library", pkg: "shared/intent"},
	"dynamo":      {module: "library", pkg: "shared/dynamo"},
	"sqsbatch":    {module: "library", pkg: "shared/sqsbatch"},
	"explore":     {module: "proof", pkg: "explore"},
	"environment": {module: "library", pkg: "shared/environment"},
	"ship":        {module: "library", pkg: "functions/ship"},
	"clearcart":   {module: "library", pkg: "functions/clearcart"},
	"adjust":      {module: "library", pkg: "functions/adjust"},
	"charge":      {module: "library", pkg: "functions/charge"},
	"welcome":     {module: "library", pkg: "functions/welcome"},
}

// Tests that wait for a deadline or for backoffs come late. Those that compare the
// text of an expression with another are left out: they kill each mutant of it, and
// say nothing of whether its clauses are needed.
const (
	slow = "TestContract/Transitions/././five|TestContractInGroup/Transitions/././five|TestContract/Errors|TestContractInGroup/Errors|" +
		"TestContractWrites|C02_|EveryThird|TestHeartbeat|CompletionThrottled|TimeoutInsideTheEffect|" +
		"AttemptThatGetsNoAnswer|ClaimHeardTooLate"
	system = "^TestSystem"
	ofText = "^TestConditions|^TestEveryBoundNameAndValueIsUsed$|^TestReservedNames$|^TestUpdateFollowsTheExpressions$"
)

// killers are run in this order: the cheap ones first. A slow test waits; the explorer works, for two minutes of a processor where it
// finds nothing.
var killers = []killer{
	{name: "intent", tests: "intent", pkgs: []string{"shared/intent"}},
	{name: "contract", tests: "dynamo", pkgs: []string{"shared/dynamo"}, only: "^TestContract$", skip: slow},
	{name: "explore", tests: "explore", pkgs: []string{"shared/intent", "shared/dynamo"}, only: "^TestExhaustive$", more: []string{"-deviations=1", "-first"}},
	{name: "dynamo", tests: "dynamo", pkgs: []string{"shared/intent", "shared/dynamo"}, skip: "^TestContract$|" + ofText + "|" + slow},
	{name: "environment", tests: "environment", pkgs: []string{"shared/dynamo"}},
	{name: "sqsbatch", tests: "sqsbatch", pkgs: []string{"shared/intent", "shared/sqsbatch"}, skip: "TestC32FatesAreGathered"},
	{name: "ship", tests: "ship", pkgs: []string{"functions/ship"}, skip: system},
	{name: "clearcart", tests: "clearcart", pkgs: []string{"functions/clearcart"}, skip: system},
	{name: "adjust", tests: "adjust", pkgs: []string{"functions/adjust"}, skip: system},
	{name: "charge", tests: "charge", pkgs: []string{"functions/charge"}, skip: system},
	{name: "welcome", tests: "welcome", pkgs: []string{"functions/welcome"}, skip: system},
	{name: "ship in a system", tests: "ship", pkgs: []string{"functions/ship"}, only: system},
	{name: "clearcart in a system", tests: "clearcart", pkgs: []string{"functions/clearcart"}, only: system},
	{name: "adjust in a system", tests: "adjust", pkgs: []string{"functions/adjust"}, only: system},
	{name: "charge in a system", tests: "charge", pkgs: []string{"functions/charge"}, only: system},
	{name: "welcome in a system", tests: "welcome", pkgs: []string{"functions/welcome"}, only: system},
	{name: "dynamo, slowly", tests: "dynamo", pkgs: []string{"shared/intent", "shared/dynamo"}, only: slow, skip: ofText},
	{name: "sqsbatch, slowly", tests: "sqsbatch", pkgs: []string{"shared/sqsbatch"}, only: "TestC32FatesAreGathered"},
	{name: "explore further", tests: "explore", pkgs: []string{"shared/intent", "shared/dynamo"}, only: "^TestExhaustive$", more: []string{"-deviations=2", "-first"}},
}

// explored are the mutants of package intent that the explorer must find by itself, whatever else does: that
// its histories hold the times and the orders in which they go wrong. Each pattern has a mutant.
var explored = []*regexp.Regexp{
	regexp.MustCompile(`^later: .*\.(Claim|Replace|Amend|Apply)\((claimCtx|ctx), `), // the claim after the effect, the answer before the end
	regexp.MustCompile(`^later: .*\.effect\(`),                                      // the end before the effect
	regexp.MustCompile(`^order: .*[eE]ffect\(.* before if `),                        // the effect before the last look at the lease
	regexp.MustCompile(`^field: Owner: .*: as in `),                                 // a takeover keeps the owner
	regexp.MustCompile(`^field: .*\.Owner = .*: as in `),                            // a settlement does
	regexp.MustCompile(`^field: ClaimedAt: .*: now$`),                               // a takeover counts the provider's window anew
	regexp.MustCompile(`^field: .*\.ClaimedAt = .*: as in `),                        // a settlement keeps it
	regexp.MustCompile(`^field: Attempt: .* \+ 1: as in `),                          // a takeover counts no attempt
	regexp.MustCompile(`^time: rec\.LeaseUntil\.Add\(.*SkewMargin\): without `),
	regexp.MustCompile(`^time: .*windowMargin: without windowMargin$`),
	regexp.MustCompile(`^time: time\.Until\(.*LeaseMargin: without `), // a lease without its margin, or without what is left of the invocation
	regexp.MustCompile(`^time: .*settling\(\): without .*settling\(\)$`),
}

// ofExplorer reports whether one of the explored patterns is a mutant's.
func ofExplorer(m mutant) bool {
	pkg, what, _ := strings.Cut(m.name, " ")
	return pkg == "intent" && slices.ContainsFunc(explored, func(p *regexp.Regexp) bool { return p.MatchString(what) })
}
