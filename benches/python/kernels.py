"""Measure the kernels of isochrone in PyTorch and JAX beside the formulas that they replace.

Writes results.json, README.md and times.svg to FOLDER, and the table of docs/guides/torch-and-jax.md.
All contenders of a comparison run in one process, one after the other in every round.

    python benches/python/kernels.py docs/results/python-kernels
    python benches/python/kernels.py docs/results/python-kernels --page   # from results.json
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SEED = 0
BATCHES = (256, 1024)
ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guides" / "torch-and-jax.md"
# A comparison: its framework, the metric, and the ratio that the fused loss must reach.
THRESHOLDS = {("PyTorch", "mrn"): 50, ("JAX", "mrn"): 30}
MAX_GRADIENT_DIFFERENCE = 1e-4
# A round is quiet if other programs use less than this share of the processor. Rounds are repeated
# until enough of them are quiet, at most this many times as often.
QUIET = 0.05
MAX_ROUNDS = 4


class OtherLoad:
    """The share of the processor that other programs use between two calls."""

    def __init__(self) -> None:
        self.before = self.now()

    @staticmethod
    def now() -> tuple[float, float, float]:
        """Return the seconds of the clock, of all busy cores, and of this process."""
        # user, nice, system, idle, iowait, irq, softirq, steal
        fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        busy = sum(fields) - fields[3] - fields[4]
        return time.perf_counter(), busy / os.sysconf("SC_CLK_TCK"), time.process_time()

    def share(self) -> float:
        elapsed, busy, own = (after - before for after, before in zip(self.now(), self.before, strict=True))
        return max(0.0, (busy - own) / (elapsed * (os.cpu_count() or 1)))


def quiet_rounds(rounds: int, run: Callable[[], Any]) -> tuple[list[Any], float, int]:
    """Repeat a round until enough of them were quiet, and return the quietest.

    The choice depends only on the load of other programs, never on the times that were measured.
    """
    found: list[tuple[float, int, Any]] = []
    while len(found) < MAX_ROUNDS * rounds and sum(share < QUIET for share, *_ in found) < rounds:
        load = OtherLoad()
        result = run()
        found.append((load.share(), len(found), result))
    kept = sorted(found)[:rounds]
    return [result for *_, result in kept], max(share for share, *_ in kept), len(found)


def measure(contenders: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Return the seconds of every contender in every round; fast contenders are repeated."""
    repeats = {}
    for name, run in contenders.items():
        run()
        start = time.perf_counter()
        run()
        repeats[name] = max(1, min(10, int(0.1 / (time.perf_counter() - start))))

    def one_round() -> dict[str, float]:
        seconds = {}
        for name, run in contenders.items():
            gc.collect()
            times = []
            for _ in range(repeats[name]):
                start = time.perf_counter()
                run()
                times.append(time.perf_counter() - start)
            seconds[name] = statistics.median(times)
        return seconds

    kept, share, measured = quiet_rounds(rounds, one_round)
    seconds = {name: [one[name] for one in kept] for name in contenders}
    return seconds, {"rounds": rounds, "rounds_measured": measured, "other_load": share}


def differences(found: Any, expected: Any) -> tuple[float, float]:
    """Return the largest difference of a gradient, and relative to the largest number of its array."""
    pairs = [(float(abs(a - b).max()), float(abs(b).max())) for a, b in zip(found, expected, strict=True)]
    return max(difference for difference, _ in pairs), max(difference / scale for difference, scale in pairs)


def rows_of(
    seconds: dict[str, list[float]], baseline: str, digits: dict[str, tuple[float, float]], **what: Any
) -> list[dict[str, Any]]:
    rows = []
    for name, times in seconds.items():
        ratios = [base / own for base, own in zip(seconds[baseline], times, strict=True)]
        row = {
            **what,
            "contender": name,
            "best_ms": 1e3 * min(times),
            "median_ms": 1e3 * statistics.median(times),
            "ratio_of_best": min(seconds[baseline]) / min(times),
            "median_ratio": statistics.median(ratios),
            "max_gradient_difference": digits[name][0],
            "relative_gradient_difference": digits[name][1],
        }
        rows.append(row)
        print(
            f"{row['framework']:8s} {row['metric']} {row['batch']:5d}  {name:36s} best {row['best_ms']:9.1f} ms, "
            f"median {row['median_ms']:9.1f} ms, {row['ratio_of_best']:6.1f} x, {row['median_ratio']:6.1f} x, "
            f"other load {row['other_load']:.2f}",
            flush=True,
        )
    return rows


