# The whole list of things one runs; `make help` prints it.

# Right after rustup's installation the shell does not know its folder yet.
export PATH := $(PATH):$(HOME)/.cargo/bin

MEANWHILE := cargo run --quiet --release --package meanwhile --
LAB := cargo run --quiet --release --package meanwhile-lab --
FUZZ_SECONDS ?= 600
BENCH := .cache/bench

.DEFAULT_GOAL := help
.PHONY: help setup build report test test-long docs site deb vscode dist dependencies bench fuzz lint clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing (says what first; root only for Debian packages)
	@scripts/setup.sh

# ONLY=audit, or several with commas: installs, builds and reports no more than they need.
ONLY ?=
export ONLY

build: setup ## build in release mode
	cargo build --release --package meanwhile --package meanwhile-lab
	$(if $(ONLY),$(if $(findstring overlap,$(ONLY)),$(MEANWHILE) overlap plugin),$(MEANWHILE) overlap plugin)

report: build ## run every system on its bundled input; write report/index.html; ONLY=audit takes one
	$(LAB) report --quick $(if $(ONLY),--only $(ONLY))

test: setup lint ## lint and run all tests; what this CPU or kernel lacks is named at the end
	@scripts/test.sh

test-%: setup ## test one system: test-audit, test-cipher, test-cosched, test-overlap, test-regwin
	@scripts/test.sh $*

test-long: export LONG = 1
test-long: build ## test every combination; takes hours
	MEANWHILE_LONG=1 cargo test --package meanwhile-audit --test audit -- decoders:: execution::
	MEANWHILE_LONG=1 cargo test --release --package meanwhile-cipher --test cipher -- constant_time:: masked:: validate::
	MEANWHILE_LONG=1 cargo test --package meanwhile --test cli -- cipher_package:: cipher_tune:: cosched_run:: cosched_daemon:: cosched_slurm:: command_lines:: playground:: recipes::
	MEANWHILE_LONG=1 MEANWHILE_COSCHED_SEED=$$(date +%s) cargo test --package meanwhile --test cli cosched_random::
	MEANWHILE_LONG=1 cargo test --release --package meanwhile-overlap --test overlap -- everywhere:: examples:: first:: hazards:: later::
	MEANWHILE_OVERLAP_SEED=$$(date +%s) MEANWHILE_OVERLAP_PROGRAMS=3000 MEANWHILE_OVERLAP_COMPILATIONS=20000 cargo test --release --package meanwhile-overlap --test overlap random::
	MEANWHILE_LONG=1 MEANWHILE_OVERLAP_SEED=$$(date +%s) cargo test --release --package meanwhile-overlap --test overlap memory::
	MEANWHILE_LONG=1 cargo test --package meanwhile --test cli -- cosched_v2:: cosched_systemd::
	MEANWHILE_LONG=1 cargo test --package meanwhile-lab --test lab cipher::
	REGWIN_SCENARIOS=1000 cargo test --release --package meanwhile-regwin --test regwin agreement::
	MEANWHILE_LONG=1 cargo test --release --package meanwhile-regwin --test regwin -- adaptive:: kernel:: integrity:: masked:: wcet::
	$(MEANWHILE) cipher test --matrix
	cargo check --manifest-path fuzz/Cargo.toml
	scripts/dependencies.sh
	cargo publish --workspace --dry-run --allow-dirty
	scripts/dist.sh
	@if [ "$$(id -u)" = 0 ]; then scripts/newcomer.sh && scripts/newcomer.sh --user && scripts/newcomer.sh --user trixie; \
	else echo "test-long: a newcomer's machine was not made, it needs root: scripts/newcomer.sh"; fi

docs: ## make a site with search of docs/, by mdBook, in target/book
	@scripts/docs.sh

site: ## make the playground, a page that needs no server, beside the site of docs/, in target/site
	@scripts/site.sh

deb: build ## make target/deb/meanwhile_VERSION_ARCH.deb: program, manual pages, completions, the daemon's unit
	@scripts/deb.sh

vscode: ## make target/vscode/meanwhile.vsix, the extension for VS Code, by npm
	@scripts/vscode.sh

dist: setup ## make static programs and Python wheels, for x86-64 and aarch64, in target/dist
	@scripts/dist.sh

dependencies: ## look at other people's crates (unused, licences, twice, known holes); write a bill of materials
	@scripts/dependencies.sh

bench: build ## measure everything, in full, into .cache/bench; the committed results stay as they are
	$(LAB) run cipher-schedulers --out $(BENCH)/cipher-schedulers.json
	$(LAB) run cipher-speed --out $(BENCH)/cipher-speed.json
	$(LAB) run cipher-streams --against openssl,libgcrypt --out $(BENCH)/cipher-peers.json
	$(LAB) run cipher-sboxes
	$(LAB) run audit-speed --out $(BENCH)/audit-speed.json
	$(LAB) run regwin-adaptive --out $(BENCH)/regwin-adaptive.json
	$(LAB) run regwin-variants --out $(BENCH)/regwin-variants.json
	$(LAB) run regwin-rtos --out $(BENCH)/regwin-rtos.json
	$(LAB) run regwin-speed --out $(BENCH)/regwin-speed.json
	$(LAB) run overlap --out $(BENCH)/overlap.json
	$(LAB) run overlap-compile-time --count --out $(BENCH)/overlap-compile-time.json
	$(LAB) run cosched-real --out $(BENCH)/cosched-real.json

fuzz: setup ## run each fuzz target for FUZZ_SECONDS (600)
	@scripts/fuzz.sh $(FUZZ_SECONDS)

lint: ## formatting and clippy, without a warning
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

clean: ## delete what was built, measured and cached here
	cargo clean
	rm -rf report .cache
