BIN     := bin/kubectl-dopolicy
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION)
# Loading Go plugins is never asked of the kustomize library; where it can be, the linker drops nothing.
TAGS    := kustomize_disable_go_plugin_support
LINTER  := go tool -modfile=tools/go.mod staticcheck

.DEFAULT_GOAL := help
.PHONY: help build install demo test lint golden docs bench fuzz verify

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: ## build bin/kubectl-dopolicy
	go build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/kubectl-dopolicy

install: ## install kubectl-dopolicy where go install puts programs
	go install -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' ./cmd/kubectl-dopolicy

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

test: ## run go vet and every test
	go vet ./...
	go test ./...

lint: ## check formatting, go vet and staticcheck
	$(check-format)
	go vet ./...
	$(LINTER) ./...

golden: ## rewrite the golden files and testscript transcripts, to be read as a diff
	UPDATE_GOLDEN=1 go test -count=1 ./...

docs: ## generate the command reference and the JSON Schemas under docs
	go run ./internal/docgen

bench: ## compare the speed with policy-machinery, print what each part takes (BENCH=-quick: in seconds)
	go run -C bench . $(BENCH)

.PHONY: bench-check
bench-check:
	go vet -C bench ./...
	go vet -C bench/peer ./...
	go test -C bench ./...

FUZZTIME ?= 1h
fuzz: ## fuzz every target for FUZZTIME (1h), one after the other
	@for at in $$(grep -rl '^func Fuzz' --include='*_test.go' pkg | sort); do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p' $$at); do \
	    echo "$$(dirname $$at) $$target"; \
	    go test ./$$(dirname $$at) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
	  done; \
	done

verify: ## check that generated docs, formatting and go.mod are up to date
	$(check-format)
	go mod verify
	go mod tidy -diff
	go run ./internal/docgen -check
