"""Train CRL, QRL and CMD-1 with isochrone and with a loop in JAX like that of OGBench, and evaluate both during training.

Blocks of updates alternate between the sides, so that both see the same machine. A finished pair of run and side is not repeated, unless the
binary or the settings changed: an interrupted command continues where it was, and further methods, presets and seeds are added to the results.

    python benches/whole_training.py target/release/isochrone pointmaze-medium-navigate-v0.npz
    python benches/whole_training.py BINARY DATA --presets small,standard --batch-sizes 256,1024 --updates 20000 --again
    python benches/whole_training.py --page             # README.md and figures from results.json
    python benches/whole_training.py BINARY DATA --smoke    # every part in a few minutes; checks the result
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "benches" / "peers" / "training"))

import report
from settings import METHODS, PRESETS, Settings
from sides import Isochrone, Jax, Task

SIDES = ("isochrone", "jax", "jax-published")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = lambda text: text.split(",")
    numbers = lambda text: [int(number) for number in text.split(",")]
    parser.add_argument("isochrone", type=Path, nargs="?", help="release binary, built with the feature mujoco")
    parser.add_argument("data", type=Path, nargs="?", help="dataset of OGBench (.npz)")
    parser.add_argument("--environment", default="pointmaze-medium")
    parser.add_argument("--methods", type=names, default=list(METHODS))
    parser.add_argument("--presets", type=names, default=["small"])
    parser.add_argument("--batch-sizes", type=numbers, default=[256])
    parser.add_argument("--seeds", type=numbers, default=[0])
    parser.add_argument("--updates", type=int, default=20_000)
    parser.add_argument("--evaluate-every", type=int, default=2_000, help="updates of a block")
    parser.add_argument("--episodes", type=int, default=20, help="episodes per task and evaluation")
    parser.add_argument("--success", type=float, default=0.4, help="success rate of the table of times")
    parser.add_argument("--sides", type=names, default=list(SIDES))
    parser.add_argument("--update-only-seconds", type=float, default=2.0, help="per block")
    parser.add_argument("--published-seconds", type=float, default=10.0, help="limit of a block of jax-published")
    parser.add_argument("--published-blocks", type=int, default=3)
    parser.add_argument("--again", action="store_true", help="repeat sides that have results")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--smoke", action="store_true", help="check every part, in target/whole-training-smoke")
    parser.add_argument("--python", type=Path, default=ROOT / "target/peers/bin/python")
    parser.add_argument("--work", type=Path, default=ROOT / "target/whole-training")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/results/whole-training")
    args = parser.parse_args()
    for name, given, known in (
        ("--methods", args.methods, METHODS),
        ("--presets", args.presets, PRESETS),
        ("--sides", args.sides, SIDES),
    ):
        if unknown := set(given) - set(known):
            parser.error(f"{name}: {', '.join(sorted(unknown))}; hint: choose from {', '.join(known)}")
    if not args.page and not args.data:
        parser.error("no binary or dataset; hint: give both, or --page")
    if args.smoke:
        args.updates, args.evaluate_every, args.episodes, args.seeds = 40, 20, 1, [0]
        args.update_only_seconds, args.published_seconds, args.published_blocks = 0.1, 0.1, 1
        args.work = args.output = ROOT / "target/whole-training-smoke"
    if args.updates % args.evaluate_every:
        parser.error("--updates is not a multiple of --evaluate-every")
    return args


class Load:
    """The share of the processor that other programs use."""

    def __init__(self) -> None:
        self.start, self.busy = time.perf_counter(), self.busy_seconds()

    @staticmethod
    def busy_seconds() -> float:
        # user, nice, system, idle, iowait, irq, softirq, steal
        fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")

    def of_others(self, own_seconds: float) -> float:
        elapsed = (time.perf_counter() - self.start) * (os.cpu_count() or 1)
        return max(0.0, (self.busy_seconds() - self.busy - own_seconds) / elapsed)


def machine() -> dict[str, Any]:
    text = Path("/proc/cpuinfo").read_text()
    cpu = next((line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")), "?")
    system = f"{platform.machine()}-{platform.system().lower()}"
    return {"cpu": cpu, "cores": os.cpu_count(), "platform": system, "load_average": os.getloadavg()[0]}


class Results:
    """The records of results.json, one for each run and side."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.path = args.output / "results.json"
        self.value: dict[str, Any] = {"records": []}
        if self.path.exists():
            self.value = json.loads(self.path.read_text())
        if not args.page:
            self.value = {
                "command": "just whole-training",
                "environment": args.environment,
                "success_of_times": args.success,
                "machine": machine(),
                "records": self.value["records"],
            }

    def find(self, key: dict[str, Any]) -> dict[str, Any] | None:
        return next((one for one in self.value["records"] if key.items() <= one.items()), None)

    def put(self, key: dict[str, Any], record: dict[str, Any]) -> None:
        others = [one for one in self.value["records"] if not key.items() <= one.items()]
        self.value["records"] = sorted(
            [*others, {**key, **record}],
            key=lambda one: (one["method"], one["preset"], one["batch_size"], one["seed"], one["side"]),
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".draft")
        draft.write_text(json.dumps(self.value, indent=1) + "\n")
        draft.replace(self.path)