# PyTorch


def torch_mrn(x: Any, y: Any) -> Any:
    import torch

    half = x.shape[-1] // 2
    largest = torch.relu(x[..., :half] - y[..., :half]).amax(-1)
    return largest + (x[..., half:] - y[..., half:]).norm(dim=-1)


def torch_iqe(x: Any, y: Any, width: int, alpha: Any) -> Any:
    """Sort the end points of the intervals and count the open ones: the method of torchqmet."""
    import torch

    x, y = torch.broadcast_tensors(x.unflatten(-1, (-1, width)), y.unflatten(-1, (-1, width)))
    ends, order = torch.cat([x, y], -1).sort(-1)
    sign = torch.where(order < width, 1, -1) * (x < y).gather(-1, order % width)
    components = (ends.diff(dim=-1) * (sign.cumsum(-1)[..., :-1] > 0)).sum(-1)
    return torch.lerp(components.mean(-1), components.amax(-1), alpha)


def torch_infonce(distance: Any, potential: Any) -> Any:
    import torch
    from torch.nn.functional import cross_entropy

    logits = potential - distance
    labels = torch.arange(len(logits))
    return cross_entropy(logits, labels) + cross_entropy(logits.T, labels)


def measure_torch(kind: str, batch: int, rounds: int) -> list[dict[str, Any]]:
    import torch
    from isochrone.torch import IQE, SplitMRN, infonce

    torch.manual_seed(SEED)
    width = 512 if kind == "mrn" else 128
    metric = SplitMRN(width) if kind == "mrn" else IQE(width, 16)
    inputs = [torch.randn(batch, width), torch.randn(batch, width), torch.randn(batch)]
    for tensor in inputs:
        tensor.requires_grad_()
    x, y, potential = inputs

    def plain(x: Any, y: Any, potential: Any) -> Any:
        if kind == "mrn":
            return torch_infonce(torch_mrn(x[:, None], y), potential)
        return torch_infonce(torch_iqe(x[:, None], y, 16, metric.reduction.raw_alpha.sigmoid()), potential)

    losses: dict[str, Callable[[], Any]] = {"broadcast": lambda: plain(x, y, potential)}
    if kind == "mrn":
        half = width // 2

        def with_cdist() -> Any:
            largest = torch.relu(x[:, None, :half] - y[:, :half]).amax(-1)
            return torch_infonce(largest + torch.cdist(x[:, half:], y[:, half:]), potential)

        compiled = torch.compile(plain)
        losses["broadcast and torch.cdist"] = with_cdist
        losses["broadcast, torch.compile"] = lambda: compiled(x, y, potential)
    losses["isochrone all_pairs, cross-entropy"] = lambda: torch_infonce(metric.all_pairs(x, y), potential)
    losses["isochrone infonce"] = lambda: infonce(metric, x, y, potential)

    def gradients(loss: Callable[[], Any]) -> list[Any]:
        return [gradient.clone() for gradient in torch.autograd.grad(loss(), inputs)]

    expected = gradients(losses["broadcast"])
    digits = {name: differences(gradients(loss), expected) for name, loss in losses.items()}

    def both_passes(loss: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            for tensor in inputs:
                tensor.grad = None
            loss().backward()

        return run

    seconds, load = measure({name: both_passes(loss) for name, loss in losses.items()}, rounds)
    what = {"framework": "PyTorch", "metric": kind, "width": width, "batch": batch}
    return rows_of(seconds, "broadcast", digits, **what, **load)


# JAX


def measure_jax(kind: str, batch: int, rounds: int) -> list[dict[str, Any]]:
    import jax
    import jax.numpy as jnp
    from isochrone.jax import infonce, iqe, mrn

    width = 512 if kind == "mrn" else 128
    metric = mrn() if kind == "mrn" else iqe(16, 0.25)
    keys = jax.random.split(jax.random.key(SEED), 3)
    inputs = [jax.random.normal(key, shape) for key, shape in zip(keys, [(batch, width)] * 2 + [(batch,)])]

    def plain(x: Any, y: Any) -> Any:
        if kind == "mrn":
            half = width // 2
            difference = x[:, None, half:] - y[:, half:]
            largest = jax.nn.relu(x[:, None, :half] - y[:, :half]).max(-1)
            return largest + jnp.sqrt((difference**2).sum(-1))
        x, y = (z.reshape(batch, batch, -1, 16) for z in jnp.broadcast_arrays(x[:, None], y))
        both = jnp.concatenate([x, y], -1)
        order = both.argsort(-1)
        ends = jnp.take_along_axis(both, order, -1)
        sign = jnp.where(order < 16, 1, -1) * jnp.take_along_axis(x < y, order % 16, -1)
        components = (jnp.diff(ends, axis=-1) * (sign.cumsum(-1)[..., :-1] > 0)).sum(-1)
        return 0.25 * components.max(-1) + 0.75 * components.mean(-1)

    def cross_entropy(distance: Any, potential: Any) -> Any:
        logits = potential - distance
        sums = jax.nn.logsumexp(logits, 1) + jax.nn.logsumexp(logits, 0)
        return (sums - 2 * jnp.diagonal(logits)).mean()

    losses: dict[str, Callable[..., Any]] = {
        "broadcast": lambda x, y, p: cross_entropy(plain(x, y), p),
        "isochrone all_pairs, cross-entropy": lambda x, y, p: cross_entropy(metric.all_pairs(x, y), p),
        "isochrone infonce": lambda x, y, p: infonce(metric, x, y, p),
    }
    steps = {name: jax.jit(jax.value_and_grad(loss, (0, 1, 2))) for name, loss in losses.items()}
    _, expected = steps["broadcast"](*inputs)
    digits = {name: differences(step(*inputs)[1], expected) for name, step in steps.items()}
    runs = {name: lambda step=step: jax.block_until_ready(step(*inputs)) for name, step in steps.items()}
    seconds, load = measure(runs, rounds)
    what = {"framework": "JAX", "metric": kind, "width": width, "batch": batch}
    return rows_of(seconds, "broadcast", digits, **what, **load)


# Training loops


def walks(n: int, length: int) -> Any:
    """Random walks in the plane: ``(n, length, 2)``."""
    import torch

    return torch.cumsum(0.1 * torch.randn(n, length, 2), 1)


def network(inputs: int, outputs: int) -> Any:
    from torch import nn

    layers = [nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, outputs)]
    return nn.Sequential(*layers)


