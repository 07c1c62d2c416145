# Evenhand: `make demo` and `make test` do everything on a fresh machine with Rust and a compiler.
# One profile (release) serves all of them, so that GMP and HiGHS are compiled once.

CARGO ?= cargo
# Passed to every cargo command that builds; CI sets it to --locked.
CARGO_FLAGS ?=

.DEFAULT_GOAL := help
PREFIX ?= $(HOME)/.local

.PHONY: help setup build install demo test wheel test-python test-readme package test-packages dist dist-twice doc book e2e e2e-slurm damage snapshots answers proof lint bench peers accuracy-peers fuzz address drive

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1@\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F@ '{ printf "%-14s %s\n", $$1, $$2 }'

setup: ## find what the native builds need, install what is missing
	@scripts/setup.sh

build: setup ## compile the binaries evenhand and evenhand-check
	@scripts/build.sh $(CARGO) build --release $(CARGO_FLAGS) -p evenhand -p evenhand-check

install: build ## both programs, manual and completions, into PREFIX (~/.local)
	@scripts/install.sh "$(PREFIX)"

demo: build ## the Google cluster of the DRFH paper: solved, certified, checked, compared
	@scripts/demo.sh

test: setup ## all tests, of the documentation too
	@scripts/build.sh $(CARGO) test --release --workspace $(CARGO_FLAGS)

wheel: setup ## the Python package with both programs, in target/wheels (installs maturin under target/)
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/wheel.sh

dist: wheel ## archive, Debian package, wheel, sources, sums and list of components, in target/dist
	@scripts/dist.sh

dist-twice: wheel ## the same twice, compiled anew in between, and compared
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/dist.sh --twice

package: ## every crate that may be published, as a registry gets it, in target/package
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/package.sh $(PACKAGE_FLAGS)

# What is not committed yet is packaged as well.
test-packages: PACKAGE_FLAGS += --allow-dirty
test-packages: setup package ## programs outside of this workspace, on the packaged crates
	@scripts/test-packages.sh

# PYTHON names the interpreter, 3.9 or later.
test-python: wheel ## the tests of the Python package, on the installed wheel (in an environment under target/)
	@scripts/test-python.sh

# Somebody new: a user and an environment of their own, a clean copy.
test-readme: setup ## run every command of README.md as it is printed
	@scripts/test-readme.sh

doc: setup ## the API documentation, its formulas rendered, in target/doc
	@RUSTDOCFLAGS="-D warnings --html-in-header $(CURDIR)/docs/katex.html" scripts/build.sh $(CARGO) doc --release --workspace --no-deps $(CARGO_FLAGS)

book: setup ## the book, in target/book (installs mdbook under target/)
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/build.sh scripts/book.sh

e2e: setup ## open the pages in a headless Chromium, judge a real Slurm of 30 nodes (installs both); pictures and dumps in target/e2e
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/build.sh scripts/e2e.sh

e2e-slurm: setup ## the real Slurm alone
	@CARGO_FLAGS="$(CARGO_FLAGS)" scripts/build.sh scripts/e2e.sh slurm

# 10,000 seeds make a million damaged certificates, in about ten minutes of one processor.
DAMAGE_SEEDS ?= 0 10000
damage: setup ## judge damaged certificates by the kernel and plainly, a million of them (DAMAGE_SEEDS=FROM TO; goes on where it stopped)
	@mkdir -p target/damage
	@scripts/build.sh $(CARGO) build --release $(CARGO_FLAGS) -p evenhand-testkit --features damage --bin damage
	@$${CARGO_TARGET_DIR:-target}/release/damage $(DAMAGE_SEEDS) --state target/damage/state.json --keep target/damage/kept

# Coq and OCaml , js_of_ocaml and Node, which nothing else needs; PROOF_SETUP=1 lets root install them.
proof: build ## prove the rules of certificates in Coq, build evenhand-proof, compare it with evenhand-check
	@scripts/build.sh $(CARGO) build --release $(CARGO_FLAGS) -p evenhand-testkit --features damage --bin damage
	@$(MAKE) --no-print-directory -C verification/proof test

