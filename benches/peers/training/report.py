"""The page and the figure of `whole_training.py`, from results.json."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

LAST = 3  # The final success rate is the mean of this many evaluations.
COLORS = {"isochrone": "#0b6e99", "jax": "#d1690e"}
SIZES = {"small": "2 × 64", "standard": "3 × 256", "paper": "4 × 512"}
NAMES = {"crl": "CRL", "qrl": "QRL", "cmd1": "CMD-1"}

Record = dict[str, Any]


def group_of(record: Record) -> tuple[Any, ...]:
    return record["method"], record["preset"], record["batch_size"]


def groups(value: dict[str, Any]) -> dict[tuple[Any, ...], dict[str, list[Record]]]:
    """Return the records of all seeds by group and side."""
    found: dict[tuple[Any, ...], dict[str, list[Record]]] = {}
    for record in value["records"]:
        found.setdefault(group_of(record), {}).setdefault(record["side"], []).append(record)
    order = lambda group: (list(SIZES).index(group[1]), group[2], list(NAMES).index(group[0]))
    return {group: found[group] for group in sorted(found, key=order)}


def rates(record: Record, name: str = "") -> list[float]:
    if name:
        return [block[name] for block in record["blocks"] if name in block]
    return [block["updates"] / block["seconds"] for block in record["blocks"]]


def rate(records: list[Record], name: str = "") -> float | None:
    all_rates = [rate for record in records for rate in rates(record, name)]
    return statistics.median(all_rates) if all_rates else None


def ratio(ours: list[Record], theirs: list[Record], name: str = "") -> float | None:
    """Return our updates per second divided by theirs: the median over blocks that were measured in turn."""
    pairs = []
    for one in ours:
        for two in theirs:
            if (one["seed"], one["session"]) == (two["seed"], two["session"]):
                pairs += [a / b for a, b in zip(rates(one), rates(two, name))]
    if pairs:
        return statistics.median(pairs)
    a, b = rate(ours), rate(theirs, name)
    return a / b if a and b else None


def curve(record: Record) -> tuple[list[int], list[float], list[float]]:
    """Return updates, minutes of training with its startup, and success rates in percent."""
    updates, seconds, points = 0, record["startup_seconds"], ([], [], [])
    for block in record["blocks"]:
        updates, seconds = updates + block["updates"], seconds + block["seconds"]
        for values, value in zip(points, (updates, seconds / 60, 100 * block["success"])):
            values.append(value)
    return points


def minutes_to(records: list[Record], percent: float) -> str:
    """Return the mean minutes to the first evaluation with this success rate."""
    found = []
    for record in records:
        _, minutes, success = curve(record)
        found += [next((m for m, s in zip(minutes, success) if s >= percent), None)]
    reached = [minutes for minutes in found if minutes is not None]
    if not reached:
        return "–"
    note = f" ({len(reached)} of {len(found)} seeds)" if len(reached) < len(found) else ""
    return f"{statistics.mean(reached):.2f}{note}"


def final(records: list[Record]) -> str:
    """Return the mean final success rate and, with several seeds, its standard error."""
    values = [statistics.mean(curve(record)[2][-LAST:]) for record in records]
    if not values:
        return "–"
    spread = f" ± {statistics.stdev(values) / len(values) ** 0.5:.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{spread}"


def number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def table(columns: list[str], rows: list[list[str]]) -> list[str]:
    lines = [f"| {' | '.join(line)} |" for line in (columns, *rows)]
    return [lines[0], "|---" * len(columns) + "|", *lines[1:], ""]


def label(group: tuple[Any, ...]) -> list[str]:
    method, preset, batch_size = group
    return [NAMES[method], f"{preset} ({SIZES[preset]})", str(batch_size)]


def speed_table(value: dict[str, Any]) -> list[str]:
    percent, rows = 100 * value["success_of_times"], []
    for group, sides in groups(value).items():
        ours, jax = sides.get("isochrone", []), sides.get("jax", [])
        numbers = [number(rate(ours)), number(rate(jax)), number(ratio(ours, jax), 2)]
        times = [minutes_to(ours, percent), minutes_to(jax, percent)]
        rows.append([*label(group), *numbers, *times, final(ours), final(jax)])
    columns = ["method", "networks", "batch", "isochrone, updates/s", "JAX, updates/s", "ratio"]
    columns += [f"isochrone, minutes to {percent:.0f} %", f"JAX, minutes to {percent:.0f} %"]
    return table([*columns, "isochrone, final success", "JAX, final success"], rows)


def detail_table(value: dict[str, Any]) -> list[str]:
    rows = []
    for group, sides in groups(value).items():
        ours = sides.get("isochrone", [])
        for side, records in sides.items():
            mean = lambda name: statistics.mean(record[name] for record in records)
            blocks = [block for record in records for block in record["blocks"]]
            core = statistics.median(1e3 * block["cpu_seconds"] / block["updates"] for block in blocks)
            evaluations = [block["evaluation_seconds"] for block in blocks if "success" in block]
            form = ", ".join(sorted({record["variant"] for record in records if "variant" in record}))
            name, against = side + (f" ({form})" if form else ""), ratio(ours, records)
            row = [number(rate(records)), number(against, 2) if side != "isochrone" else "1"]
            row += [number(core, 2), number(mean("startup_seconds"))]
            row += [number(statistics.median(evaluations) if evaluations else None)]
            row += [number(max(block["other_load"] for block in blocks), 2)]
            rows.append([*label(group), name, *row])
            if side == "jax":
                only = "update_only_per_second"
                row = [number(rate(records, only)), number(ratio(ours, records, only), 2)]
                rows.append([*label(group), "jax, update only", *row, "–", "–", "–", "–"])
    columns = ["method", "networks", "batch", "side", "updates/s", "isochrone / this"]
    columns += ["core-milliseconds per update", "startup, s", "one evaluation, s", "other load, at most"]
    return table(columns, rows)


def draw(value: dict[str, Any], folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "isochrone"
    from matplotlib import pyplot

    curves = {
        group: {side: sides[side] for side in COLORS if side in sides} for group, sides in groups(value).items()
    }
    networks = list(dict.fromkeys(group[1:] for group in curves))
    methods = [method for method in NAMES if any(group[0] == method for group in curves)]
    figure, axes = pyplot.subplots(
        len(networks), len(methods), figsize=(3.6 * len(methods), 0.4 + 2.6 * len(networks)), sharey=True, squeeze=False
    )
    for (method, *network), sides in curves.items():
        ax = axes[networks.index(tuple(network))][methods.index(method)]
        for side, records in sides.items():
            for index, record in enumerate(sorted(records, key=lambda record: record["seed"])):
                _, minutes, success = curve(record)
                name = {"isochrone": "isochrone", "jax": "JAX"}[side] if index == 0 else None
                ax.plot(minutes, success, color=COLORS[side], marker="o", markersize=2.5, linewidth=1.2, label=name)
        ax.set_title(f"{NAMES[method]}, {SIZES[network[0]]}, batch {network[1]}", fontsize=9)
    for row in axes:
        row[0].set_ylabel("success rate (percent)", fontsize=8)
        for ax in row:
            ax.set_ylim(0, 100)
            ax.set_xlim(left=0)
            ax.grid(alpha=0.25, linewidth=0.5)
            ax.tick_params(labelsize=8)
            ax.spines[["top", "right"]].set_visible(False)
            ax.set_visible(bool(ax.lines))
    for ax in axes[-1]:
        ax.set_xlabel("training time (minutes)", fontsize=8)
    axes[0][0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    for ending, metadata in (("svg", {"Date": None}), ("png", None)):
        figure.savefig(folder / f"learning_curves.{ending}", dpi=144, metadata=metadata)


def facts(value: dict[str, Any]) -> list[str]:
    records, machine = value["records"], value["machine"]
    jax = [record for record in records if "versions" in record]
    ours = [record for record in records if "binary_sha256" in record]
    joined = lambda values: ", ".join(sorted({str(value) for value in values}))
    versions = joined(f"{name} {number}" for record in jax for name, number in record["versions"].items())
    seeds, updates = joined(record["seed"] for record in records), joined(record["updates"] for record in records)
    made_by = f"isochrone {joined(record['version'] for record in ours)} at {joined(record['revision'] for record in ours)}"
    return [
        f"Made by `{value['command']}`: {made_by}; {versions}.",
        f"Machine: {machine['cpu']}, {machine['cores']} cores, {machine['platform']}; seeds {seeds}; {updates} updates, "
        f"evaluated every {joined(record['evaluate_every'] for record in records)} by "
        f"{joined(record['episodes'] for record in records)} episodes of each of five tasks; "
        f"content hash of the data {joined(record['data_sha256'][:16] for record in ours)}.",
    ]


ABOUT = """\
CRL, QRL and CMD-1 trained by `isochrone train`, and by a loop in JAX that is written like the reference implementation of OGBench: flax networks, Adam of optax, one jitted update per step with donated buffers, and batches sampled by NumPy in the loop.
Both sides have the same data, networks, losses, batch size, learning rate, goal distributions and number of updates (`benches/peers/training/settings.py`).
Success rates of isochrone are by `isochrone eval`, those of JAX in OGBench's gymnasium environment.
"""

NOTES = """\
Blocks of updates alternate between the sides on the same cores; the ratio is the median over pairs of blocks.
Minutes are those of training and of its startup (reading the data, compilation) up to the first evaluation with that success rate; evaluations are not included.
The final success rate is in percent, the mean of the last three evaluations, ± the standard error over seeds.

![success rate over training time](learning_curves.png)

One line per seed.

## Details

- `jax` has the fastest form that we know: for CMD-1 the fastest of the custom derivative rules of `benches/peers/pairs.py`, for QRL an interval embedding without a sort.
- `jax-published` has the published forms: broadcasting to all pairs for CMD-1, sorted end points for QRL. It trains for a few blocks only.
- `jax, update only` is the update of `jax` on a batch that is already on the device; isochrone always samples.
- As in OGBench, the JAX update computes the gradients of critic and actor at once, so that the actor sees the critic before its update, and QRL evaluates the encoder on fewer rows. isochrone updates the critic first.
- isochrone saves a checkpoint after every block, which counts; JAX saves none.
- Other load is the share of all cores that other programs used during a block.
"""


def write(value: dict[str, Any], folder: Path) -> None:
    draw(value, folder)
    page = ["# Training: isochrone and JAX", "", ABOUT, *speed_table(value), NOTES, *detail_table(value), *facts(value)]
    (folder / "README.md").write_text("\n".join(page) + "\n")
