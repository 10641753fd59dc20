# What a developer types. `just check` is what CI runs.

set shell := ["bash", "-euo", "pipefail", "-c"]

# List the recipes.
default:
    @just --list --unsorted

# What is checked has the physics; a build without it is checked by `lint`.
features := "--features mujoco"

# Format, clippy, unit tests: what to run while working.
quick: (timed "fmt" "lint-quick" "test-quick")

# Everything CI runs, cheapest first.
check: (timed "fmt" "typos" "mujoco" "lint" "test" "examples" "test-light" "doc" "api")

# What takes long or needs other people's packages: licenses, fuzzing, kill tests, the quick study, Python peers. Run it before a release.
nightly: (timed "deny" "fuzz" "kill-test" "reproduce-quick" "test-python" "test-ogbench")

# Run recipes one after another and say how long each took.
[private]
timed +STEPS:
    #!/usr/bin/env bash
    set -euo pipefail
    table=""
    for step in {{ STEPS }}; do
        start=$SECONDS
        just $step
        table+="$(printf '%6d s  just %s' $((SECONDS - start)) "$step")"$'\n'
    done
    printf '%s%6d s  in all\n' "$table" "$SECONDS"

# The physics library, into .mujoco: from the wheel that its makers publish (Linux, x86-64). Needed by everything below; a build without the feature `mujoco` needs none of it.
mujoco:
    test -e .mujoco/libmujoco.so || python3 crates/envs/mujoco.py .mujoco

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
lint: mujoco
    cargo clippy --workspace --all-targets --locked -- -D warnings
    cargo clippy --workspace --all-targets {{ features }} --locked -- -D warnings

# Clippy on the default build.
[private]
lint-quick: mujoco
    cargo clippy --workspace --all-targets {{ features }} --locked -- -D warnings

# Unit tests of all libraries.
[private]
test-quick: mujoco
    cargo nextest run --workspace {{ features }} --locked --lib

# Unit, property, snapshot and architecture tests.
test *ARGS: mujoco
    cargo nextest run --workspace {{ features }} --locked {{ ARGS }}

# The examples of the library, run; built as `test` builds them: another set of packages would compile everything again.
examples: mujoco
    cargo nextest run --workspace {{ features }} --locked --no-run
    for example in exact_grid read_dataset train_and_query plan custom_environment custom_algorithm; do target/debug/examples/$example; done

# A build without physics: it says how to get it.
test-light:
    cargo nextest run --workspace --locked --test cli -E 'test(without_physics)'

# Doctests, and documentation without warnings.
doc:
    cargo test --workspace {{ features }} --locked --doc
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace {{ features }} --locked --no-deps --lib

# The public API of every library, compared with docs/api; `just api --update` writes it anew.
api *ARGS: mujoco
    RUSTDOC="$PWD/tools/public-api/rustdoc-json.sh" RUSTDOCFLAGS="--cfg isochrone_api" cargo doc --workspace --lib {{ features }} --locked --no-deps
    cargo run --quiet --locked --manifest-path tools/public-api/Cargo.toml --target-dir target/public-api -- target/doc docs/api {{ ARGS }}

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

# Every algorithm's steps per second, what the trainer adds, CMD-1 beside JAX; writes docs/results/bench-learn.md. About five minutes on two idle cores.
bench-learn:
    mkdir -p docs/results
    test -x target/peers/bin/python || python3 -m venv target/peers
    target/peers/bin/pip install --quiet --disable-pip-version-check -r benches/peers/requirements.txt
    cargo bench -p isochrone-learn --bench learn --locked > target/bench-learn.md
    mv target/bench-learn.md docs/results/bench-learn.md
    cat docs/results/bench-learn.md

# Goal batches beside NumPy, and our layout beside Parquet; writes docs/results/bench-data.md. About two minutes on two idle cores.
bench-data:
    mkdir -p docs/results
    test -x target/peers/bin/python || python3 -m venv target/peers
    target/peers/bin/pip install --quiet --disable-pip-version-check numpy==2.4.6
    cargo bench -p isochrone-data --bench sample --locked > target/bench-data.md
    mv target/bench-data.md docs/results/bench-data.md
    cat docs/results/bench-data.md

