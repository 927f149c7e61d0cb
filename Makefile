# Tests are compiled as releases are, without C and machine paths, so that no package is compiled twice.
export CGO_ENABLED := 0
export GOFLAGS     := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)

BIN     := bin/kubectl-dopolicy
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null)
COMMIT  ?= $(shell git describe --match= --always --abbrev=40 --dirty 2>/dev/null)
DATE    ?= $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
# What is not known here stays empty; the program then says what the go command recorded.
LDFLAGS = -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE)
# Loading Go plugins is never asked of the kustomize library; where it can be, the linker drops nothing.
TAGS    := kustomize_disable_go_plugin_support
LINTER  := go tool -modfile=tools/go.mod staticcheck
RELEASE := PATH="$(CURDIR)/bin/tools:$$PATH"
# In a clone without a remote goreleaser does not look at the commit.
REMOTE  := GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/dopolicy/kubectl-dopolicy

.DEFAULT_GOAL := help
.PHONY: help build install demo demo-report page test test-hostile test-browser test-cluster test-library test-duckdb test-action test-mcp test-health test-metrics lint golden docs bench fuzz completions snapshot verify schemas pictures bench-check differential test-proxies image test-image vulnerabilities

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: ## build bin/kubectl-dopolicy, and bin/dopolicy-draw, which draws pictures for it
	go build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

install: ## install both where go install puts programs
	go install -tags $(TAGS) -ldflags '$(LDFLAGS)' ./cmd/...

# $(call show,ARGUMENTS) prints a command, then runs it.
define show
	@printf '\n$$ %s\n' '$(BIN) $(1)'
	@$(BIN) $(1)
endef

check-format = @files=$$(gofmt -l .); test -z "$$files" || { echo "not formatted (gofmt -w .):"; echo "$$files"; exit 1; }

demo: build ## build the tool and ask it about the shop in testdata/demo (no cluster needed)
	$(call show,effective baker -f testdata/demo)
	$(call show,reach authpolicy/gw-auth/geo -f testdata/demo)
	$(call show,overridden gw-auth -f testdata/demo)
	$(call show,explain baker/rule-1 limits.cap -f testdata/demo)
	$(call show,prove --hosts shop.example.com --require AuthPolicy -f testdata/demo)
	$(call show,prove --hosts shop.example.com --require authentication -f testdata/demo) || test $$? = 1 # it is refuted: an AuthPolicy lets anonymous requests in

demo-report: build ## write the report of the shop in testdata/demo to bin/demo-report.html
	$(BIN) report -f testdata/demo > bin/demo-report.html
	@echo 'open bin/demo-report.html in a browser'

NPM := npm --prefix web

web/node_modules: web/package.json web/package-lock.json
	@npm --version > /dev/null && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || { echo 'error: the page of reports needs npm and Node.js 20 or newer'; exit 1; }
	$(NPM) ci
	@touch $@

page: web/node_modules ## build the page of reports, which pkg/report embeds, from web/
	$(NPM) run build

test: ## run go vet and the tests that need nothing but Go, make and git, in 3 minutes
	go vet ./...
	go test -short -timeout 30m ./...

# What runs against the clock is not for a machine that does something else at the same time.
test-hostile: ## run the tests with input made to harm, and those that measure time and memory
	go test -timeout 30m ./internal/hostiletest ./internal/reportgen
	go test -timeout 30m -run 'TestFleetsAreForgotten|TestLimits|TestConditionBombs|TestBodyIsSearchedQuickly|TestManyPoliciesOnOneTarget' \
	  ./pkg/...

test-browser: web/node_modules build ## check the page of reports and try it in Chromium (needs npm and Chromium)
	$(NPM) run check
	$(NPM) test

# VECTORS=all applies every vector to the server, in place of a few of each vendor.
test-cluster: ## run the tests against a real API server, which the first run builds (5 minutes)
	go vet -C test/cluster ./...
	VECTORS=$(VECTORS) go test -C test/cluster -timeout 40m ./...

