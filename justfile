# Recipes for development. `just check` is what CI runs.

set shell := ["bash", "-euo", "pipefail", "-c"]

# List the recipes.
default:
    @just --list --unsorted

# Checks build with physics; `lint` and `test-light` also check a build without it.
features := "--features mujoco"

# Formatting, clippy and unit tests: what to run while working.
quick: (timed "fmt" "lint-quick" "test-quick")

# Everything that CI runs, cheapest first.
check: (timed "fmt" "typos" "workflows" "book" "mujoco" "lint" "dependencies-check" "test" "guards" "examples" "test-mpi" "test-light" "python" "doc" "api" "package")

# Checks that take long or need other packages: licenses, builds from packages, fuzzing, simulated faults, kill tests, the quick study, Python peers. Run it before a release.
nightly: (timed "deny" "sbom" "package-verify" "fuzz" "faults" "faults-mpi" "flips" "kill-test" "kill-test-mpi" "test-remote" "test-nearest" "reproduce-quick" "test-python" "test-onnx" "test-explore" "wheel" "test-ogbench")

# Run recipes one after another and print the duration of each.
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

# Evaluate doctor, progress and gaps on robot datasets with planted defects; writes docs/results/robots/results.json.
robots *ARGS:
    test -x target/robots-python/bin/python || python3 -m venv target/robots-python
    target/robots-python/bin/pip install --quiet --disable-pip-version-check -r studies/robots/requirements.txt
    target/robots-python/bin/python -m pytest -q studies/robots
    cargo build --release --locked --bin isochrone
    target/robots-python/bin/python studies/robots/run.py target/release/isochrone docs/results/robots/results.json --data target/robots {{ ARGS }}

# Download the MuJoCo library into .mujoco, from the official wheel (Linux x86-64). Most recipes need it; a build without the feature `mujoco` does not.
mujoco:
    test -e .mujoco/libmujoco.so || python3 crates/envs/mujoco.py .mujoco

# Check formatting.
fmt:
    cargo fmt --all --check

# Check spelling.
typos:
    typos

# Check workflows, issue forms and the citation file against their schemas.
workflows:
    check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
    check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
    check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/feature.yml
    check-jsonschema --quiet --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
    check-jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff

# Build the book into target/book; a warning is an error. `test` checks its links, console blocks and generated pages.
book:
    mkdir -p target
    mdbook build docs 2>&1 | tee target/book.log
    ! grep -E "WARN|ERROR" target/book.log

# Package every crate as it would be published. `just package-verify` builds each crate from its package.
package:
    cargo package --workspace --no-verify --allow-dirty --locked

# Build every crate from its package, as a user of the registry would. Takes minutes.
package-verify: mujoco
    # Cargo takes a package of the same version for the same package: forget those of earlier commits.
    rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/isochrone*-[0-9]* target/verify/debug/.fingerprint/isochrone*
    cargo package --workspace --allow-dirty --locked --target-dir target/verify

# Rewrite the generated parts of the documentation: the README's results table, the command and configuration references.
docs-update: mujoco
    ISOCHRONE_UPDATE_DOCS=1 cargo nextest run --workspace {{ features }} --locked --test docs -E 'test(is_current)'

# Check licenses, duplicate and banned crates, and sources. Advisories need a database from the network: `just advisories`.
deny:
    cargo deny --locked check bans licenses sources

# Write docs/dependencies.csv, an inventory of the packages in the default build of the command.
dependencies:
    python3 tools/dependencies.py

# Check that docs/dependencies.csv is current.
dependencies-check:
    python3 tools/dependencies.py --check

# Write the bill of materials (CycloneDX) of the command to target/isochrone.cdx.json; needs cargo-cyclonedx. Wheels contain their own.
sbom:
    cargo cyclonedx --quiet --manifest-path crates/cli/Cargo.toml --format json --spec-version 1.5 --describe binaries
    mkdir -p target && mv crates/cli/isochrone_bin.cdx.json target/isochrone.cdx.json
    rm -f crates/python/_isochrone_cdylib.cdx.json