# Goal batches from a mapped file of BYTES in FOLDER (made and removed); writes docs/results/bench-data-large.md. Empties the system's cache if it may.
bench-data-large BYTES="50000000000" FOLDER="target":
    mkdir -p docs/results
    cargo bench -p isochrone-data --bench sample --locked -- --disk-bytes {{ BYTES }} --disk-folder "$PWD/{{ FOLDER }}" > target/bench-data-large.md
    mv target/bench-data-large.md docs/results/bench-data-large.md
    rm -f "{{ FOLDER }}/isochrone-bench.arrow"
    cat docs/results/bench-data-large.md

# Install what bench-nn compares with, into target/peers. PyTorch may fail; JAX may not.
peers:
    test -x target/peers/bin/python || python3 -m venv target/peers
    target/peers/bin/pip install --quiet --disable-pip-version-check -r benches/peers/requirements.txt
    target/peers/bin/pip install --quiet --disable-pip-version-check torch || echo "PyTorch does not install here: left out"

# The operations on a graphics processor, against the CPU. Without one, Debian's mesa-vulkan-drivers has a software driver.
test-gpu:
    cargo nextest run -p isochrone-nn --features wgpu --locked -E 'test(graphics_processor)'

# A million damaged files of each format, or as many as said; a few thousand are part of `test`.
fuzz INPUTS="1000000" SEED="1":
    ISOCHRONE_FUZZ_INPUTS={{ INPUTS }} ISOCHRONE_FUZZ_SEED={{ SEED }} cargo nextest run --workspace {{ features }} --locked --no-fail-fast --success-output=immediate -E 'binary(fuzz)'

# Kill KILLS training processes at random moments, and see what is left; a few are part of `test`.
kill-test KILLS="200":
    ISOCHRONE_KILLS={{ KILLS }} cargo nextest run --workspace {{ features }} --locked --success-output=immediate -E 'test(killed_runs_go_on)'

# Learned distances beside exact ones on ten grid worlds; writes docs/results/ground-truth.md. About half an hour on two cores.
ground-truth:
    mkdir -p docs/results
    cargo run --release -p isochrone-learn --example ground_truth --locked > target/ground-truth.md
    mv target/ground-truth.md docs/results/ground-truth.md
    cat docs/results/ground-truth.md

# A to B and B to C are in the data, A to C is not; writes docs/results/stitching.md. About half an hour on two cores.
stitching:
    mkdir -p docs/results
    cargo run --release -p isochrone-learn --example stitching --locked > target/stitching.md
    mv target/stitching.md docs/results/stitching.md
    cat docs/results/stitching.md