class Crl:
    """Contrastive RL: states and future states of the same walk are positives."""

    def __init__(self, batch: int, changed: bool) -> None:
        import torch
        from isochrone.torch import SplitMRN

        torch.manual_seed(SEED)
        self.walks, self.batch, self.changed = walks(1000, 200), batch, changed
        self.states, self.goals = network(2, 512), network(2, 512)
        self.metric = SplitMRN(512)  # the first line of the change
        self.optimizer = torch.optim.Adam([*self.states.parameters(), *self.goals.parameters()], 3e-4)
        self.random = torch.Generator().manual_seed(SEED)

    def step(self) -> float:
        import torch
        from isochrone.torch import infonce

        walk = torch.randint(1000, (self.batch,), generator=self.random)
        start = torch.randint(150, (self.batch,), generator=self.random)
        ahead = torch.empty(self.batch).geometric_(0.1, generator=self.random).long().clamp(max=49)
        x, y = self.states(self.walks[walk, start]), self.goals(self.walks[walk, start + ahead])
        if self.changed:
            loss = infonce(self.metric, x, y)  # the second line
        else:
            loss = torch_infonce(torch_mrn(x[:, None], y), 0.0)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


class Qrl:
    """Quasimetric RL: distances to random goals grow, distances of transitions stay at most 1."""

    def __init__(self, batch: int, changed: bool) -> None:
        import torch
        from isochrone.torch import IQE

        torch.manual_seed(SEED)
        self.walks, self.batch = walks(1000, 200), batch
        self.encoder = network(2, 512)
        metric = IQE(512, 8)
        alpha = metric.reduction.raw_alpha
        self.distance = metric if changed else lambda x, y: torch_iqe(x, y, 8, alpha.sigmoid())
        self.multiplier = torch.zeros((), requires_grad=True)
        parameters = [*self.encoder.parameters(), *metric.parameters(), self.multiplier]
        self.optimizer = torch.optim.Adam(parameters, 3e-4)
        self.random = torch.Generator().manual_seed(SEED)

    def step(self) -> float:
        import torch
        from torch.nn.functional import softplus

        walk = torch.randint(1000, (self.batch,), generator=self.random)
        at = torch.randint(199, (self.batch,), generator=self.random)
        x, after = self.encoder(self.walks[walk, at]), self.encoder(self.walks[walk, at + 1])
        goals = x.roll(1, 0)
        far = softplus(15 - self.distance(x, goals), beta=0.1).mean()
        violation = (self.distance(x, after) - 1).relu().square().mean() - 0.25**2
        weight = softplus(self.multiplier)
        # The multiplier ascends: its gradient has the opposite sign.
        loss = far + weight.detach() * violation - weight * violation.detach()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return (far + violation).item()


