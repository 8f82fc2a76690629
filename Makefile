# Two kinds of target: build-…Function, which `sam build` calls, and those for people (`make` lists them). Works from GNU make 3.81 on,
# which is what macOS has.
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# The functions, by the first part of their logical id in template.yaml; a function's folder is its lower-case form.
FUNCTIONS := Charge Adjust Ship Clearcart Welcome

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

modules = $(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path './.*/*'))
# Runs $(1) in every module, and stops at the first that fails.
in_modules = @for module in $(modules); do echo "$$module: $(1)" && (cd "$$module" && $(1)) || exit 1; done

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile

# What SAM runs for a function with BuildMethod: makefile. A static pattern rule, since .PHONY takes no others; and phony, since only Go
# knows what a binary depends on. Static, trimmed and stripped; lambda.norpc leaves out the code of a runtime that is no more.
#
# The binary is of the architecture that template.yaml says. SAM hands make no parameter, so it is a literal there: what is deployed
# with a template was built by it. Another one is built on make's own command line alone, into a folder that no sam deploy looks into.
arm64 := arm64
x86_64 := amd64
stated = $(shell sed -n 's/^ *Architectures: *\[ *\([^], ]*\) *\].*/\1/p' template.yaml)
architecture = $(if $(filter environment,$(origin ARCHITECTURE)),$(error ARCHITECTURE is in the environment, which SAM hands on: template.yaml \
	says what the functions are built for),$(or $(ARCHITECTURE),$(stated)))
go_architecture = $(or $($(filter arm64 x86_64,$(1))),$(error the architecture is "$(1)": it must be arm64 or x86_64))

sam_targets := $(FUNCTIONS:%=build-%Function)
.PHONY: $(sam_targets)
$(sam_targets): build-%Function:
	$(if $(ARTIFACTS_DIR),,$(error ARTIFACTS_DIR is not set. SAM sets it; without SAM, run make build))
	@mkdir -p "$(ARTIFACTS_DIR)"
	CGO_ENABLED=0 GOOS=linux GOARCH=$(call go_architecture,$(architecture)) go build -buildvcs=false -trimpath -tags lambda.norpc \
		-ldflags '-s -w -buildid=' -o "$(ARTIFACTS_DIR)/bootstrap" ./functions/$(shell echo $* | tr A-Z a-z)

# With a template that names the binaries and their architecture, for sam local invoke --template.
.PHONY: build
build: ## build each function without SAM, into .build/arm64 (or ARCHITECTURE=x86_64), with a template for sam local invoke
	@for function in $(FUNCTIONS:%=%Function); do \
		$(MAKE) build-$$function ARTIFACTS_DIR=.build/$(architecture)/$$function || exit 1; done
	@awk '/^    CodeUri: / { next } \
		/^    Architectures: / { print "    Architectures: [$(architecture)]"; next } \
		{ print } \
		/^  [A-Za-z][A-Za-z]*Function:$$/ { code = $$1; sub(":", "", code) } \
		code && /^    Properties:$$/ { print "      CodeUri: " code; code = "" }' template.yaml >.build/$(architecture)/template.yaml

# Built and then exec'd, not `go run`, which passes no signal on: whoever ends make ends the stack.
local = @cd infra/local && go build -o ../../.build/local . >&2 && exec ../../.build/local

.PHONY: demo up invoke soak e2e
demo: ## run every function and its naive twin while workers are killed, and count the effects (N=100 intents of each kind)
	$(local) demo $(if $(N),--intents=$(N))

up: ## start what template.yaml declares on this machine
	$(local) up

invoke: ## invoke one function with one event: FUNCTION=charge EVENT=events/<name>.json
	$(if $(and $(FUNCTION),$(EVENT)),,$(error say what to invoke: make invoke FUNCTION=charge EVENT=events/<name>.json))
	$(local) invoke $(FUNCTION) "$(abspath $(EVENT))"

