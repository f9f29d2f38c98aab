# The whole list of things one runs; `make help` prints it.

# Right after rustup's installation the shell does not know its folder yet.
export PATH := $(PATH):$(HOME)/.cargo/bin

MEANWHILE := cargo run --quiet --release --package meanwhile --
FUZZ_SECONDS ?= 600

.DEFAULT_GOAL := help
.PHONY: help setup build report test test-long bench fuzz lint clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing (says what first; root only for Debian packages)
	@scripts/setup.sh

build: setup ## build in release mode
	cargo build --release --package meanwhile

report: build ## run every system on its bundled input; write report/index.html
	$(MEANWHILE) report --quick

test: setup lint ## lint and run all tests; what this CPU or kernel lacks is named at the end
	@scripts/test.sh

test-long: build ## test every combination; takes hours, goes on where it was stopped
	MEANWHILE_LONG=1 cargo test --package audit --test decoders --test execution
	MEANWHILE_LONG=1 cargo test --package meanwhile --test cosched_run
	REGWIN_SCENARIOS=1000 cargo test --release --package regwin --test agreement
	$(MEANWHILE) cipher test --matrix

bench: build ## measure everything, in full
	$(MEANWHILE) cipher bench --out experiments/cipher-schedulers/bench.json
	$(MEANWHILE) cipher speed --out experiments/cipher-speed/speed.json
	$(MEANWHILE) cipher sboxes
	$(MEANWHILE) audit bench --out experiments/audit-speed/bench.json
	$(MEANWHILE) regwin bench --out experiments/regwin-adaptive/adaptive.json
	$(MEANWHILE) regwin variants --out experiments/regwin-variants/variants.json
	$(MEANWHILE) regwin speed --out experiments/regwin-speed/speed.json
	$(MEANWHILE) overlap bench --out .cache/overlap-bench.json
	$(MEANWHILE) cosched bench --out experiments/cosched-real/bench.json

fuzz: setup ## run each fuzz target for FUZZ_SECONDS (600)
	@scripts/fuzz.sh $(FUZZ_SECONDS)

lint: ## formatting and clippy, without a warning
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

clean: ## delete what was built, measured and cached here
	cargo clean
	rm -rf report .cache
