# Packhorse: every task has one name. `make` alone lists them.
#
# Everything is built in .build: `make demo` builds without optimization, all others in release mode, which they share.

SHELL := /bin/bash
.DEFAULT_GOAL := help
# `demo` installs what is missing before `build` looks for it.
.NOTPARALLEL:
.PHONY: device-check device-faults gateway-check gateway-break bench-gateway help bootstrap needs build debug testable year bench-build device-bench-build library docs test quick check format reference demo chaos s3-test bench bench-pieces bench-device bench-coordinator compose-test fuzz interop compat-test dependency-test proto regions clean simulate web-test check-monitoring

# SwiftPM's own import check lets some undeclared imports through (6.3.1: those that something below declares);
# ops/check-layers, part of `make check`, refuses them all.
# Times and the reasons for these flags: docs/decisions/0068-build-time.md. DEBUG_INFO=dwarf adds lines to backtraces; changing it
# builds everything again.
DEBUG_INFO ?= none
BUILD := swift build -c release -debug-info-format $(DEBUG_INFO) --explicit-target-dependency-import-check error
DEBUG := swift build --disable-index-store -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2
TEST := ops/run-tests $(TEST_FLAGS)
# Tests import modules with @testable, which needs this variable (Package.swift). A clone that never built the tests goes without it;
# once they were built, every build keeps it, so that no module is compiled twice for `make build` and `make test`.
ifneq ($(wildcard .build/testable),)
export PACKHORSE_TESTABLE := 1
endif
# The program says its commit; a build that is not of a git tree finds it in its sources.
export PACKHORSE_COMMIT := $(shell ops/commit)
SWIFT_SOURCES := Package.swift Sources Tests
QUICK := PACKHORSE_MODULES=Tiles,Regions,Wire,Scheduling,Errors

help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

bootstrap: ## install what is missing (Debian packages; root or sudo) and the map library of the web page; only this, test, simulate, demo and s3-test install
	@ops/bootstrap
	$(if $(filter bootstrap,$(MAKECMDGOALS)),@ops/web-lib >/dev/null || true)

needs:
	@ops/bootstrap --check

build: needs ## build the packhorse binary: .build/release/packhorse; installs nothing, and names what is missing
	$(BUILD) --product packhorse

debug: needs ## build the packhorse binary without optimization, in half the time: .build/debug/packhorse
	$(DEBUG) --product packhorse

# The same modules as the program, linked once more; a variable adds the product, so that no other build links it.
library: needs ## build the library for C, Python and Java: .build/release/libofflinemaps.so (docs/other-languages.md)
	PACKHORSE_C=1 $(BUILD) --product offlinemaps

docs: needs ## build the documentation of OfflineMaps as a web site: .build/docs (articles and all public names, by docc)
	$(DEBUG) --target OfflineMaps
	@ops/docs

bench-build: build
	$(BUILD) --product packhorse-bench

device-bench-build: build
	for product in bench-device bench-maps-start bench-sqlite-start; do PACKHORSE_BENCH=1 $(BUILD) --product $$product; done

testable:
	@mkdir -p .build && touch .build/testable

test s3-test simulate quick: export PACKHORSE_TESTABLE := 1

test: testable ## everything CI runs: bootstrap, check, build, counted instructions, all tests (TEST_FLAGS="--filter X" narrows it)
	@ops/phase bootstrap ops/bootstrap
	@ops/phase check ops/check
	@ops/phase build $(BUILD) --build-tests
	@ops/phase library env PACKHORSE_C=1 $(BUILD) --product offlinemaps
	@ops/phase count ops/count-instructions
	@ops/phase test $(TEST)

# A build folder of its own: changing the modules of a build folder builds them again.
quick: ## build and test only the pure modules (Tiles, Regions, Wire, Scheduling, Errors); under a minute after the first time
	@ops/phase build env $(QUICK) $(BUILD) --build-tests --scratch-path .build/quick
	@ops/phase test env $(QUICK) swift test -c release --skip-build --disable-xctest --scratch-path .build/quick