soak: ## kill every function by the hundred while the network fails, and count the effects (INTENTS=5000 KILLS=500 SEED=1)
	$(local) soak $(if $(INTENTS),--intents=$(INTENTS)) $(if $(KILLS),--kills=$(KILLS)) $(if $(SEED),--seed=$(SEED))

e2e: ## deploy broken versions of a function here, and see that the alarms of template.yaml take each back
	$(local) e2e

.PHONY: proof scoreboard bench
proof: ## prove it, for about an hour: millions of histories, mutants of the code, worker processes, the formal model
	@cd infra/proof && go build -o ../../.build/prove ./prove >&2 && exec ../../.build/prove

scoreboard: ## run the same faults against Once, its peer and a conditional put, and count the effects (README=1 writes the table there)
	@cd infra/proof && go build -o ../../.build/scoreboard ./scoreboard >&2 && exec ../../.build/scoreboard $(if $(README),--readme=../../README.md)

bench: ## measure what a message costs, beside the peers (README=1 writes the table and the plot there)
	@cd infra/bench && go build -o ../../.build/bench . >&2 && exec ../../.build/bench $(if $(README),--readme=../../README.md)

.PHONY: test race histories fuzz java
test: java lint race histories fuzz ## run every check and every test of every module

# Not from Go's cache of results, which does not see a change to what a test reads outside its module, such as template.yaml.
race:
	$(call in_modules,go test -count=1 -race ./...)

# More than 100,000, which the race detector would make last for many minutes.
histories: ## run the code through every history of two deviations, and many by chance
	cd infra/proof && go test -count=1 ./explore -run '^(TestExhaustive|TestRandom|TestSDK)$$' -args -deviations=2 -random=3000 -least=100000

# Two at a time. An input that fails stays under its package's testdata/fuzz. Go may also end a target that found nothing with "context
# deadline exceeded", when FUZZTIME ends in the middle of an input.
FUZZTIME := 30s
fuzz: ## fuzz what reads other people's bytes (FUZZTIME=10m for longer)
	@grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' . | sed 's|/[^/]*:func | |' | xargs -P 2 -L 1 sh -c 'cd "$$0" && found= && \
		out=$$(go test -run "^$$" -fuzz "^$$1$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=1s -parallel=1 . 2>&1) || case $$out in \
			*"Failing input"*) found=yes;; *"    context deadline exceeded"*) ;; *) found=yes;; esac; \
		if [ -n "$$found" ]; then echo "$$0 $$1: $$out"; exit 1; fi; \
		echo "$$1: $$(echo "$$out" | grep fuzz: | tail -n 1)"'

java:
	@java -version >/dev/null 2>&1 || { echo 'java is missing: DynamoDB Local, which the tests run on, needs Java 17 or' \
		'later (Debian: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk)' >&2; exit 1; }

.PHONY: lint gofmt tidy vet staticcheck cfn-lint cdk-nag govulncheck
lint: gofmt tidy vet staticcheck cfn-lint cdk-nag govulncheck ## run the checks without the tests

gofmt:
	@unformatted=$$(gofmt -l .) && if [ -n "$$unformatted" ]; then echo "gofmt -w these: $$unformatted" >&2; exit 1; fi

tidy:
	$(call in_modules,go mod tidy -diff)

vet:
	$(call in_modules,go vet ./...)

staticcheck:
	$(call in_modules,go run $(STATICCHECK) ./...)

cfn-lint:
	@if command -v cfn-lint >/dev/null; then cfn-lint template.yaml; else echo 'template.yaml not linted: cfn-lint is not installed'; fi

# A system without Python's or npm's part of it says so.
cdk-nag:
	sh infra/nag/run.sh

# It ends with 3 for a vulnerability, which `go run` only prints; with anything else, most often, where its database is out of reach.
govulncheck:
	@for module in $(modules); do \
		echo "$$module: govulncheck ./..."; \
		found=$$(cd "$$module" && go run $(GOVULNCHECK) ./... 2>&1) && continue; \
		echo "$$found" >&2; \
		case $$found in *'exit status 3'*) exit 1;; esac; \
		echo 'not checked for known vulnerabilities: see above'; exit 0; \
	done