# Check for known vulnerabilities. Downloads the RustSec database, so it is not part of `check`.
advisories:
    cargo deny check advisories

# Run clippy; a warning is an error.
lint: mujoco
    cargo clippy --workspace --all-targets --locked -- -D warnings
    cargo clippy --workspace --all-targets {{ features }} --locked -- -D warnings

# Run clippy on the build with physics only.
[private]
lint-quick: mujoco
    cargo clippy --workspace --all-targets {{ features }} --locked -- -D warnings

# Run the unit tests of all libraries.
[private]
test-quick: mujoco
    cargo nextest run --workspace {{ features }} --locked --lib

# Run all tests: unit, property, snapshot, architecture and documentation tests.
test *ARGS: mujoco
    cargo nextest run --workspace {{ features }} --locked {{ ARGS }}

# Count the instructions of kernels, updates and queries under Valgrind, and compare them with the committed counts; `just guards --update` rewrites these, `just guards --only mrn` counts some cases. Built as in `test`.
guards *ARGS: mujoco
    @command -v valgrind >/dev/null || { echo "error: valgrind is not installed; hint: apt-get install valgrind"; exit 1; }
    cargo bench --workspace {{ features }} --profile dev --locked --bench guards -- --check {{ ARGS }}

# Run the examples of the library. They are built as in `test`, since another set of packages would compile everything again.
examples: mujoco
    cargo nextest run --workspace {{ features }} --locked --no-run
    for example in readme exact_grid read_dataset train_and_query plan custom_environment custom_algorithm; do target/debug/examples/$example; done

# Build the Python package for tests and install it into target/python. Its dependencies are those that `test` compiled.
python-install: mujoco
    test -x target/python/bin/python || python3 -m venv target/python
    target/python/bin/pip install --quiet --disable-pip-version-check -r crates/python/tests/requirements.txt
    rm -rf target/wheels-dev
    cd crates/python && ../../target/python/bin/maturin build --quiet --profile dev --features mujoco,shared-build --interpreter ../../target/python/bin/python --out ../../target/wheels-dev
    target/python/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps target/wheels-dev/isochrone-*.whl