# A study of studies/recipes, from data to report; writes docs/results/NAME. nav2d: about 40 minutes on two cores; mazes: an hour and a half; antmaze: likewise, on one; mazes-planners and nav2d-search: half an hour. Continues where it was interrupted.
study NAME FOLDER=("target/" + NAME): mujoco
    cargo build --release --workspace {{ features }} --bins --locked
    target/release/isochrone reproduce {{ NAME }} -o {{ FOLDER }}
    mkdir -p docs/results/{{ NAME }}/figures
    cp {{ FOLDER }}/report.md docs/results/{{ NAME }}/README.md
    cp {{ FOLDER }}/report.html {{ FOLDER }}/results.json docs/results/{{ NAME }}/
    cp {{ FOLDER }}/figures/*.png docs/results/{{ NAME }}/figures/

# The navigation study in minutes: one seed, fewer updates, and a bar that a broken method does not pass.
reproduce-quick:
    # As `test` builds it: another set of packages would compile everything again.
    cargo nextest run --workspace {{ features }} --locked --no-run
    rm -rf target/nav2d-quick
    target/debug/isochrone reproduce nav2d --quick --check -o target/nav2d-quick

# The Python packages that make the fixtures, and read what we write.
python:
    test -x target/python/bin/python || python3 -m venv target/python
    target/python/bin/pip install --quiet --disable-pip-version-check -r crates/data/tests/fixtures/requirements.txt -r crates/learn/tests/python/requirements.txt

# Make the fixtures again.
fixtures: python
    target/python/bin/python crates/data/tests/fixtures/make.py ../shared/data

# Files written by us, read by NumPy, Minari, PyArrow, TensorBoard and safetensors.
test-python: python
    # As `test` builds it: another set of packages would compile everything again.
    cargo nextest run --workspace {{ features }} --locked --no-run
    target/python/bin/python crates/data/tests/fixtures/read_back.py target/debug/isochrone
    target/python/bin/python crates/learn/tests/python/read_run.py target/debug/isochrone

# The Python packages that mazes are compared with, into target/ogbench.
ogbench:
    test -x target/ogbench/bin/python || python3 -m venv target/ogbench
    target/ogbench/bin/pip install --quiet --disable-pip-version-check -r crates/envs/tests/python/requirements.txt

# The same actions through OGBench in Python and through us.
test-ogbench: mujoco ogbench
    # As `test` builds it: another set of packages would compile everything again.
    cargo nextest run --workspace {{ features }} --locked --no-run
    target/ogbench/bin/python crates/envs/tests/python/ogbench_check.py target/debug/examples/trace

# Data of ours beside data of OGBench's generator; writes docs/results/maze-data.md. About 15 minutes on two cores.
maze-data REFERENCES="../shared/data": mujoco ogbench
    cargo build --release --workspace {{ features }} --bins --locked
    mkdir -p docs/results
    mkdir -p target/maze-data/references
    test -e target/maze-data/references/antmaze-medium-navigate-python.npz || target/ogbench/bin/python crates/envs/tests/python/ant_collect.py crates/envs/assets/ant-walker.safetensors 500 target/maze-data/references/antmaze-medium-navigate-python.npz
    target/ogbench/bin/python crates/envs/tests/python/reference_data.py target/release/isochrone {{ REFERENCES }} target/maze-data > target/maze-data.md
    mv target/maze-data.md docs/results/maze-data.md
    cat docs/results/maze-data.md

# The cost of the refined distance; writes docs/results/bench-refined.md. About three minutes on two idle cores.
bench-refined:
    mkdir -p docs/results
    cargo bench -p isochrone-eval --bench refined --locked > target/bench-refined.md
    mv target/bench-refined.md docs/results/bench-refined.md
    cat docs/results/bench-refined.md

# Distances beside exact travel times; writes docs/results/distances. Refined alone takes minutes; networks take hours.
distances METHODS="euclidean,refined":
    cargo run --release -p isochrone-cli {{ features }} --locked -- reproduce distances --methods {{ METHODS }} -o target/distances
    mkdir -p docs/results/distances
    cp target/distances/README.md target/distances/results.json target/distances/readings.svg target/distances/readings.png docs/results/distances/

# Do learners learn which episode a state belongs to? Writes docs/results/episode-leak. About ten minutes on two cores.
episode-leak:
    cargo build --release --workspace {{ features }} --bins --locked
    target/release/isochrone reproduce episode-leak --methods cmd1,cmd2,crl-nce,qrl,gciql -o target/episode-leak
    target/release/isochrone reproduce episode-leak --methods cmd1 --updates 50000 -o target/episode-leak/long
    target/release/isochrone reproduce episode-leak --methods cmd1 --updates 50000 --rows-per-episode 128 --batch-size 128 -o target/episode-leak/long-one-episode
    for folder in . long long-one-episode; do mkdir -p docs/results/episode-leak/$folder; cp target/episode-leak/$folder/{results.json,curves.svg,curves.png} docs/results/episode-leak/$folder/; done

# Steps per second in mazes, beside OGBench in Python and bare physics; writes docs/results/bench-mazes.md. About three minutes on two idle cores.
bench-mazes: mujoco ogbench
    mkdir -p docs/results
    cargo bench --workspace {{ features }} --bench mazes --locked > target/bench-mazes.md
    mv target/bench-mazes.md docs/results/bench-mazes.md
    cat docs/results/bench-mazes.md

# A walking ant of the study antmaze, moment by moment; writes docs/results/antmaze.
ant-film FOLDER="target/antmaze": mujoco
    cargo build --release --workspace {{ features }} --bins --locked
    target/release/isochrone eval {{ FOLDER }}/runs/antmaze-medium-navigate/cmd1-0 --env antmaze-medium --episodes 5 --plan --calibrated --max-edge-steps 40 --plot docs/results/antmaze/paths.png --film docs/results/antmaze/film.png

# Draw the figures of the README and the guide again.
figures:
    cargo build --release -p isochrone-cli --locked
    PATH="$PWD/target/release:$PATH" examples/draw.sh
