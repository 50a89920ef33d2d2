# What there is to do: `make help`. Needs Go 1.21 or newer, python3-venv and
# make; everything else is fetched.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# A Go that is told to use no toolchain but itself, and is older than go.mod
# wants, may fetch that one after all.
ifneq ($(shell go list -m >/dev/null 2>&1 && echo good),good)
export GOTOOLCHAIN := auto
endif

# The race detector needs a C compiler.
RACE := $(if $(shell command -v $${CC:-gcc}),-race)

# The folder of case files that `make cases` plays.
CASES ?= cmd/cases/testdata

.PHONY: help build tools services clients demo check test soak cases bench clean

help: ## print this
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 10

build: ## build bin/oneticket
	go build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/oneticket ./cmd/oneticket

tools: ## fetch the pinned Envoy to .tools/bin/envoy
	@.ci/envoy

services: ## install redis-server, postgresql and more for the tests, where they are missing and apt-get may
	@.ci/services

clients: ## install the clients of examples/clients from PyPI into .tools/clients
	@.ci/clients

demo: build tools ## a storm of re-fires through a real Envoy, and what arrived of it
	examples/quickstart/run.sh

check: ## formatting, vet, staticcheck, the dependency arrow, generated files
	@unformatted=$$(gofmt -l cmd config dedup examples extproc); \
	if [ -n "$$unformatted" ]; then echo "not formatted:" $$unformatted >&2; exit 1; fi
	go build ./...
	go vet ./...
	go run $(STATICCHECK) ./...
	go test ./cmd/oneticket -run 'TestOneArrow|TestDomainImports|TestFxIsImported'
	go test ./config -run 'TestReferencePage|TestEveryFunction'

test: tools services clients ## everything, end to end through a real Envoy included
	go test $(RACE) -count=1 -timeout 25m ./...

soak: export ONETICKET_SOAK := 1
soak: tools services clients ## the same tests at their full sizes, and ten minutes of every fuzz target
	go test -count=1 -timeout 80m ./...
	.ci/fuzz

cases: tools ## play the case files of CASES=DIR through a real Envoy, one line each
	go run ./cmd/cases '$(CASES)'

bench: tools services ## what the filter costs, side by side with Envoy alone; then Go's benchmarks
	@go run ./cmd/bench
	@go test -run '^$$' -bench . -benchtime 100ms -benchmem ./... | grep -E '^(pkg|Benchmark)'

clean: ## remove what was built and fetched
	rm -rf bin .tools