# Seeds of random snapshots: 10,000 take some minutes.
SNAPSHOTS ?= 0..10000
snapshots: setup ## hold verdicts and moves of random snapshots against plain loops (SNAPSHOTS=FROM..TO)
	@EVENHAND_SNAPSHOTS=$(SNAPSHOTS) scripts/build.sh $(CARGO) test --release $(CARGO_FLAGS) -p evenhand-cluster --test it starts:: -- --nocapture

# Random problems of 18 shapes, other ones for every start; 5,600 of each are 100,000.
ANSWERS ?= 5600
ANSWERS_FIRST ?= $(shell date +%s)
ANSWERS_OTHERS ?= 1000
answers: setup ## count the problems without an answer, by shape: max-min (ANSWERS of each, from seed ANSWERS_FIRST) and others (ANSWERS_OTHERS)
	@scripts/build.sh $(CARGO) run --release $(CARGO_FLAGS) -p evenhand-benches --bin evenhand-benches -- answers $(ANSWERS) --first $(ANSWERS_FIRST)
	@scripts/build.sh $(CARGO) run --release $(CARGO_FLAGS) -p evenhand-benches --bin evenhand-benches -- answers $(ANSWERS_OTHERS) --others --first $(ANSWERS_FIRST)

# The Python package is looked at without a Python.
lint: setup ## formatting, clippy with warnings as errors, licences and sources of dependencies
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	@PYO3_NO_PYTHON=1 PYO3_BUILD_EXTENSION_MODULE=1 scripts/build.sh $(CARGO) clippy --workspace --all-targets --release $(CARGO_FLAGS) -- -D warnings
	@if $(CARGO) deny --version >/dev/null 2>&1; then \
		set -x; $(CARGO) deny check --hide-inclusion-graph bans licenses sources; \
		$(CARGO) deny check --hide-inclusion-graph advisories \
			|| { $(CARGO) deny fetch >/dev/null 2>&1 && exit 1; echo "lint: ADVISORIES NOT CHECKED beyond .ci/advisories.txt: no database"; }; \
	else \
		echo "lint: licences, bans and sources not checked: cargo-deny is not installed (cargo install cargo-deny)"; \
		echo "lint: ADVISORIES NOT CHECKED beyond .ci/advisories.txt, which is of $$(sed -n 's/.*; commit .* of \(.*\)\.$$/\1/p' .ci/advisories.txt)"; \
	fi
	@scripts/advisories.py || echo "lint: Python 3.11 is needed to say which crates .ci/advisories.txt was not asked about"

bench: setup ## time the engine against itself (see benches/README.md for growth and rivals)
	@scripts/build.sh $(CARGO) bench $(CARGO_FLAGS) -p evenhand-benches

peers: ## time what one would use instead (Python, QSopt_ex, glpsol) on the same problem
	@benches/peers/run.sh

# OPTIONS go to bench accuracy.
accuracy-peers: build ## solvers of Python against exact answers, beside ours (a Python environment under target/); OPTIONS
	@benches/peers/accuracy/run.sh $(OPTIONS)

# Minutes of all targets together.
MINUTES ?= 10
fuzz: setup ## fuzz all targets, MINUTES in all (installs cargo-fuzz where it is missing; see fuzz/README.md)
	@scripts/fuzz.sh -m $(MINUTES)

address: setup ## the tests of the boundary to HiGHS with the address sanitizer (nightly)
	@scripts/fuzz.sh --address

# Programs that are run: about a hundred in a second.
RUNS ?= 20000
DRIVE_SEED ?= 0
drive: build ## attack both programs from outside, RUNS times (goes on where it stopped)
	@scripts/build.sh $(CARGO) build --release $(CARGO_FLAGS) -p evenhand-oracles --bin drive
	@$${CARGO_TARGET_DIR:-target}/release/drive $(RUNS) --seed $(DRIVE_SEED) --state target/drive/$(DRIVE_SEED)
