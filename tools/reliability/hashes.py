"""Trains every algorithm for ten updates with each instruction set, and compares the weights.

    python tools/reliability/hashes.py COMMAND --out docs/results/reliability [--arm COMMAND]

Processors that this machine is not are emulated with QEMU's user mode.
"""

import argparse
import hashlib
import json
import subprocess
import tempfile
from pathlib import Path

ALGORITHMS = ["cmd1", "cmd2", "crl-nce", "crl-cpc", "qrl", "tmd", "mqe", "gcbc", "gciql", "ddpg"]
DATA = Path(__file__).resolve().parents[2] / "examples/walks.csv"
SETTINGS = "--observations x,y --actions action_x,action_y --size small --threads 1 --steps 10 batch_size=64"


def weights(prefix: list[str], flags: list[str], algorithm: str) -> dict[str, str]:
    """The SHA-256 of the weights after ten updates, and what the manifest has on the command."""
    with tempfile.TemporaryDirectory() as folder:
        train = ["train", "--data", DATA, "--algorithm", algorithm, "--run", "r", *SETTINGS.split(), *flags]
        subprocess.run([*prefix, *train], cwd=folder, check=True, capture_output=True)
        run = Path(folder) / "r"
        made_by = json.loads((run / "manifest.json").read_text())["made_by"]
        # The last checkpoint: the best one may be there, too.
        bytes_ = max(run.glob("checkpoints/*/weights.safetensors")).read_bytes()
        facts = {name: made_by[name] for name in ["instruction_set", "git_revision"]}
        return {"weights_sha256": hashlib.sha256(bytes_).hexdigest()[:16], **facts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("--arm", help="the command built for ARM64")
    parser.add_argument("--light", help="the command built without the feature mujoco")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    options = parser.parse_args()
    native, limit = [options.command], "--instruction-set"
    columns = {
        "this processor": (native, []),
        "limited to AVX2": (native, [limit, "avx2"]),
        "limited to the baseline": (native, [limit, "baseline"]),
        "Haswell (AVX2), emulated": (["qemu-x86_64", "-cpu", "Haswell", *native], []),
    }
    # MuJoCo needs AVX, so that a processor without it needs a build without physics.
    if options.light:
        columns["Nehalem (SSE), emulated"] = (["qemu-x86_64", "-cpu", "Nehalem", options.light], [])
    if options.arm:
        columns["ARM64, emulated"] = (["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", options.arm], [])
    rows = []
    for algorithm in options.algorithms.split(","):
        row = {"algorithm": algorithm}
        for name, (prefix, flags) in columns.items():
            row[name] = weights(prefix, flags, algorithm)
        rows.append(row)
        print(algorithm, *(f"{row[name]['weights_sha256']} ({row[name]['instruction_set']})" for name in columns), flush=True)
    version = subprocess.run([options.command, "--version"], check=True, capture_output=True, text=True)
    results = {"version": version.stdout.strip(), "settings": SETTINGS, "columns": list(columns), "rows": rows}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "hashes.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