def measure_loop(kind: type[Crl | Qrl], batch: int, steps: int, rounds: int) -> dict[str, Any]:
    loops = {changed: kind(batch, changed) for changed in (False, True)}
    first = {changed: [loop.step() for _ in range(3)] for changed, loop in loops.items()}

    def one_round() -> dict[bool, float]:
        rates = {}
        for changed, loop in loops.items():
            gc.collect()
            n = steps * (8 if changed else 1)
            start = time.perf_counter()
            for _ in range(n):
                loop.step()
            rates[changed] = n / (time.perf_counter() - start)
        return rates

    kept, share, measured = quiet_rounds(rounds, one_round)
    rates = {changed: [one[changed] for one in kept] for changed in loops}
    row = {
        "loop": kind.__name__.lower(),
        "batch": batch,
        "rounds": rounds,
        "rounds_measured": measured,
        "other_load": share,
        "before_steps_per_second": max(rates[False]),
        "after_steps_per_second": max(rates[True]),
        "ratio_of_best": max(rates[True]) / max(rates[False]),
        "median_ratio": statistics.median(b / a for a, b in zip(rates[False], rates[True], strict=True)),
        "max_loss_difference_in_3_steps": max(abs(a - b) for a, b in zip(*first.values(), strict=True)),
    }
    print(row, flush=True)
    return row


# Results


def machine() -> dict[str, Any]:
    model = "unknown"
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(": ")[1] for line in lines if line.startswith("model name")), model)
    return {"cpu": model, "cores": os.cpu_count(), "platform": f"{platform.machine()}-{platform.system().lower()}"}


def revision() -> str:
    def git(*args: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *args], capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")


def run(folder: Path, rounds: int) -> None:
    import isochrone
    import jax
    import numpy
    import torch

    threads = os.cpu_count() or 1
    torch.set_num_threads(threads)
    isochrone.set_num_threads(threads)
    load = os.getloadavg()
    rows, loops = [], []
    for batch in BATCHES:
        # The slow contenders take minutes at the larger batch.
        few = rounds if batch == min(BATCHES) else max(2, rounds // 2)
        rows += measure_torch("mrn", batch, few)
        rows += measure_jax("mrn", batch, few)
        loops.append(measure_loop(Crl, batch, 4 if batch == min(BATCHES) else 1, few))
    loops.append(measure_loop(Qrl, 1024, 4, rounds))
    for batch in BATCHES:
        few = max(2, rounds // 2) if batch == min(BATCHES) else 1
        rows += measure_torch("iqe", batch, few)
        rows += measure_jax("iqe", batch, few)
    results = {
        "version": isochrone.__version__,
        "revision": revision(),
        "seed": SEED,
        "threads": threads,
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "jax": jax.__version__,
            "numpy": numpy.__version__,
            "isochrone": isochrone.__version__,
        },
        "machine": machine(),
        "load_average": {"before": load[0], "after": os.getloadavg()[0]},
        "kernels": rows,
        "loops": loops,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=2) + "\n")


METRIC_NAMES = {"mrn": "MRN, 512 features", "iqe": "IQE, 128 features in groups of 16"}


def find(results: dict[str, Any], framework: str, metric: str, batch: int, contender: str) -> dict[str, Any]:
    rows = results["kernels"]
    keys = {"framework": framework, "metric": metric, "batch": batch, "contender": contender}
    return next(row for row in rows if all(row[key] == value for key, value in keys.items()))