SEEDS ?= 10000
simulate: bootstrap testable ## simulate the scheduler, the client library and the gateway with random faults, for nights (FROM=S SEEDS=N; PACKHORSE_SEED=S replays one)
	$(BUILD) --build-tests
	ops/simulate "$(SEEDS)" "$(FROM)"

check: ## everything that needs no build: format, layers, documents, web page, generated code, scripts
	@ops/check

reference: build ## write docs/reference/cli.md and metrics.md again from the commands and the tables of metrics
	.build/release/packhorse manual --markdown docs/reference

format: ## let swift format rewrite the sources
	swift format format --in-place --parallel --configuration .swift-format --recursive $(SWIFT_SOURCES)

demo: bootstrap debug ## a country of the demo world through a coordinator and workers, on this machine, offline
	.build/debug/packhorse demo

chaos: build ## kill, cut, fill, flood and lie to real processes; ONLY="words" one fault, CASES=20 for a night, SEED=N (about 10 min)
	ops/chaos/run --cases $(or $(CASES),1) --seed $(or $(SEED),1) --only "$(ONLY)"

year: build ## twelve monthly rebuilds of 40 regions with kills, changing sources and bad builds; staging, live and devices compared tile by tile (SEED=N; 2 min)
	ops/year/run --seed $(or $(SEED),1)

month: $(if $(PROGRAM),,build) ## thirty firings of 40 regions: a lost coordinator, full disks, an upgrade, bad releases; alerts and history compared (FIRINGS=N SEED=N PROGRAM=FILE BEFORE=FILE; about 10 min; root)
	@ops/s3-server install
	ops/month/run --seed $(or $(SEED),1) --firings $(or $(FIRINGS),30) $(if $(PROGRAM),--program "$(PROGRAM)") $(if $(BEFORE),--before "$(BEFORE)")

web-test: build ## the web page in Chromium against a real gateway and a running job; screenshots (IMAGES=docs/images writes those of the documents)
	@ops/web-test $(if $(IMAGES),--images $(IMAGES)) $(if $(WEB_LIB),--web-lib $(WEB_LIB))

compose-test: ## build the container image, run a cluster of three workers in Docker, check its package (10 min, then 1; IMAGE=FILE: that of make image, 2 min)
	@ops/compose-test $(IMAGE)

# PROGRAM=FILE packs that program instead of building one.
.PHONY: month deb deb-library deb-web deb-test machines-test image release manifests-test swarm-test slurm-test
deb: $(if $(PROGRAM),,build) ## make the Debian packages in .build/deb: program, manual pages, completions, systemd units (PROGRAM=FILE: without a build)
	@ops/deb/build $(if $(PROGRAM),--program "$(PROGRAM)")

deb-library: $(if $(LIBRARY),,library) ## make the Debian packages of the library for apps: libofflinemaps, libofflinemaps-dev (LIBRARY=FILE: without a build)
	@ops/deb/library $(if $(LIBRARY),--library "$(LIBRARY)")

deb-web: ## make the Debian package packhorse-web: MapLibre GL JS for the web page, from PyPI
	@ops/deb/web

image: $(if $(PROGRAM),,build) ## make the container image without Docker: .build/image, for docker load, with the list of its contents (root; 1 min; PROGRAM=FILE)
	@ops/release/image $(if $(PROGRAM),--program "$(PROGRAM)")

release: $(if $(PROGRAM),,build library) ## make the files of a release: packages, tar.gz, image if made, lists of contents, SHA-256 sums, signature (KEY=FILE; PROGRAM, LIBRARY)
	@ops/release/build $(if $(PROGRAM),--program "$(PROGRAM)") $(if $(LIBRARY),--library "$(LIBRARY)") $(if $(KEY),--key "$(KEY)")

deb-test: deb ## install the package in a clean Debian 12 with a real systemd: services, upgrade in mid-job, removal, purge (root; 5 min)
	@ops/deb/test .build/deb $(PROGRAM)

