# The verbs of the project, one line each; whatever is longer stands in crates/xtask. `.ci/run` runs `check` and `test`.
.DEFAULT_GOAL := help
.PHONY: help run cluster chaos test test-all check fmt generated tools conformance conformance-0.3 fuzz api-fuzz bench bench-wide bench-versions bench-redis

# What `make run` hands to the gateway, for example: make run ARGS='run --config my.toml'
ARGS ?= run
# What `make cluster` goes by, for example: make cluster CLUSTER='--balancer envoy --config my.toml --http 8090'
CLUSTER ?=

help: ## list these verbs
	@awk -F ': ## ' '/^[a-z0-9.-]+: ## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build and start the gateway on this machine, with a demo agent and no further set-up
	@cargo run --package gateway-server --bin a2a-gateway -- $(ARGS)

cluster: ## three replicas, a Redis and nginx on this machine, until Ctrl-C; says where to send requests
	@cargo xtask cluster $(CLUSTER)

chaos: ## kill replicas and masters of Redis under tasks and subscribers, and count what came of it; LONG=1 for more of it
	@cargo xtask chaos $(if $(LONG),--long)

test: ## all tests but the long ones, with the time of each part
	@cargo xtask test

test-all: ## all tests
	@cargo xtask test --all

check: ## everything else that has to be right before a commit, with the time of each part
	@cargo xtask check

fmt: ## lay out all code
	@cargo fmt --all

generated: ## write the files that commands write
	@cargo xtask generated --write

tools: ## fetch the tools that cargo doesn't bring, into .tools
	@cargo xtask tools

conformance: ## run the official compatibility suite that lies in TCK_DIR, once for each profile of deploy/conformance
	@cargo xtask conformance $(TCK_DIR)

conformance-0.3: ## run the official compatibility suite of protocol 0.3 that lies in TCK_DIR
	@cargo xtask conformance-0.3 $(TCK_DIR)

bench: ## what the gateway costs, held against limits; on a quiet machine, in less than twelve minutes
	@cargo xtask bench

bench-wide: ## more figures, and no limits
	@cargo xtask bench --wide

bench-versions: ## what a call costs in protocol 0.3 over 1.0, held against limits; on a quiet machine, in ten minutes
	@cargo xtask bench --versions

bench-redis: ## what the store costs over Redis itself, held against limits; on a quiet machine, in a minute
	@cargo xtask bench-redis

fuzz: ## a million hostile inputs for each decoder, in about twenty minutes
	@cargo xtask fuzz

api-fuzz: ## HTTP+JSON called by its OpenAPI document, with whatever its schemas allow and forbid
	@cargo xtask api-fuzz
