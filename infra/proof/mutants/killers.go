package mutants

// programs are the tests that mutants are run against.
var programs = map[string]tests{
	"intent":    {module: "library", pkg: "shared/intent"},
	"dynamo":    {module: "library", pkg: "shared/dynamo"},
	"sqsbatch":  {module: "library", pkg: "shared/sqsbatch"},
	"explore":   {module: "proof", pkg: "explore"},
	"ship":      {module: "library", pkg: "functions/ship"},
	"clearcart": {module: "library", pkg: "functions/clearcart"},
	"adjust":    {module: "library", pkg: "functions/adjust"},
}

// Tests that wait for a deadline or for backoffs come last. Those that compare the
// text of an expression with another are left out: they kill each mutant of it, and
// say nothing of whether its clauses are needed.
const (
	slow = "TestContract/Transitions/././five|TestContractInGroup/Transitions/././five|TestContract/Errors|TestContractInGroup/Errors|" +
		"TestContractWrites|C02_|EveryThird|TestHeartbeat|CompletionThrottled|TimeoutInsideTheEffect|" +
		"AttemptThatGetsNoAnswer|ClaimHeardTooLate"
	ofText = "^TestConditions|^TestEveryBoundNameAndValueIsUsed$|^TestReservedNames$|^TestUpdateFollowsTheExpressions$"
)

// killers are run in this order: the cheap ones first.
var killers = []killer{
	{name: "intent", tests: "intent", pkgs: []string{"shared/intent"}},
	{name: "contract", tests: "dynamo", pkgs: []string{"shared/dynamo"}, only: "^TestContract$", skip: slow},
	{name: "dynamo", tests: "dynamo", pkgs: []string{"shared/intent", "shared/dynamo"}, skip: "^TestContract$|" + ofText + "|" + slow},
	{name: "sqsbatch", tests: "sqsbatch", pkgs: []string{"shared/intent", "shared/sqsbatch"}, skip: "TestC32FatesAreGathered"},
	{name: "explore", tests: "explore", pkgs: []string{"shared/intent", "shared/dynamo"}, only: "^TestExhaustive$", more: []string{"-deviations=2"}},
	{name: "ship", tests: "ship", pkgs: []string{"functions/ship"}},
	{name: "clearcart", tests: "clearcart", pkgs: []string{"functions/clearcart"}},
	{name: "adjust", tests: "adjust", pkgs: []string{"functions/adjust"}},
	{name: "dynamo, slowly", tests: "dynamo", pkgs: []string{"shared/intent", "shared/dynamo"}, only: slow, skip: ofText},
	{name: "sqsbatch, slowly", tests: "sqsbatch", pkgs: []string{"shared/sqsbatch"}, only: "TestC32FatesAreGathered"},
}

// explored are mutants that the explorer must find by itself, whatever else does: that
// its histories hold the times and the orders in which they go wrong.
var explored = []string{
	"the effect before the claim",
	"the completion before the effect",
	"the end after its answer",
	"a settlement keeps the owner",
	"a settlement keeps the provider's window",
	"a takeover keeps the owner",
	"a takeover counts the provider's window anew",
	"a takeover counts no attempt",
	"a takeover without the skew margin",
	"the provider's window without its margin",
	"a lease without its margin",
	"a lease of half the invocation",
	"a no of the probe without the settle time",
}
