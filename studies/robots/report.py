"""Prints the tables of a study's results as Markdown.

python report.py docs/results/robots/results.json
"""

import json
import sys
from pathlib import Path

GROUPS = ("thresholds", "arm", "push")
METHODS = ("isochrone", "nearest_neighbor", "linear_time", "oracle")


def table(header, rows):
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return [*lines, ""]


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"


def readable(name):
    return name.replace("_", " ")


def datasets(results):
    """All datasets, those that thresholds were set on first."""
    return [part for group in GROUPS if group in results for part in results[group]["datasets"]]


def name_of(results, part):
    known = results["thresholds"]["datasets"]
    return part["dataset"] + (" (thresholds)" if part in known else "")


def doctor_tables(results):
    parts = datasets(results)
    rankings = list(parts[0]["doctor"]["average_precision"])
    header = ["dataset", "right name", "as first finding", "clean flagged"]
    rows = [
        [
            name_of(results, part),
            f"{part['doctor']['found']} of {part['doctor']['defective']}",
            part["doctor"]["found_as_first_finding"],
            f"{part['doctor']['clean_flagged']} of {part['doctor']['clean']}",
        ]
        for part in parts
    ]
    yield from ["## Doctor", "", *table(header, rows)]
    header = ["average precision", *(name_of(results, part) for part in parts)]
    rows = [
        [readable(name), *(number(part["doctor"]["average_precision"][name]) for part in parts)]
        for name in rankings
    ]
    with_honest = [part["doctor"]["average_precision_with_honest_failures"] for part in parts]
    row = ["doctor, honest failures as positives", *(number(p["doctor"]) for p in with_honest)]
    yield from table(header, [*rows, row])
    groups = [group for group in GROUPS if group in results]
    counts = [results[group]["totals"]["found_by_kind"] for group in groups]
    rows = [
        [readable(kind), *(f"{count[kind][0]} of {count[kind][1]}" for count in counts)]
        for kind in counts[0]
    ]
    yield from table(["kind", *groups], rows)


def progress_tables(results):
    header = ["dataset", "method", "clean", "all frames", "dropped", "missed", "error (steps)"]
    header += ["after one scale", "RA-BC zero"]
    rows = []
    for part in datasets(results):
        for method in METHODS[:3]:
            values = part["progress"][method]
            kinds = values["rank_correlation_by_kind"]
            rows.append(
                [
                    name_of(results, part),
                    readable(method),
                    number(values["clean_rank_correlation"]),
                    number(values["all_frames_pooled_rank_correlation"]),
                    number(kinds.get("fail_drop"), 2),
                    number(kinds.get("fail_miss"), 2),
                    number(values["clean_mean_error_steps"], 1),
                    number(values["clean_mean_error_steps_after_scale"], 1),
                    f"{values['rabc_zero_share']:.1%}",
                ]
            )
    yield from ["## Progress: rank correlation with the oracle", "", *table(header, rows)]


def rabc_tables(results):
    rows = [
        [part["dataset"], chunk, *(number(v, 2) for v in values["mean_weight"].values())]
        for part in results.get("rabc", [])
        for chunk, values in part["chunks"].items()
    ]
    if rows:
        first = results["rabc"][0]
        groups = next(iter(first["chunks"].values()))["mean_weight"]
        header = ["dataset", "chunk", *(readable(group) for group in groups)]
        title = f"## Mean weights of `RABCWeights`, lerobot {first['lerobot']}"
        yield from [title, "", *table(header, rows)]


def gaps_tables(results):
    if "gaps" not in results:
        return
    header = ["data", "region named first", "at any distance", "disconnected", "uncut connected"]
    rows = [
        [
            data["data"],
            f"{data['found_first']} of {len(data['cuts'])}",
            data["found_first_at_any_distance"],
            data["reported_disconnected"],
            "yes" if data["uncut_connected"] else "no",
        ]
        for data in results["gaps"]["cuts"]
    ]
    yield from ["## Gaps", "", *table(header, rows)]
    rates = results["gaps"]["starts"]["mean_success_rate_and_in_hole"]
    rows = [[name, f"{a:.1%}", f"{b:.1%}"] for name, (a, b) in rates.items()]
    yield from table(["8 more demonstrations", "success rate", "in the hole"], rows)


def scale_tables(results):
    if "scale" not in results:
        return
    header = ["threads", "seconds", "frames per second", "peak resident (MiB)"]
    rows = [
        [
            run["threads"],
            number(run["seconds"], 1),
            number(run["frames_per_second"], 0),
            number(run["peak_resident_mib"], 0),
        ]
        for run in results["scale"]["runs"]
    ]
    yield from [f"## Scale: {results['scale']['frames']} frames", "", *table(header, rows)]
    same = "identical" if results["scale"]["identical_for_all_thread_counts"] else "different"
    yield f"The outputs are {same} for all thread counts."


def report(results):
    """All tables, as Markdown."""
    parts = (doctor_tables, progress_tables, rabc_tables, gaps_tables, scale_tables)
    return "\n".join(line for part in parts for line in part(results))


if __name__ == "__main__":
    print(report(json.loads(Path(sys.argv[1]).read_text())))
