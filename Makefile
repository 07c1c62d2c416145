# Evenhand: `make demo` and `make test` need only Rust and a compiler on a fresh machine.
# All targets use one profile (release), so that GMP and HiGHS are compiled only once. Programs are built with
# `--workspace --bin`. With `-p`, cargo would choose other features of shared crates than for the tests, and would compile
# the engine again.

CARGO ?= cargo
# Passed to every cargo command that builds. CI sets it to --locked.
CARGO_FLAGS ?=

.DEFAULT_GOAL := help
PREFIX ?= $(HOME)/.local

.PHONY: help setup build install demo test wheel test-python test-readme test-recipe package test-packages dist dist-twice doc book e2e e2e-slurm damage snapshots answers proof lint bench peers accuracy-peers fuzz address drive

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/  make \1@\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F@ '{ printf "%-23s %s\n", $$1, $$2 }'

setup: ## look for the tools of the native builds and install missing tools
	@scripts/setup.sh

build: setup ## compile the programs evenhand and evenhand-check
	@scripts/build.sh $(CARGO) build --release $(CARGO_FLAGS) --workspace --bin evenhand --bin evenhand-check

install: build ## install both programs, the manual and completions into PREFIX (~/.local)
	@scripts/install.sh "$(PREFIX)"

demo: build ## solve, certify, check and compare the Google cluster of the DRFH paper
	@scripts/demo.sh

test: setup ## run all tests, including those of the documentation
	@scripts/build.sh $(CARGO) test --release --workspace $(CARGO_FLAGS)

wheel: setup ## build the Python package with both programs in target/wheels (installs maturin under target/)
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/wheel.sh

dist: wheel ## pack archive, Debian package, wheel, sources, checksums and list of components in target/dist
	@scripts/dist.sh

dist-twice: wheel ## pack the files of dist twice, with a rebuild in between, and compare them
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/dist.sh --twice

package: ## package every crate that may be published in target/package
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/package.sh $(PACKAGE_FLAGS)

# Uncommitted changes are packaged as well.
test-packages: PACKAGE_FLAGS += --allow-dirty
test-packages: setup package ## build and test programs outside this workspace with the packaged crates
	@scripts/test-packages.sh

# PYTHON names the interpreter, 3.9 or later.
test-python: wheel ## test the Python package from the installed wheel (in an environment under target/)
	@scripts/test-python.sh

# Tests the first steps of a new user: a clean copy and a separate environment.
test-readme: setup ## run every command of README.md and compare its output
	@scripts/test-readme.sh

# Compiles the crates of the engine in a copy of the sources.
test-recipe: setup ## follow the recipe "Add a mechanism" of CONTRIBUTING.md in a copy of the sources and run the tests there
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/test-recipe.sh

doc: setup ## build the API documentation with rendered formulas in target/doc
	@RUSTDOCFLAGS="-D warnings --html-in-header $(CURDIR)/docs/katex.html" scripts/build.sh $(CARGO) doc --release --workspace --no-deps $(CARGO_FLAGS)

book: setup ## build the book in target/book (installs mdbook under target/)
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/build.sh scripts/book.sh

e2e: setup ## test the pages in a headless Chromium and verdicts on a real Slurm of 30 nodes (installs both); results in target/e2e
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/build.sh scripts/e2e.sh

e2e-slurm: setup ## test only the verdicts on a real Slurm
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/build.sh scripts/e2e.sh slurm

# 10,000 seeds make a million damaged certificates and take about ten minutes on one processor.
DAMAGE_SEEDS ?= 0 10000
damage: setup ## check a million damaged certificates with the kernel and with plain code (DAMAGE_SEEDS=FROM TO; a stopped run resumes)
	@mkdir -p target/damage
	@scripts/build.sh $(CARGO) build --release $(CARGO_FLAGS) --workspace --features evenhand-testkit/damage --bin damage
	@$${CARGO_TARGET_DIR:-target}/release/damage $(DAMAGE_SEEDS) --state target/damage/state.json --keep target/damage/kept

# Needs Coq, OCaml, js_of_ocaml and Node, which no other target needs. PROOF_SETUP=1 lets root install them.
proof: build ## prove the rules of certificates in Coq, build evenhand-proof and compare it with evenhand-check
	@scripts/build.sh $(CARGO) build --release $(CARGO_FLAGS) --workspace --features evenhand-testkit/damage --bin damage
	@$(MAKE) --no-print-directory -C verification/proof test

