"""The contenders of `whole_training.py`: `isochrone train` and `isochrone eval`, and the loop in JAX.

Both train up to a number of updates and evaluate there, as often as asked, and are idle in between.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from settings import Settings

LOOP = Path(__file__).with_name("loop.py")
# Any number above the number of evaluations: all checkpoints are kept.
ALL_CHECKPOINTS = 1_000_000


@dataclasses.dataclass(frozen=True)
class Task:
    """What is trained and evaluated, except for the settings of the learner."""

    data: Path
    environment: str
    episodes: int
    work: Path


class Isochrone:
    """A run of the command. Every block resumes it, which changes no bit of the result."""

    def __init__(self, binary: Path, task: Task, settings: Settings) -> None:
        self.binary, self.task, self.settings = binary, task, settings
        self.run = task.work / f"{settings.name}-isochrone"
        shutil.rmtree(self.run, ignore_errors=True)
        version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True)
        self.facts = {
            "version": version.stdout.split()[-1],
            "binary_sha256": hashlib.sha256(binary.read_bytes()).hexdigest(),
        }

    def call(self, *arguments: str) -> tuple[Any, float, float]:
        """Return the answer, the seconds of the clock and those of all cores."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run([self.binary, *arguments, "--json"], capture_output=True, text=True)
        seconds = time.perf_counter() - start
        if done.returncode:
            raise RuntimeError(f"isochrone {' '.join(arguments)}: {done.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return json.loads(done.stdout), seconds, own

    def train(self, updates: int) -> dict[str, Any]:
        config, total = self.run / "config.toml", updates
        if config.exists():
            text = config.read_text()
            total += int(re.search(r"^steps = (\d+)", text, re.M)[1])
            config.write_text(re.sub(r"^steps = \d+", f"steps = {total}", text, flags=re.M))
            before = json.loads((self.run / "status.json").read_text())["seconds"]
            answer, wall, own = self.call("train", "--resume", str(self.run), "--accept-edits")
        else:
            before = 0.0
            arguments = [
                "--data", str(self.task.data), "--run", str(self.run), "--steps", str(updates),
                *self.settings.isochrone_arguments(),
                f"metrics.every={updates}", "metrics.evaluate_every=0",
                f"checkpoints.every={updates}", f"checkpoints.keep_last={ALL_CHECKPOINTS}",
            ]  # fmt: skip
            answer, wall, own = self.call("train", *arguments)
            manifest = json.loads((self.run / "manifest.json").read_text())
            self.facts |= {
                "revision": manifest["made_by"]["git_revision"],
                "data_sha256": manifest["data"]["content_hash"],
                "startup_seconds": wall - answer["seconds"],
            }
        losses = {name: answer["metrics"][name] for name in sorted(answer["metrics"])}
        seconds = answer["seconds"] - before
        # The startup of the process, which is repeated in every block, keeps one core busy.
        training = own - (wall - seconds)
        block = {"updates": updates, "seconds": seconds, "cpu_seconds": training, "losses": losses}
        return block | {"process_cpu_seconds": own}

    def evaluate(self, seed: int) -> dict[str, Any]:
        where = ["--env", self.task.environment, "--episodes", str(self.task.episodes)]
        answer, wall, _ = self.call("eval", str(self.run), *where, "--task-seed", str(seed))
        row = answer["rows"][-1]
        tasks = [value for name, value in row.items() if name.startswith("task")]
        return {"tasks": tasks, "success": row["success"], "evaluation_seconds": wall}

    def close(self) -> None:
        shutil.rmtree(self.run, ignore_errors=True)


class Jax:
    """A process of `loop.py`: as fast as we know, or with the published all-pairs distance and embedding."""

    def __init__(self, python: Path, task: Task, settings: Settings, side: str) -> None:
        self.task = task
        values = json.dumps(dataclasses.asdict(settings))
        self.process = subprocess.Popen(
            [python, LOOP, task.data, task.environment, values, side],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"JAX_PLATFORMS": "cpu"},
        )
        self.facts = self.answer()

    def answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the loop in JAX ended with code {self.process.wait()}")
        return json.loads(line)

    def ask(self, **command: Any) -> dict[str, Any]:
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def train(self, updates: int, max_seconds: float | None = None) -> dict[str, Any]:
        return self.ask(do="train", updates=updates, max_seconds=max_seconds)

    def update_only(self, max_seconds: float) -> float:
        """Return updates per second without sampling."""
        answer = self.ask(do="update_only", max_seconds=max_seconds)
        return answer["updates"] / answer["seconds"]

    def evaluate(self, seed: int) -> dict[str, Any]:
        answer = self.ask(do="evaluate", episodes=self.task.episodes, seed=seed)
        return {key: answer[key] for key in ("tasks", "success")} | {"evaluation_seconds": answer["seconds"]}

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
