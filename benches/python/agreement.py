"""Compares success rates of one run: the command, `evaluate` in our environment, and in OGBench's.

    python benches/python/agreement.py docs/results/python-evaluate [--episodes 50]

Needs gymnasium, mujoco and ogbench. Writes results.json and README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import gymnasium
import numpy as np
import ogbench

import isochrone
import isochrone.gym

NAME, ENV, SEED = "pointmaze-medium-navigate", "isochrone/PointMazeMedium-v0", 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--episodes", type=int, default=50, help="per task")
    parser.add_argument("--steps", type=int, default=3000)
    arguments = parser.parse_args()
    data = isochrone.collect(NAME, 100, seed=SEED)
    rows: list[dict[str, Any]] = []

    def add(policy: str, where: str, by_task: list[float]) -> None:
        n, success = 5 * arguments.episodes, float(np.mean(by_task))
        rows.append({"policy": policy, "measured by": where, "success": success, "by_task": by_task, "episodes": n,
                     "standard_error": float(np.sqrt(success * (1 - success) / n))})  # fmt: skip
        print(rows[-1], flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data.save(folder / "data.arrow")
        run = isochrone.train(folder / "data.arrow", run=folder / "run", size="small", steps=arguments.steps, seed=SEED, progress=False)
        model = run.model("last")
        planned = isochrone.Planner(isochrone.refine(data), data).policy(model)
        for policy, act, flags in (("alone", model, []), ("along recorded segments", planned, ["--plan"])):
            command = [sys.executable, "-m", "isochrone", "eval", str(folder / "run"), "--env", "pointmaze-medium", "--episodes",
                       str(arguments.episodes), "--json", *flags]  # fmt: skip
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            add(policy, "isochrone eval", task_rates(found))
            ours = isochrone.evaluate(ENV, act, episodes=arguments.episodes, seed=SEED)
            add(policy, "evaluate, isochrone.gym", list(ours.success_by_task.values()))
            np.random.seed(SEED)
            env: gymnasium.Env[Any, Any] = ogbench.make_env_and_datasets(f"{NAME}-v0", env_only=True)
            theirs = isochrone.evaluate(env, act, episodes=arguments.episodes, seed=SEED)
            add(policy, "evaluate, OGBench", list(theirs.success_by_task.values()))
    results = {
        "dataset": NAME, "data_sha256": data.content_hash, "seed": SEED, "steps": arguments.steps,
        "version": isochrone.__version__, "ogbench": getattr(ogbench, "__version__", "1.2.2"), "machine": {"cores": os.cpu_count()},
        "rows": rows,
    }  # fmt: skip
    arguments.folder.mkdir(parents=True, exist_ok=True)
    (arguments.folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    lines = [f"| {row['policy']} | {row['measured by']} | {100 * row['success']:.1f} ± {100 * row['standard_error']:.1f} |" for row in rows]
    (arguments.folder / "README.md").write_text(
        "# One run, evaluated in three places\n\n"
        f"Measured by `benches/python/agreement.py`: one run of CMD-1 ({arguments.steps} updates, small network, 100 episodes of {NAME}, seed {SEED}), "
        f"{5 * arguments.episodes} episodes each.\n"
        "The three use different random streams for starts, goals and noise, so that rates agree within their standard errors and not exactly.\n\n"
        "| policy | measured by | success in percent ± standard error |\n|---|---|---|\n" + "\n".join(lines) + "\n"
    )


def task_rates(report: dict[str, Any]) -> list[float]:
    rates = report["rows"][-1]
    return [float(rates[name]) for name in sorted(name for name in rates if name.startswith("task"))]


if __name__ == "__main__":
    main()