# The seeds of random snapshots. 10,000 seeds take some minutes.
SNAPSHOTS ?= 0..10000
snapshots: setup ## compare verdicts and moves of random snapshots with plain loops (SNAPSHOTS=FROM..TO)
	@EVENHAND_SNAPSHOTS=$(SNAPSHOTS) scripts/build.sh $(CARGO) test --release $(CARGO_FLAGS) -p evenhand-cluster --test it starts:: -- --nocapture

# Random problems of 18 shapes, different in every run. With 5,600 problems of each shape, a run has about 100,000 problems.
ANSWERS ?= 5600
ANSWERS_FIRST ?= $(shell date +%s)
ANSWERS_OTHERS ?= 1000
answers: setup ## count the problems that get no answer, by shape: max-min (ANSWERS problems of each shape, from seed ANSWERS_FIRST) and other mechanisms (ANSWERS_OTHERS)
	@scripts/build.sh $(CARGO) run --release $(CARGO_FLAGS) -p evenhand-benches --bin evenhand-benches -- answers $(ANSWERS) --first $(ANSWERS_FIRST)
	@scripts/build.sh $(CARGO) run --release $(CARGO_FLAGS) -p evenhand-benches --bin evenhand-benches -- answers $(ANSWERS_OTHERS) --others --first $(ANSWERS_FIRST)

# The Python package is checked without a Python interpreter.
lint: setup ## check formatting, clippy (warnings are errors), licences and sources of dependencies
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	@PYO3_NO_PYTHON=1 PYO3_BUILD_EXTENSION_MODULE=1 scripts/build.sh $(CARGO) clippy --workspace --all-targets --release $(CARGO_FLAGS) -- -D warnings
	@if $(CARGO) deny --version >/dev/null 2>&1; then \
		set -x; $(CARGO) deny check --hide-inclusion-graph bans licenses sources; \
		$(CARGO) deny check --hide-inclusion-graph advisories \
			|| { $(CARGO) deny fetch >/dev/null 2>&1 && exit 1; echo "lint: ADVISORIES NOT CHECKED beyond .ci/advisories.txt: the database cannot be downloaded"; }; \
	else \
		echo "lint: LICENCES, BANS AND SOURCES NOT CHECKED: cargo-deny is not installed; run 'cargo install cargo-deny'"; \
		echo "lint: ADVISORIES NOT CHECKED beyond .ci/advisories.txt, which is of $$(sed -n 's/.*; commit .* of \(.*\)\.$$/\1/p' .ci/advisories.txt)"; \
	fi
	@scripts/advisories.py || echo "lint: CRATES NOT COMPARED with .ci/advisories.txt: Python 3.11 or later is needed"

bench: setup ## measure the engine's times (see benches/README.md for growth and comparisons)
	@scripts/build.sh $(CARGO) bench $(CARGO_FLAGS) -p evenhand-benches

peers: ## measure the times of alternatives (Python, QSopt_ex, glpsol) on the same problem
	@benches/peers/run.sh

# OPTIONS are passed to `evenhand bench accuracy`.
accuracy-peers: build ## measure the accuracy of Python solvers and of evenhand against exact answers (Python environment under target/; OPTIONS)
	@benches/peers/accuracy/run.sh $(OPTIONS)

# The minutes for all fuzz targets together.
MINUTES ?= 10
fuzz: setup ## fuzz all targets together for MINUTES (installs cargo-fuzz if it is missing; see fuzz/README.md)
	@scripts/fuzz.sh -m $(MINUTES)

address: setup ## run the tests of the interface to HiGHS with the address sanitizer (nightly compiler)
	@scripts/fuzz.sh --address

# The number of program runs, about a hundred per second.
RUNS ?= 20000
DRIVE_SEED ?= 0
drive: build ## run both programs RUNS times with hostile input (a stopped run resumes)
	@scripts/build.sh $(CARGO) build --release $(CARGO_FLAGS) -p evenhand-oracles --bin drive
	@$${CARGO_TARGET_DIR:-target}/release/drive $(RUNS) --seed $(DRIVE_SEED) --state target/drive/$(DRIVE_SEED)
