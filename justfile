# What a developer types. `just check` is what CI runs.

set shell := ["bash", "-euo", "pipefail", "-c"]

# List the recipes.
default:
    @just --list --unsorted

# Everything CI checks, cheapest first.
check: fmt typos deny lint test doc

# Formatting.
fmt:
    cargo fmt --all --check

# Spelling.
typos:
    typos

# Licences, duplicate and banned crates, sources. Advisories need a database from the network: `just advisories`.
deny:
    cargo deny --locked check bans licenses sources

# Known vulnerabilities; fetches the RustSec database, so it is not part of `check`.
advisories:
    cargo deny check advisories

# Clippy, warnings denied.
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Unit, property, snapshot and house tests.
test *ARGS:
    cargo nextest run --workspace --locked {{ ARGS }}

# Doctests, and documentation without warnings.
doc:
    cargo test --workspace --locked --doc
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --locked --no-deps

# Speed and memory of the exact solvers; writes docs/results/bench-exact.md. About five minutes on two idle cores.
bench-exact:
    mkdir -p docs/results
    cargo bench -p isochrone-core --bench exact --locked > target/bench-exact.md
    mv target/bench-exact.md docs/results/bench-exact.md
    cat docs/results/bench-exact.md

# Draw the pictures of the README and the guide again.
pictures:
    cargo build --release -p isochrone --locked
    PATH="$PWD/target/release:$PATH" examples/draw.sh