def amount(value: float) -> str:
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}"


def page(results: dict[str, Any]) -> str:
    versions, host = results["versions"], results["machine"]
    lines = [
        "# Speed: kernels in PyTorch and JAX",
        "",
        "Made by `python benches/python/kernels.py docs/results/python-kernels`, with a release build.",
        "Milliseconds of a symmetric contrastive loss over all pairs of a batch, forward and backward, float32 on the CPU.",
        "`broadcast` is the formula on a tensor of all differences; for IQE it sorts end points as torchqmet does.",
        "JAX is compiled by `jax.jit`.",
        "All contenders run in one process, one after the other in every round; a time is the best round, a ratio the median of the ratios within each round, with the ratio of the best rounds in parentheses.",
        f"Rounds are repeated until enough of them are quiet (other programs use less than {100 * QUIET:.0f} % of the processor), at most {MAX_ROUNDS} times as often, and the quietest are kept; `other load` is the largest share in a kept round.",
        "",
        f"- isochrone {versions['isochrone']}, PyTorch {versions['torch']}, JAX {versions['jax']}, NumPy {versions['numpy']}, Python {versions['python']}",
        f"- processor: {host['cpu']}, {host['cores']} cores, {results['threads']} threads",
        f"- load average of the machine before and after: {results['load_average']['before']:.1f} and {results['load_average']['after']:.1f}; other programs ran on the same cores if it exceeds the number of threads",
        f"- seed {results['seed']}, normal data, revision {results['revision'][:12]}{'+' if results['revision'].endswith('+') else ''}",
        "",
        "![Times per framework, metric and batch](times.svg)",
        "",
        "Time of one loss, forward and backward, on a logarithmic axis; shorter is faster.",
        "A relative difference is relative to the largest number of the gradient of the same array.",
        "",
        "## Losses",
        "",
        "| framework | metric | batch | contender | ms | broadcast / contender | largest difference of a gradient | relative | rounds | other load |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results["kernels"]:
        ratio = f"{amount(row['median_ratio'])} ({amount(row['ratio_of_best'])})"
        lines.append(
            f"| {row['framework']} | {row['metric'].upper()} {row['width']} | {row['batch']} | {row['contender']} "
            f"| {row['best_ms']:.1f} | {ratio} | {row['max_gradient_difference']:.1e} "
            f"| {row['relative_gradient_difference']:.1e} | {row['rounds']} of {row['rounds_measured']} | {100 * row['other_load']:.0f} % |"
        )
    lines += [
        "",
        "| ratio | batch | threshold | measured (of best) | met |",
        "|---|---|---|---|---|",
    ]
    for (framework, metric), threshold in THRESHOLDS.items():
        for batch in BATCHES:
            row = find(results, framework, metric, batch, "isochrone infonce")
            met = "yes" if min(row["median_ratio"], row["ratio_of_best"]) >= threshold else "**no**"
            measured = f"{amount(row['median_ratio'])} ({amount(row['ratio_of_best'])})"
            lines.append(
                f"| {framework}, {metric.upper()}: broadcast / infonce | {batch} | >= {threshold} | {measured} | {met} |"
            )
    # The relative difference is the stricter one: gradients of a mean over a batch are small.
    largest = max(row["relative_gradient_difference"] for row in results["kernels"])
    met = "yes" if largest <= MAX_GRADIENT_DIFFERENCE else "**no**"
    lines += [
        f"| largest relative difference of a gradient | all | <= {MAX_GRADIENT_DIFFERENCE:.0e} | {largest:.1e} | {met} |",
        "",
        "## Training loops",
        "",
        "Complete loops in PyTorch: networks of 2 × 256 units with 512 outputs, sampling, loss, backward pass and Adam, before and after a change of two lines.",
        "`crl` is contrastive RL with an MRN; all pairs of a batch are compared.",
        "`qrl` is quasimetric RL with an IQE (groups of 8); it compares only pairs of rows, so that the networks take a larger share.",
        "",
        "| loop | batch | steps per second before | after | ratio | difference of the loss in 3 steps | rounds | other load |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in results["loops"]:
        lines.append(
            f"| {row['loop']} | {row['batch']} | {row['before_steps_per_second']:.2f} | {row['after_steps_per_second']:.1f} "
            f"| {amount(row['median_ratio'])} ({amount(row['ratio_of_best'])}) | {row['max_loss_difference_in_3_steps']:.1e} "
            f"| {row['rounds']} of {row['rounds_measured']} | {100 * row['other_load']:.0f} % |"
        )
    return "\n".join(lines) + "\n"


def guide_table(results: dict[str, Any]) -> str:
    lines = ["| framework | distance | batch | broadcast | `all_pairs` | `infonce` | faster |", "|---|---|---|---|---|---|---|"]
    for framework in ("PyTorch", "JAX"):
        for metric, name in METRIC_NAMES.items():
            for batch in BATCHES:
                plain, matrix, fused = (
                    find(results, framework, metric, batch, contender)
                    for contender in ("broadcast", "isochrone all_pairs, cross-entropy", "isochrone infonce")
                )
                lines.append(
                    f"| {framework} | {name} | {batch} | {plain['best_ms']:.0f} ms | {matrix['best_ms']:.1f} ms "
                    f"| {fused['best_ms']:.1f} ms | {amount(fused['median_ratio'])} times |"
                )
    return "\n".join(lines)


COLORS = {"broadcast": "#9aa5b1", "isochrone all_pairs, cross-entropy": "#7fb3d5", "isochrone infonce": "#1f6fb2"}


def figure(results: dict[str, Any]) -> str:
    """Return horizontal bars on a logarithmic axis, as SVG."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in results["kernels"]:
        groups.setdefault((row["framework"], row["metric"], row["batch"]), []).append(row)
    left, width, bar, gap = 250, 420, 15, 12
    low = math.floor(math.log10(min(row["best_ms"] for row in results["kernels"])))
    high = math.ceil(math.log10(max(row["best_ms"] for row in results["kernels"])))

    def at(value: float) -> float:
        return left + width * (math.log10(value) - low) / (high - low)

    parts, top = [], 34
    for (framework, metric, batch), rows in groups.items():
        label = f"{framework}, {metric.upper()} {rows[0]['width']}, batch {batch}"
        parts.append(f'<text x="8" y="{top + 4}" font-weight="bold">{label}</text>')
        top += 12
        for row in rows:
            color = COLORS.get(row["contender"], "#c9d1d9")
            end = at(row["best_ms"])
            text = f"{row['best_ms']:.0f} ms" if row["best_ms"] >= 20 else f"{row['best_ms']:.1f} ms"
            parts.append(f'<text x="{left - 6}" y="{top + 11}" text-anchor="end">{row["contender"]}</text>')
            parts.append(
                f'<rect x="{left}" y="{top}" width="{end - left:.1f}" height="{bar - 3}" fill="{color}"/>'
                f'<text x="{end + 4:.1f}" y="{top + 11}">{text}</text>'
            )
            top += bar
        top += gap
    axis = []
    for power in range(low, high + 1):
        x = at(10**power)
        axis.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="26" y2="{top}" stroke="#d0d7de"/>')
        axis.append(f'<text x="{x:.1f}" y="{top + 14}" text-anchor="middle">{10**power:g}</text>')
    title = "time of one contrastive loss, forward and backward (ms)"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 80} {top + 38}" '
        f'font-family="sans-serif" font-size="11" fill="#1f2328">'
        f'<rect width="100%" height="100%" fill="white"/><title>{title}</title>'
        + "".join(axis + parts)
        + f'<text x="{left + width / 2}" y="{top + 31}" text-anchor="middle">{title}</text></svg>\n'
    )


def write_pages(folder: Path) -> None:
    results = json.loads((folder / "results.json").read_text())
    (folder / "README.md").write_text(page(results))
    (folder / "times.svg").write_text(figure(results))
    start, end = "<!-- python-kernels -->\n", "<!-- end -->"
    text = GUIDE.read_text()
    before, rest = text.split(start)
    after = rest.split(end)[1]
    GUIDE.write_text(f"{before}{start}\n{guide_table(results)}\n\n{end}{after}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--page", action="store_true", help="write the pages from results.json")
    arguments = parser.parse_args()
    if not arguments.page:
        run(arguments.folder, arguments.rounds)
    write_pages(arguments.folder)