machines-test: deb ## two machines with the Debian package and its guide alone: keys, a package of one's own tileset, a lost coordinator (root; 5 min)
	@ops/deb/test-machines .build/deb

manifests-test: $(if $(PROGRAM),,build) ## render ops/kubernetes and validate it for three versions of Kubernetes; seeded faults (1 min)
	@ops/manifests-test $(if $(PROGRAM),--program "$(PROGRAM)")

swarm-test: $(if $(PROGRAM),,build) ## the stack of ops/swarm on three Docker engines in network namespaces: updates, a lost engine, scaling (root; 5 min)
	@ops/swarm/test $(if $(PROGRAM),--program "$(PROGRAM)")

slurm-test: $(if $(PROGRAM),,build) ## the array of ops/slurm on a real Slurm of this machine: scancel, requeue, time limit (root; 2 min)
	@ops/slurm/test $(if $(PROGRAM),--program "$(PROGRAM)")

s3-test: testable ## the S3 tests, which fail where make test would skip them: a real server from a Debian package
	@ops/bootstrap
	@ops/s3-server install
	$(BUILD) --build-tests
	PACKHORSE_S3_TEST=1 $(TEST) --filter 'ObjectStoreTests|S3Tests|GuideTests'

bench: bench-build ## Compare Packhorse with lower bounds in C and with other downloaders; report targets met or missed (25 min; BENCH="--quick" 3)
	@ops/bench/run $(BENCH)

bench-coordinator: bench-build ## a coordinator under 1,000 simulated workers and 100 million tiles: batches/s, CPU, memory, rows
	@ops/bench/coordinator

bench-pieces: bench-build ## Measure hot functions, planning, and start of the command line against baselines: met or missed (half a minute)
	@ops/bench/pieces $(BENCH_FLAGS)

bench-device: device-bench-build ## Measure the library for apps next to raw SQLite, curl and sha256sum: met or missed (5 min; BENCH_FLAGS=--write)
	@ops/bench/device $(BENCH_FLAGS)

fuzz: ## fuzz the decoders of foreign bytes, SECONDS_EACH (60) for each (libFuzzer; a build of its own)
	@ops/fuzz

interop: build ## clients of others read every format (pmtiles, MapLibre Native from PyPI); each skips with a reason
	@ops/interop/run

check-monitoring: build ## ops/monitoring against a real Prometheus: every alert fires (root; 4 min; skipped without Debian's prometheus)
	@ops/check-monitoring

device-check: build ## the acceptance checks of the client library: real catalogs, failing web servers, killed processes (3 min)
	@ops/device-check $(CHECKS)

gateway-check: build ## the 18 acceptance checks of the gateway: coordinator, curl, nginx, Chromium, slowhttptest, schemathesis (8 min)
	@ops/gateway-check $(CHECKS)

gateway-break: build ## attempts to break a gateway: malformed requests, bounds, paths, kills, publications, faults (10 min; BREAK_FLAGS=--quick)
	@ops/gateway-break $(BREAK_FLAGS) $(CHECKS)

bench-gateway: build ## Measure the gateway next to nginx and MapCache: met or missed (8 min; BENCH_FLAGS=--write)
	@ops/bench/gateway $(BENCH_FLAGS)

device-faults: build ## the fault table of the client library: every call killed or failed, servers that lie, full disks (hours; FAULTS="--short" a minute)
	@ops/device-faults $(or $(FAULTS),--nightly --self-test)

dependency-test: ## packages outside of this checkout name PackhorseFormats and OfflineMaps by version, build, and read maps (6 min)
	@ops/dependency-test

compat-test: build ## workers of an older version with this coordinator, and the reverse (ops/compat-test COMMIT)
	@ops/compat-test

proto: ## regenerate the Swift code of packhorse.proto (needs protoc, protoc-gen-swift and python3)
	ops/check-proto --write

regions: ## rebuild the embedded world tree from Debian packages, byte for byte
	ops/regions/build

clean: ## remove everything that was built
	rm -rf .build