def one_block(args: argparse.Namespace, name: str, side: Any, seed: int) -> dict[str, Any]:
    """Train one block of updates, measure what belongs to it, and evaluate."""
    load = Load()
    if name == "jax-published":
        block = side.train(args.evaluate_every, args.published_seconds)
    else:
        block = side.train(args.evaluate_every)
    block["other_load"] = load.of_others(block.pop("process_cpu_seconds", block["cpu_seconds"]))
    if name != "isochrone":
        block["update_only_per_second"] = side.update_only(args.update_only_seconds)
    if name != "jax-published":
        block |= side.evaluate(seed)
    return block


def run(args: argparse.Namespace, task: Task, settings: Settings, results: Results) -> None:
    """Train with all sides that have no result yet, block by block in turn."""
    keys, sides = {}, {}
    for name in args.sides:
        # CRL has no form that could be slower.
        if name == "jax-published" and settings.method == "crl":
            continue
        key = {
            "method": settings.method,
            "preset": settings.preset,
            "batch_size": settings.batch_size,
            "seed": settings.seed,
            "side": name,
        }
        is_ours = name == "isochrone"
        plan = {
            "settings_hash": settings.hash(),
            "updates": args.updates,
            "evaluate_every": args.evaluate_every,
            "episodes": args.episodes,
        }
        side = Isochrone(args.isochrone, task, settings) if is_ours else None
        known = plan | ({"binary_sha256": side.facts["binary_sha256"]} if is_ours else {})
        if not args.again and results.find(key | known):
            print(f"{settings.name} {name}: has a result", flush=True)
            continue
        keys[name] = (key, plan)
        sides[name] = side or Jax(args.python, task, settings, name)
    session, blocks = time.time(), {name: [] for name in sides}
    try:
        for number in range(args.updates // args.evaluate_every):
            names = [name for name in sides if name != "jax-published" or number < args.published_blocks]
            turn = number % len(names) if names else 0
            for name in names[turn:] + names[:turn]:
                block = one_block(args, name, sides[name], settings.seed)
                blocks[name].append(block)
                success = f", success {block['success']:.2f}" if "success" in block else ""
                rate, other = block["updates"] / block["seconds"], block["other_load"]
                print(
                    f"{settings.name} {name} block {number + 1}: {rate:.1f} updates/s, other load {other:.2f}{success}",
                    flush=True,
                )
    finally:
        for side in sides.values():
            side.close()
    for name, (key, plan) in keys.items():
        results.put(key, {**plan, "session": session, **sides[name].facts, "blocks": blocks[name]})


def check(value: dict[str, Any], args: argparse.Namespace) -> None:
    """Fail if a side did not learn at all, or the sides did not do the same."""
    expected = len(args.methods) * len(args.presets) * len(args.batch_sizes)
    trained = [one for one in value["records"] if one["side"] != "jax-published"]
    assert len(trained) == 2 * expected, f"{len(trained)} records, not {2 * expected}"
    for one in trained:
        assert len(one["blocks"]) == 2 and all(block["updates"] == 20 for block in one["blocks"])
        other = next(
            two for two in trained if two["side"] != one["side"] and report.group_of(two) == report.group_of(one)
        )
        for name, loss in one["blocks"][1]["losses"].items():
            if name.endswith("/loss") and name in other["blocks"][1]["losses"]:
                theirs = other["blocks"][1]["losses"][name]
                assert abs(loss - theirs) < 0.25 * abs(theirs) + 0.25, f"{one['method']} {name}: {loss} and {theirs}"
    print("smoke test passed")


def main() -> None:
    args = parse()
    results = Results(args)
    if not args.page:
        args.work.mkdir(parents=True, exist_ok=True)
        lock = (args.work / "lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit(f"{args.work}: another process uses the folder; hint: wait for it, or give another --work")
        task = Task(args.data.resolve(), args.environment, args.episodes, args.work)
        args.isochrone = args.isochrone.resolve()
        for seed in args.seeds:
            for batch_size in args.batch_sizes:
                for preset in args.presets:
                    for method in args.methods:
                        run(args, task, Settings(method, preset, batch_size, seed), results)
    if args.smoke:
        check(results.value, args)
    report.write(results.value, args.output)


main()
