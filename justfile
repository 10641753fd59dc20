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

# One CMD-1 training step beside JAX, PyTorch and bare matrix products; writes docs/results/bench-nn.md. About 8 minutes on two idle cores.
bench-nn: peers
    mkdir -p docs/results
    cargo bench -p isochrone-nn --bench step --locked > target/bench-nn.md
    mv target/bench-nn.md docs/results/bench-nn.md
    cat docs/results/bench-nn.md

# Install what bench-nn compares with, into target/peers. PyTorch may fail; JAX may not.
peers:
    test -x target/peers/bin/python || python3 -m venv target/peers
    target/peers/bin/pip install --quiet --disable-pip-version-check -r benches/peers/requirements.txt
    target/peers/bin/pip install --quiet --disable-pip-version-check torch || echo "PyTorch does not install here: left out"

# The operations on a graphics processor, against the CPU. Without one, Debian's mesa-vulkan-drivers has a software driver.
test-gpu:
    cargo nextest run -p isochrone-nn --features wgpu --locked -E 'test(graphics_processor)'

# Draw the pictures of the README and the guide again.
pictures:
    cargo build --release -p isochrone --locked
    PATH="$PWD/target/release:$PATH" examples/draw.sh