test-library: ## use pkg/dopolicy as a dependency would, and compare with what the program prints
	go vet -C test/library ./...
	go test -C test/library -timeout 20m ./...

test-health: ## run the health checks for Argo CD and Flux on what is predicted and reported of all vectors
	go vet -C test/health ./...
	go test -C test/health -timeout 20m ./...

test-duckdb: ## run the SQL of docs/fleet.md with DuckDB, which the first run downloads (needs a C++ compiler)
	CGO_ENABLED=1 go vet -C test/duckdb ./...
	CGO_ENABLED=1 go test -C test/duckdb ./...

test/mcp/node_modules: test/mcp/package.json test/mcp/package-lock.json
	npm --prefix test/mcp ci
	@touch $@

test-mcp: test/mcp/node_modules build ## ask the server for agents with the protocol's client in TypeScript (needs npm), and 1,000 times
	npm --prefix test/mcp test
	go test -run 'TestManyCalls' ./internal/mcptest

test-action: ## check the GitHub Action, the GitLab component and workflows with linters (needs shellcheck and pip)
	go vet -C test/action ./...
	go test -C test/action ./...

test-metrics: ## read what -o openmetrics writes with the parsers of Prometheus, and check the alerts and the dashboard of deploy/metrics
	go vet -C test/metrics ./...
	go test -C test/metrics -timeout 40m ./...

lint: ## check formatting, go vet and staticcheck
	$(check-format)
	go vet ./...
	$(LINTER) ./...

golden: ## rewrite the golden files and testscript transcripts, to be read as a diff
	UPDATE_GOLDEN=1 go test -count=1 ./...

docs: ## generate the command reference and the JSON Schemas under docs
	go run ./internal/kindgen
	go run ./internal/docgen

schemas: ## take the schemas of vendors' releases into plugins/*/schemas; loads the modules that have them
	go run ./internal/schemagen

pictures: ## draw the pictures of docs/graph.md
	go build -o bin/ ./cmd/dopolicy-draw
	PATH="$(CURDIR)/bin:$$PATH" go run ./internal/picturegen

bench: ## compare the speed with policy-machinery, print what each part takes (BENCH=-quick: in seconds; BENCH=-large: a million rules)
	go run -C bench . $(BENCH)

bench-check:
	go vet -C bench ./...
	go vet -C bench/peer ./...
	go test -C bench ./...

SEEDS ?= 1..1000
differential: ## compare random inputs with the vendors' own code (DIFF=PEER, SEEDS=1..5000)
	go run -C test/differential . -peer '$(DIFF)' -seeds $(SEEDS) $(if $(DIFF),,-truth ../../docs/truth.md)

test-proxies: ## ask real proxies what `request` says of random requests (PROXIES=VENDOR, SEEDS=1..50); gets Envoy, builds the vendors' code
	go run -C test/proxies . -proxies '$(PROXIES)' $(if $(filter file,$(origin SEEDS)),,-seeds $(SEEDS)) $(if $(PROXIES),,-truth ../../docs/truth.md)
	go run -C test/proxies . -proxies '$(PROXIES)' -policies -requests 12 -seeds $(if $(filter file,$(origin SEEDS)),1..500,$(SEEDS)) $(if $(PROXIES),,-truth ../../docs/truth.md)
	go run -C test/proxies . -proxies '$(PROXIES)' -audit -seeds $(if $(filter file,$(origin SEEDS)),1..100,$(SEEDS))

FUZZTIME ?= 1h
fuzz: ## fuzz every target for FUZZTIME (1h), one after the other
	@for at in $$(grep -rl '^func Fuzz' --include='*_test.go' cmd internal pkg plugins | sort); do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p' $$at); do \
	    echo "$$(dirname $$at) $$target"; \
	    go test ./$$(dirname $$at) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
	  done; \
	done

completions: build ## write the completion script of each shell to bin/completion
	@mkdir -p bin/completion
	$(BIN) completion bash > bin/completion/kubectl-dopolicy.bash
	$(BIN) completion zsh > bin/completion/_kubectl-dopolicy
	$(BIN) completion fish > bin/completion/kubectl-dopolicy.fish
	$(BIN) completion powershell > bin/completion/kubectl-dopolicy.ps1