# Test the installed Python package outside the source tree: tests, doctests, types, reference page, notebooks.
python: python-install
    mkdir -p target/python-tests && rm -rf target/python-tests/* && cp -r crates/python/tests target/python-tests/
    mkdir -p target/python-tests/examples && cp README.md target/python-tests/ && cp examples/walks.csv target/python-tests/examples/
    cd target/python-tests && ../python/bin/python -m pytest -q tests
    cd target/python-tests && ../python/bin/python -m mypy --strict -p isochrone --exclude "torch|_pairing" && ../python/bin/python -m mypy.stubtest isochrone._isochrone
    cd target/python-tests && ../python/bin/pyright --project ../../crates/python/pyproject.toml --pythonpath "$PWD/../python/bin/python"
    target/python/bin/python crates/python/reference.py --check
    target/python/bin/python examples/notebooks/run.py

# The same with PyTorch, which takes 3 GB.
python-full: python-install
    target/python/bin/pip install --quiet --disable-pip-version-check torch "ray[data]"
    just python

# Build the wheel for release and test it in clean environments of the oldest and the newest CPython that are installed.
wheel: mujoco
    test -x target/python/bin/python || python3 -m venv target/python
    target/python/bin/pip install --quiet --disable-pip-version-check -r crates/python/tests/requirements.txt
    rm -rf target/wheels
    cd crates/python && ../../target/python/bin/maturin build --release --features mujoco --out ../../target/wheels
    crates/python/check_wheel.sh target/wheels/isochrone-*.whl

# Test that a build without physics reports how to enable it.
test-light:
    cargo nextest run --workspace --locked --test cli -E 'test(without_mujoco)'

# Run doctests and build the API documentation; a warning is an error.
doc:
    cargo test --workspace {{ features }} --locked --doc
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace {{ features }} --locked --no-deps --lib

# Compare the public API of every library with docs/api; `just api --update` rewrites it.
api *ARGS: mujoco
    RUSTDOC="$PWD/tools/public-api/rustdoc-json.sh" RUSTDOCFLAGS="--cfg isochrone_api" cargo doc --workspace --lib {{ features }} --locked --no-deps
    cargo run --quiet --locked --manifest-path tools/public-api/Cargo.toml --target-dir target/public-api -- target/doc docs/api {{ ARGS }}

# Measure speed and memory of the exact solvers; writes docs/results/bench-exact.md. About five minutes on two idle cores.
bench-exact:
    mkdir -p docs/results
    cargo bench -p isochrone-core --bench exact --locked > target/bench-exact.md
    mv target/bench-exact.md docs/results/bench-exact.md
    cat docs/results/bench-exact.md

# Compare one CMD-1 training step with JAX, PyTorch and bare matrix products; writes docs/results/bench-nn.md. About eight minutes on two idle cores.
bench-nn: peers
    mkdir -p docs/results
    cargo bench -p isochrone-nn --bench step --locked > target/bench-nn.md
    mv target/bench-nn.md docs/results/bench-nn.md
    cat docs/results/bench-nn.md

# Measure the steps per second of every algorithm and the overhead of the trainer, and compare CMD-1 with JAX; writes docs/results/bench-learn.md. About five minutes on two idle cores.
bench-learn:
    mkdir -p docs/results
    test -x target/peers/bin/python || python3 -m venv target/peers
    target/peers/bin/pip install --quiet --disable-pip-version-check -r benches/peers/requirements.txt
    cargo bench -p isochrone-learn --bench learn --locked > target/bench-learn.md
    mv target/bench-learn.md docs/results/bench-learn.md
    cat docs/results/bench-learn.md

# Train CRL, QRL and CMD-1 with isochrone and with a loop in JAX like that of OGBench, block by block in turn; writes docs/results/whole-training. FLAGS are those of benches/whole_training.py, such as "--presets small,standard --updates 50000"; sides that have results are not repeated without --again.
whole-training DATA="../shared/data/pointmaze-medium-navigate-v0.npz" *FLAGS="": mujoco
    test -x target/peers/bin/python || python3 -m venv target/peers
    target/peers/bin/pip install --quiet --disable-pip-version-check -r benches/peers/training/requirements.txt
    cargo build --release --workspace {{ features }} --bins --locked
    target/peers/bin/python benches/whole_training.py target/release/isochrone {{ DATA }} {{ FLAGS }}

# Test and lint datasets in object stores, which no other recipe compiles.
test-remote:
    cargo clippy -p isochrone-data --features remote --all-targets --locked -- -D warnings
    cargo nextest run -p isochrone-data --features remote --locked --test remote
    cargo bench -p isochrone-data --bench shards --locked --profile dev

# Test and lint the index of nearest states, which no other recipe compiles; needs a C++ compiler.
test-nearest:
    cargo clippy -p isochrone-eval --features nearest --all-targets --locked -- -D warnings
    cargo nextest run -p isochrone-eval --features nearest --locked --test nearest

# Measure a billion rows in shards in FOLDER (12 GB, created and removed), and an object store at URL with the credentials of the environment; writes docs/results/remote/results.json. Drops the page cache if permitted.
bench-remote URL FOLDER="target" ROWS="1000000000":
    cargo bench -p isochrone-data --bench shards --locked -- --rows {{ ROWS }} --folder "$PWD/{{ FOLDER }}" --output "$PWD/docs/results/remote/results.json"
    mkdir -p "{{ FOLDER }}/bench-remote"
    cargo bench -p isochrone-data --features remote --bench remote --locked -- --url {{ URL }} --folder "$PWD/{{ FOLDER }}/bench-remote" --output "$PWD/docs/results/remote/results.json"
    rm -r "{{ FOLDER }}/bench-remote"

# Compare goal sampling with NumPy, and the isochrone Arrow format with Parquet; writes docs/results/bench-data.md. About two minutes on two idle cores.
bench-data:
    mkdir -p docs/results
    test -x target/peers/bin/python || python3 -m venv target/peers
    target/peers/bin/pip install --quiet --disable-pip-version-check numpy==2.4.6
    cargo bench -p isochrone-data --bench sample --locked > target/bench-data.md
    mv target/bench-data.md docs/results/bench-data.md
    cat docs/results/bench-data.md

# Measure goal sampling from a mapped file of BYTES in FOLDER (created and removed); writes docs/results/bench-data-large.md. Drops the page cache if permitted.
bench-data-large BYTES="50000000000" FOLDER="target":
    mkdir -p docs/results
    cargo bench -p isochrone-data --bench sample --locked -- --disk-bytes {{ BYTES }} --disk-folder "$PWD/{{ FOLDER }}" > target/bench-data-large.md
    mv target/bench-data-large.md docs/results/bench-data-large.md
    rm -f "{{ FOLDER }}/isochrone-bench.arrow"
    cat docs/results/bench-data-large.md

# Install the peers of bench-nn into target/peers. JAX is required, PyTorch is optional.
peers:
    test -x target/peers/bin/python || python3 -m venv target/peers
    target/peers/bin/pip install --quiet --disable-pip-version-check -r benches/peers/requirements.txt
    target/peers/bin/pip install --quiet --disable-pip-version-check torch || echo "PyTorch does not install here: left out"

# Test data-parallel training under mpirun; needs an MPI library (Debian: libopenmpi-dev, openmpi-bin).
test-mpi: mujoco
    cargo clippy --workspace --all-targets {{ features }},mpi --locked -- -D warnings
    cargo nextest run --workspace {{ features }},mpi --locked --test mpi

# Kill KILLS processes of data-parallel runs at random times; `test-mpi` includes a few.
kill-test-mpi KILLS="50": mujoco
    ISOCHRONE_KILLS={{ KILLS }} cargo nextest run --workspace {{ features }},mpi --locked --test mpi --success-output=immediate -E 'test(killed_processes)'

# Measure updates on one and several processes, and compare them with the model; writes docs/results/mpi. Built like the tests, whose kernels and matrix products are optimized.
bench-mpi PROCESSES="2": mujoco
    cargo test --workspace {{ features }},mpi --locked --bench scaling --no-run
    for n in 1 {{ PROCESSES }}; do mpirun --allow-run-as-root --oversubscribe -np $n $(ls -t target/debug/deps/scaling-* | grep -v '\.d$' | head -1) --out docs/results/mpi; done
    rm docs/results/mpi/single.json

# Compare operations, training and queries on a GPU with the CPU. Without a GPU, Debian's mesa-vulkan-drivers provides a software driver.
test-gpu:
    cargo nextest run -p isochrone-nn -p isochrone-learn --features isochrone-nn/wgpu,isochrone-learn/wgpu --locked -E 'test(graphics_processor)'
    cargo nextest run -p isochrone-cli --features wgpu --locked --test cli -E 'test(graphics_processor)'

# Read INPUTS corrupt files of each format; `test` includes a few thousand.
fuzz INPUTS="1000000" SEED="1":
    ISOCHRONE_FUZZ_INPUTS={{ INPUTS }} ISOCHRONE_FUZZ_SEED={{ SEED }} cargo nextest run --workspace {{ features }} --locked --no-fail-fast --success-output=immediate -E 'binary(fuzz)'

# Fuzz TARGET, or all of them, with RUNS inputs guided by coverage; adds to docs/results/reliability/fuzz.json. Needs a nightly toolchain and cargo-fuzz; see fuzz/README.md.
fuzz-coverage TARGET="all" RUNS="10000000":
    cargo +nightly fuzz build --sanitizer none -a --no-trace-compares
    python3 fuzz/run.py --target {{ TARGET }} --runs {{ RUNS }}

# Kill KILLS training processes and as many scoring processes at random times and check that they continue; `test` includes a few.
kill-test KILLS="200":
    mkdir -p target/reliability
    ISOCHRONE_KILLS={{ KILLS }} cargo nextest run --workspace {{ features }} --locked --success-output=immediate -E 'test(killed_runs_resume) | test(killed_scores_continue)' 2>&1 | tee target/reliability/kills.log

# Fail every call and cut the power after every change of every command that writes, in a simulation of the disk; `test` tries a few of these points.
faults POINTS="all": python-install
    mkdir -p target/reliability
    ISOCHRONE_PYTHON="$PWD/target/python/bin/python" ISOCHRONE_FAULTS={{ POINTS }} cargo nextest run --workspace {{ features }} --locked --no-fail-fast --success-output=immediate -E 'binary(faults)' 2>&1 | tee target/reliability/faults.log

# The same for POINTS of data-parallel training in two processes.
faults-mpi POINTS="100": mujoco
    mkdir -p target/reliability
    ISOCHRONE_FAULTS_OF=mpi ISOCHRONE_FAULTS={{ POINTS }} cargo nextest run --workspace {{ features }},mpi --locked --no-fail-fast --success-output=immediate -E 'binary(faults)' 2>&1 | tee target/reliability/faults-mpi.log

# Flip FLIPS bits in each format of data and in each file of a run; `test` flips a few.
flips FLIPS="1000": mujoco
    mkdir -p target/reliability
    ISOCHRONE_FLIPS={{ FLIPS }} cargo nextest run --workspace {{ features }} --locked --no-fail-fast --success-output=immediate -E 'test(flipped_bit)' 2>&1 | tee target/reliability/flips.log

# Collect what `faults`, `flips`, `kill-test`, `hashes` and `soak` measured in docs/results/reliability.
reliability-page:
    python3 tools/reliability/page.py target/reliability docs/results/reliability

# Compare the weights of every algorithm over instruction sets; needs Debian's qemu-user and gcc-aarch64-linux-gnu, and the target aarch64-unknown-linux-gnu. Writes docs/results/reliability/hashes.json.
hashes: mujoco
    cargo nextest run --workspace {{ features }} --locked --no-run
    cargo build --locked --bin isochrone --target-dir target/light
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc cargo build --locked --bin isochrone --target aarch64-unknown-linux-gnu --target-dir target/light
    python3 tools/reliability/hashes.py "$PWD/target/debug/isochrone" --light "$PWD/target/light/debug/isochrone" --arm "$PWD/target/light/aarch64-unknown-linux-gnu/debug/isochrone" --out docs/results/reliability

# Measure which part of the start of a training is the check of its data, with 10^8 rows; needs perf and 4 GB of disk. Writes docs/results/reliability/verification.json.
verification: python-install
    cargo build --release --locked --bin isochrone
    target/python/bin/python tools/reliability/verification.py target/release/isochrone target/verification --out docs/results/reliability

# Check the unsafe code of the kernels and the reductions over threads with Miri; needs a nightly toolchain with the component miri.
miri:
    MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks" cargo +nightly miri test -p isochrone-nn --lib -- kernel::matrix kernel::math group::threads

# Search for data races in the tests that use several threads, with ThreadSanitizer; needs a nightly toolchain with the component rust-src.
races:
    TSAN_OPTIONS="halt_on_error=1" RUSTFLAGS="-Zsanitizer=thread" RAYON_NUM_THREADS=4 cargo +nightly nextest run -Zbuild-std --target x86_64-unknown-linux-gnu --target-dir target/races -p isochrone-core -p isochrone-data -p isochrone-nn -p isochrone-eval -p isochrone-learn --locked --no-fail-fast -E 'test(thread) | test(group::) | test(processes::)'

# Count the instructions that checks of arithmetic for overflow add to releases; needs Valgrind. Writes docs/results/reliability/overflow.json.
overflow:
    python3 tools/reliability/overflow.py target/reliability --out docs/results/reliability

# Train, query and score for MINUTES, and record memory and file descriptors; writes docs/results/reliability/soak.json.
soak MINUTES="120": python-install
    target/python/bin/pip install --quiet --disable-pip-version-check matplotlib pyarrow
    rm -rf target/soak
    target/python/bin/python tools/reliability/soak.py "$PWD/target/debug/isochrone" target/soak --minutes {{ MINUTES }} --out docs/results/reliability

# Compare learned and exact distances on ten gridworlds; writes docs/results/ground-truth.md. About half an hour on two cores.
ground-truth:
    mkdir -p docs/results
    cargo run --release -p isochrone-learn --example ground_truth --locked > target/ground-truth.md
    mv target/ground-truth.md docs/results/ground-truth.md
    cat docs/results/ground-truth.md

# Measure stitching: A to B and B to C are in the data, A to C is not; writes docs/results/stitching.md. About half an hour on two cores.
stitching:
    mkdir -p docs/results
    cargo run --release -p isochrone-learn --example stitching --locked > target/stitching.md
    mv target/stitching.md docs/results/stitching.md
    cat docs/results/stitching.md

# Run a study of studies/recipes, from data to report; writes docs/results/NAME. nav2d: about 40 minutes on two cores; mazes: an hour and a half; antmaze: an hour and a half on one core; mazes-planners and nav2d-search: half an hour. Resumes an interrupted study.
study NAME FOLDER=("target/" + NAME): mujoco
    cargo build --release --workspace {{ features }} --bins --locked
    target/release/isochrone reproduce {{ NAME }} -o {{ FOLDER }}
    mkdir -p docs/results/{{ NAME }}/figures
    cp {{ FOLDER }}/report.md docs/results/{{ NAME }}/README.md
    cp {{ FOLDER }}/report.html {{ FOLDER }}/results.json docs/results/{{ NAME }}/
    cp {{ FOLDER }}/figures/*.png docs/results/{{ NAME }}/figures/

# Run the navigation study in minutes: one seed, fewer updates, and thresholds that a broken method does not reach.
reproduce-quick:
    # Built as in `test`, since another set of packages would compile everything again.
    cargo nextest run --workspace {{ features }} --locked --no-run
    rm -rf target/nav2d-quick
    target/debug/isochrone reproduce nav2d --quick --check -o target/nav2d-quick

# Install the Python packages that make the fixtures and read files written by isochrone.
readers:
    test -x target/readers/bin/python || python3 -m venv target/readers
    target/readers/bin/pip install --quiet --disable-pip-version-check -r crates/data/tests/fixtures/requirements.txt -r crates/learn/tests/python/requirements.txt

# Make the fixtures of the tests again.
fixtures: readers
    target/readers/bin/python crates/data/tests/fixtures/make.py ../shared/data

# Read files written by isochrone with NumPy, Minari, PyArrow, TensorBoard and safetensors.
test-python: readers
    # Built as in `test`, since another set of packages would compile everything again.
    cargo nextest run --workspace {{ features }} --locked --no-run
    target/readers/bin/python crates/data/tests/fixtures/read_back.py target/debug/isochrone
    target/readers/bin/python crates/learn/tests/python/read_run.py target/debug/isochrone

# Run exported models of every algorithm with ONNX Runtime, and compare them with the library. UPDATES is the length of training.
test-onnx UPDATES="25": mujoco
    test -x target/onnx/bin/python || python3 -m venv target/onnx
    target/onnx/bin/pip install --quiet --disable-pip-version-check -r crates/learn/tests/python/requirements-onnx.txt
    rm -rf target/onnx-cases
    mkdir -p target/onnx-cases
    ISOCHRONE_ONNX_CASES="$PWD/target/onnx-cases" ISOCHRONE_ONNX_UPDATES={{ UPDATES }} cargo nextest run --workspace {{ features }} --locked -E 'test(every_algorithm_is_exported)'
    target/onnx/bin/python crates/learn/tests/python/onnx_check.py target/onnx-cases

# Open pages of `isochrone explore` in a headless Chromium (Debian: chromium), compare their distances with the command, and measure redraws; screenshots are in target/explore. Writes docs/results/explore/results.json.
test-explore MAZE="../shared/data/pointmaze-medium-navigate-v0.npz" ROBOT="": mujoco
    # Built as in `test`, since another set of packages would compile everything again.
    cargo nextest run --workspace {{ features }} --locked --no-run
    mkdir -p docs/results/explore
    crates/plot/tests/explore/test.sh target/debug/isochrone target/explore docs/results/explore/results.json {{ MAZE }} {{ ROBOT }}

# Install the Python packages that the mazes are compared with into target/ogbench.
ogbench:
    test -x target/ogbench/bin/python || python3 -m venv target/ogbench
    target/ogbench/bin/pip install --quiet --disable-pip-version-check -r crates/envs/tests/python/requirements.txt

# Apply the same actions in OGBench in Python and in isochrone, and compare the states.
test-ogbench: mujoco ogbench
    # Built as in `test`, since another set of packages would compile everything again.
    cargo nextest run --workspace {{ features }} --locked --no-run
    target/ogbench/bin/python crates/envs/tests/python/ogbench_check.py target/debug/examples/trace

# Compare datasets of isochrone with those of OGBench's generator; writes docs/results/maze-data.md. About 15 minutes on two cores.
maze-data REFERENCES="../shared/data": mujoco ogbench
    cargo build --release --workspace {{ features }} --bins --locked
    mkdir -p docs/results
    mkdir -p target/maze-data/references
    test -e target/maze-data/references/antmaze-medium-navigate-python.npz || target/ogbench/bin/python crates/envs/tests/python/ant_collect.py crates/envs/assets/ant-walker.safetensors 500 target/maze-data/references/antmaze-medium-navigate-python.npz
    target/ogbench/bin/python crates/envs/tests/python/reference_data.py target/release/isochrone {{ REFERENCES }} target/maze-data > target/maze-data.md
    mv target/maze-data.md docs/results/maze-data.md
    cat docs/results/maze-data.md

# Score ROWS synthetic rows and build their graph, at once and in parts; writes docs/results/score/results.json. Uses 3 GB of disk per 10^8 rows.
bench-score ROWS="100000000" PARTS="3,8":
    mkdir -p target/bench-score docs/results/score
    RAYON_NUM_THREADS=1 cargo run --release -p isochrone-eval --example scale --locked -- target/bench-score {{ ROWS }} {{ PARTS }} docs/results/score/results.json

# Evaluate the stochastic planner in point mazes: EPISODES of each task, on SEEDS of tasks and SUBSETS of a tenth of the data; writes docs/results/teleport/results.json. About two minutes on two cores.
teleport DATA="../shared/data" EPISODES="50" SEEDS="201,202" SUBSETS="41,42,43,44,45": mujoco
    # Built as in `test`, since another set of packages would compile everything again.
    cargo build --workspace {{ features }} --example teleport --locked
    mkdir -p docs/results/teleport
    LD_LIBRARY_PATH="$PWD/.mujoco" target/debug/examples/teleport {{ DATA }} {{ EPISODES }} {{ SEEDS }} {{ SUBSETS }} docs/results/teleport/results.json

# Evaluate the stochastic planner with the ant, whose data are generated first; writes docs/results/teleport/ant.json. About ten minutes on two cores.
teleport-ant EPISODES="20" SEEDS="201,202": mujoco
    cargo build --workspace {{ features }} --bins --example teleport --locked
    mkdir -p target/teleport docs/results/teleport
    test -e target/teleport/ant.npz || LD_LIBRARY_PATH="$PWD/.mujoco" target/debug/isochrone envs generate antmaze-teleport-navigate --seed 1 -o target/teleport/ant.npz
    LD_LIBRARY_PATH="$PWD/.mujoco" target/debug/examples/teleport ant target/teleport/ant.npz {{ EPISODES }} {{ SEEDS }} 0 docs/results/teleport/ant.json

# Measure the cost of the refined distance and of plans; writes docs/results/bench-refined.md. About two minutes on two idle cores, and 4 GB for ten million rows (`--large`).
bench-refined:
    mkdir -p docs/results
    cargo bench -p isochrone-eval --bench refined --locked -- --large > target/bench-refined.md
    mv target/bench-refined.md docs/results/bench-refined.md
    cat docs/results/bench-refined.md

# Measure graphs of 8,000 states over learned distances; writes docs/results/graphs. About ten minutes on two idle cores. Built like the tests, whose kernels and graphs are optimized.
bench-graphs DATA="../shared/data": mujoco
    mkdir -p docs/results/graphs target/graphs
    cargo bench --workspace {{ features }} --profile dev --locked --bench graphs -- "$PWD/docs/results/graphs/results.json" "$(realpath {{ DATA }})/pointmaze-large-stitch-v0.npz" "$(realpath {{ DATA }})/antmaze-medium-navigate-fifth.npz" > target/graphs/README.md
    mv target/graphs/README.md docs/results/graphs/README.md
    cat docs/results/graphs/README.md

# Measure the index of nearest states and large graphs; prints JSON. About ten minutes on two idle cores.
bench-nearest *NUMBERS:
    cargo bench -p isochrone-eval --features nearest --bench nearest --locked -- {{NUMBERS}}

# Compare distances with exact travel times; writes docs/results/distances. The refined distance alone takes minutes, networks take hours.
distances METHODS="euclidean,refined":
    cargo run --release -p isochrone-cli {{ features }} --locked -- reproduce distances --methods {{ METHODS }} -o target/distances
    mkdir -p docs/results/distances
    cp target/distances/README.md target/distances/results.json target/distances/readings.svg target/distances/readings.png docs/results/distances/

# Measure whether learners recognize the episode of a state; writes docs/results/episode-leak. About ten minutes on two cores.
episode-leak:
    cargo build --release --workspace {{ features }} --bins --locked
    target/release/isochrone reproduce episode-leak --methods cmd1,cmd2,crl-nce,qrl,gciql -o target/episode-leak
    target/release/isochrone reproduce episode-leak --methods cmd1 --updates 50000 -o target/episode-leak/long
    target/release/isochrone reproduce episode-leak --methods cmd1 --updates 50000 --rows-per-episode 128 --batch-size 128 -o target/episode-leak/long-one-episode
    for folder in . long long-one-episode; do mkdir -p docs/results/episode-leak/$folder; cp target/episode-leak/$folder/{results.json,curves.svg,curves.png} docs/results/episode-leak/$folder/; done

# Compare the steps per second in mazes with OGBench in Python and with bare physics; writes docs/results/bench-mazes.md. About three minutes on two idle cores.
bench-mazes: mujoco ogbench
    mkdir -p docs/results
    cargo bench --workspace {{ features }} --bench mazes --locked > target/bench-mazes.md
    mv target/bench-mazes.md docs/results/bench-mazes.md
    cat docs/results/bench-mazes.md

# Plot rollouts and a filmstrip of the ant of the study antmaze; writes docs/results/antmaze.
ant-film FOLDER="target/antmaze": mujoco
    cargo build --release --workspace {{ features }} --bins --locked
    target/release/isochrone eval {{ FOLDER }}/runs/antmaze-medium-navigate/cmd1-0 --env antmaze-medium --episodes 5 --plan --calibrated --max-edge-steps 40 --plot docs/results/antmaze/paths.png --film docs/results/antmaze/film.png

# Draw the figures of the README and the guides again.
figures:
    cargo build --release -p isochrone-cli --locked
    PATH="$PWD/target/release:$PATH" examples/draw.sh
