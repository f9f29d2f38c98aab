#!/bin/sh
# Runs each fuzz target for the given number of seconds; installs cargo-fuzz if it is missing.
set -eu

seconds=${1:-600}
cd "$(dirname "$0")/.."
if ! command -v rustup >/dev/null || ! rustup run nightly rustc --version >/dev/null 2>&1; then
    echo "fuzz: a nightly compiler is needed; get it with: rustup toolchain install nightly" >&2
    exit 2
fi
if ! command -v cargo-fuzz >/dev/null; then
    echo "fuzz: cargo-fuzz is missing and will be installed from crates.io"
    cargo install --locked cargo-fuzz
fi

# Random bytes are no ELF file: small objects of each instruction set to begin with.
seeds=fuzz/corpus/elf
mkdir -p "$seeds"
n=0
for compiler in "arm-none-eabi-gcc -marm -mcpu=arm1136jf-s" "arm-none-eabi-gcc -mthumb -mcpu=cortex-m4" aarch64-linux-gnu-gcc \
    riscv64-unknown-elf-gcc "riscv64-unknown-elf-gcc -march=rv32gc -mabi=ilp32d" "sparc64-linux-gnu-gcc -m32 -mcpu=leon3" gcc; do
    command -v "${compiler%% *}" >/dev/null || continue
    n=$((n + 1))
    # The words of `compiler` are a command.
    # shellcheck disable=SC2086
    $compiler -O2 -g -c -xc -o "$seeds/seed-$n.o" - <<'END'
struct pair { int first, second; };
int called(int);
int chosen(const int *at, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        switch (at[i]) {
        case 0: sum += 3; break;
        case 1: sum ^= at[i + 1]; break;
        case 2: sum *= 5; break;
        case 3: sum = called(sum); break;
        case 4: sum /= n; break;
        default: sum -= 1;
        }
    return sum;
}
double scaled(const struct pair *it, double by) { return it->first * by + it->second; }
END
done

for target in $(cargo +nightly fuzz list); do
    echo "fuzz: $target for $seconds s"
    cargo +nightly fuzz run -s none "$target" -- -max_total_time="$seconds"
done