# The first time, this builds goreleaser and krew, which takes minutes. PLATFORM=linux_amd64 builds for that platform alone.
CONFIG   = $(if $(PLATFORM),bin/goreleaser.yaml,.goreleaser.yaml)
PLATFORM_WORDS = $(subst _, ,$(PLATFORM))
snapshot: ## build the archives of a release into dist, publish nothing, and install them with krew
	go build -C tools/release -o $(CURDIR)/bin/tools/ tool
	go build -C tools/krew -o $(CURDIR)/bin/tools/ tool
	$(RELEASE) goreleaser check
	$(if $(PLATFORM),sed 's/&goos .*/\&goos [$(word 1,$(PLATFORM_WORDS))]/; s/&goarch .*/\&goarch [$(word 2,$(PLATFORM_WORDS))]/' .goreleaser.yaml > $(CONFIG))
	$(RELEASE) $(REMOTE) goreleaser release --snapshot --clean --skip=sign --config $(CONFIG)
	go run ./internal/krewmanifest dist $(PLATFORM)
	$(RELEASE) .ci/installed dist $(PLATFORM)
	$(if $(filter-out darwin% windows%,$(or $(PLATFORM),linux)),$(MAKE) image IMAGE_DIST=dist)

IMAGE_PLATFORMS ?= linux/amd64 linux/arm64
CYCLONEDX := go tool -modfile=tools/release/go.mod cyclonedx-gomod
# Of programs that are built here; of those of a release with IMAGE_DIST=dist.
image: ## build the container image for Kubernetes as an OCI layout in bin/image, without a daemon, with an SBOM for each platform beside it
	@mkdir -p bin/image-programs
ifndef IMAGE_DIST
	$(foreach p,$(IMAGE_PLATFORMS),GOOS=$(word 1,$(subst /, ,$p)) GOARCH=$(word 2,$(subst /, ,$p)) go build -tags $(TAGS) -ldflags '-s -w $(LDFLAGS)' -o bin/image-programs/$(subst /,_,$p) ./cmd/kubectl-dopolicy && \
	  $(CYCLONEDX) bin -json -std -noserial -notimestamp -version '$(or $(VERSION),$(COMMIT))' -output bin/image.$(subst /,_,$p).cdx.json bin/image-programs/$(subst /,_,$p) &&) true
endif
	go run -C tools/image . $(if $(IMAGE_DIST),-dist $(abspath $(IMAGE_DIST)),$(foreach p,$(IMAGE_PLATFORMS),-program $p=$(CURDIR)/bin/image-programs/$(subst /,_,$p))) \
	  -licence $(CURDIR)/LICENSE -out $(CURDIR)/bin/image -version '$(VERSION)' -commit '$(COMMIT)' -created '$(DATE)'

test-image: ## test what the image is made of, and start it with nothing around it
	go vet -C tools/image ./...
	go test -C tools/image ./...

# A copy of the database makes it work offline: make vulnerabilities VULNDB=file:///path/to/vulndb
VULNDB ?= https://vuln.go.dev
vulnerabilities: ## look for known vulnerabilities in what the program calls (VULNDB=file:///…: offline)
	go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 -db $(VULNDB) -tags $(TAGS) ./...

verify: ## check that generated docs, formatting and go.mod are up to date
	$(check-format)
	go mod verify
	go mod tidy -diff
	cd bench && go mod tidy -diff
	cd test/cluster && go mod tidy -diff
	cd test/duckdb && go mod tidy -diff
	cd test/action && go mod tidy -diff
	cd test/health && go mod tidy -diff
	cd test/metrics && go mod tidy -diff
	cd tools/image && go mod tidy -diff
	cd test/differential && go mod tidy -diff
	cd test/proxies && go mod tidy -diff
	go run ./internal/kindgen -check
	go run ./internal/docgen -check
	go run ./internal/picturegen -check
