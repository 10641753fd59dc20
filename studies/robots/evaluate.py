"""Compares the outputs of `isochrone doctor` and `isochrone progress` with the planted truth.

    python evaluate.py DATASET... --doctor FILE.json... --progress FILE.parquet... [-o OUT.json]

Give one doctor file and one progress file per dataset; totals are summed over datasets. The truth
is `DATASET.truth.json` unless --truth names it.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import baselines
from lerobot_files import read_frames, truth_path
from metrics import average_precision, overlap, rabc_weights, rank_correlation

# The rules that name each kind of defect correctly.
EXPECT = {
    "stall": {"stall"},
    "idle_head": {"idle_head"},
    "idle_tail": {"idle_tail"},
    "regress": {"loop", "detour"},
    "back_and_forth": {"loop", "detour"},
    "detour": {"loop", "detour"},
    "fail_miss": {"end"},
    "fail_drop": {"end"},
    "fail_place": {"end"},
    "honest_fail": {"end"},
    "truncated": {"end"},
    "task_swap": {"task"},
    "reversed": {"reversed"},
    "jump": {"jump"},
    "spike": {"spike", "jump"},
    "frozen": {"frozen"},
    "fast": {"pace"},
    "slow": {"pace"},
    "dup_exact": {"duplicate"},
    "dup_near": {"duplicate"},
    "dup_trim": {"duplicate"},
}

# Kinds whose defect is a segment of frames, so that its place can be compared.
SEGMENTS = ("stall", "idle_head", "idle_tail", "regress", "back_and_forth", "detour")

# Groups of frames for which mean RA-BC weights are reported.
WANDERING = ("regress", "back_and_forth", "detour")
WAITING = ("stall", "idle_head", "idle_tail")
TAIL_FRAMES = 20


def scene_oracle(robot_type):
    """The module with `frames_to_go` and the task names of a dataset's scene."""
    if robot_type == "four_joint_arm":
        import arm as scene
        import arm_oracle as oracle
    elif robot_type == "gantry_fork":
        import push as scene
        import push_oracle as oracle
    else:
        raise ValueError(f"no oracle for robot_type '{robot_type}'")
    return scene.TASKS, oracle.frames_to_go


def oracle_frames_to_go(frames):
    """Frames to go of every frame to the end of the task that its episode is labeled with."""
    tasks, frames_to_go = scene_oracle(frames.robot_type)
    goal_of_task = {task: goal for goal, task in tasks.items()}
    to_go = np.empty(len(frames.episode))
    for rows in frames.rows():
        goal = goal_of_task[frames.task_names[frames.task[rows.start]]]
        to_go[rows] = frames_to_go(frames.state[rows], frames.environment[rows], goal)
    return to_go


def by_episode(doctor, episodes):
    """The doctor's entry of each episode; an episode that is not listed has no findings."""
    entries = {entry["episode"]: entry for entry in doctor["episodes"]}
    nothing = {"score": 0.0, "findings": []}
    return [entries.get(episode, nothing) for episode in range(episodes)]


def evaluate_doctor(frames, truth, doctor, nearest_distance):
    """Findings with the right name, clean episodes flagged, average precision, overlap."""
    entries = by_episode(doctor, len(truth))
    kinds = np.array([episode["kind"] for episode in truth])
    found, found_first, missed, flagged, overlaps = {}, 0, [], [], {}
    for episode, entry in zip(truth, entries, strict=True):
        rules = [finding["rule"] for finding in entry["findings"]]
        kind, number = episode["kind"], episode["episode"]
        if kind == "clean":
            if rules:
                flagged.append({"episode": number, "rules": rules, "score": entry["score"]})
            continue
        right = [finding for finding in entry["findings"] if finding["rule"] in EXPECT[kind]]
        count = found.setdefault(kind, [0, 0])
        count[0] += bool(right)
        count[1] += 1
        found_first += bool(rules) and rules[0] in EXPECT[kind]
        if not right:
            missed.append({"episode": number, "kind": kind, "rules": rules})
        if kind in SEGMENTS:
            planted = episode["marks"][0][1:]
            places = [(finding["first_frame"], finding["end_frame"]) for finding in right]
            best = max((overlap(planted, place) for place in places), default=0.0)
            overlaps.setdefault(kind, []).append(best)
    # An honest failure has nothing to repair: it is labeled correctly. A doctor that reports its
    # end all the same cannot reach 1, so that the precision with all kinds stands beside it.
    defective = kinds != "clean"
    positive = defective & (kinds != "honest_fail")
    scores = {"doctor": np.array([entry["score"] for entry in entries], float)}
    scores |= baselines.episode_scores(frames, nearest_distance)
    return {
        "found": sum(count[0] for count in found.values()),
        "found_as_first_finding": found_first,
        "defective": sum(count[1] for count in found.values()),
        "found_by_kind": {kind: found[kind] for kind in EXPECT if kind in found},
        "missed": missed,
        "clean_flagged": len(flagged),
        "clean": int((kinds == "clean").sum()),
        "clean_flagged_episodes": flagged,
        "positives": int(positive.sum()),
        "average_precision": {k: average_precision(s, positive) for k, s in scores.items()},
        "average_precision_with_honest_failures": {
            name: average_precision(values, defective) for name, values in scores.items()
        },
        "overlap_by_kind": {kind: float(np.mean(v)) for kind, v in sorted(overlaps.items())},
    }


def read_progress(path, frames):
    """Steps to go and progress of every frame, in the order of `index`."""
    table = pq.read_table(path).sort_by("index")
    index = table["index"].to_numpy()
    if len(index) != len(frames.episode) or (index != np.arange(len(index))).any():
        raise ValueError(f"{path}: {len(index)} rows for {len(frames.episode)} frames")
    if (table["episode_index"].to_numpy() != frames.episode).any():
        raise ValueError(f"{path}: episode_index differs from the dataset's")
    return (
        table["steps_to_go"].to_numpy().astype(float),
        table["progress_sparse"].to_numpy().astype(float),
    )


def progress_of(to_go, frames):
    """Progress from steps to go: one denominator per task, the median of its first frames."""
    first = np.array([r.start for r in frames.rows()])
    progress = np.empty(len(to_go))
    for task in np.unique(frames.task):
        typical = np.nanmedian(to_go[first[frames.task[first] == task]])
        own = frames.task == task
        progress[own] = np.clip(1 - to_go[own] / typical, 0, 1)
    return progress


def marked_frames(frames, truth, kinds):
    """Mask of the frames that the truth marks as one of `kinds`."""
    mask = np.zeros(len(frames.episode), bool)
    for episode, rows in zip(truth, frames.rows(), strict=True):
        for kind, first, end in episode["marks"]:
            if kind in kinds:
                mask[rows.start + first : rows.start + end] = True
    return mask


def frame_groups(frames, truth):
    """Masks of clean frames, the tails of clean episodes, wandering and waiting frames."""
    clean = np.zeros(len(frames.episode), bool)
    tail = clean.copy()
    for episode, rows in zip(truth, frames.rows(), strict=True):
        if episode["kind"] == "clean":
            clean[rows] = True
            tail[max(rows.start, rows.stop - TAIL_FRAMES) : rows.stop] = True
    return {
        "clean": clean,
        "clean_last_20": tail,
        "regress_detour": marked_frames(frames, truth, WANDERING),
        "stall_idle": marked_frames(frames, truth, WAITING),
    }


def evaluate_progress(frames, truth, oracle, to_go, progress):
    """Agreement of steps to go with the oracle, and what RA-BC makes of the progress."""
    per_kind, voc = {}, []
    for episode, rows in zip(truth, frames.rows(), strict=True):
        kind = episode["kind"]
        per_kind.setdefault(kind, []).append(rank_correlation(to_go[rows], oracle[rows]))
        if kind == "clean":
            voc.append(rank_correlation(-to_go[rows], np.arange(rows.stop - rows.start)))
    groups = frame_groups(frames, truth)
    clean = groups["clean"] & np.isfinite(to_go)
    truth_steps, steps = oracle[clean], to_go[clean]
    scale = float((truth_steps * steps).sum() / (steps**2).sum())
    remaining = baselines.frames_remaining(frames)[clean]
    weights = {chunk: rabc_weights(progress, frames.rows(), chunk) for chunk in (50, 10)}
    return {
        "clean_rank_correlation": float(np.nanmean(per_kind["clean"])),
        "clean_rank_correlation_of_progress": mean_correlation(
            frames, truth, oracle, -progress, "clean"
        ),
        "clean_pooled_rank_correlation": rank_correlation(to_go[clean], oracle[clean]),
        "all_frames_pooled_rank_correlation": rank_correlation(to_go, oracle),
        "rank_correlation_by_kind": {
            kind: float(np.nanmean(values)) for kind, values in sorted(per_kind.items())
        },
        "clean_rank_correlation_with_time": float(np.nanmean(voc)),
        "clean_mean_error_steps": float(np.abs(truth_steps - steps).mean()),
        "scale": scale,
        "clean_mean_error_steps_after_scale": float(np.abs(truth_steps - scale * steps).mean()),
        "clean_mean_error_steps_from_recorded": float(np.abs(remaining - steps).mean()),
        "unknown_frames": int((~np.isfinite(to_go)).sum()),
        "rabc_zero_share": float((weights[50] == 0).mean()),
        "rabc_mean_weight": {
            f"chunk_{chunk}": {name: float(w[m].mean()) for name, m in groups.items() if m.any()}
            for chunk, w in weights.items()
        },
    }


def mean_correlation(frames, truth, oracle, values, kind):
    """Mean over the episodes of one kind of the rank correlation with the oracle."""
    pairs = zip(truth, frames.rows(), strict=True)
    own = [rows for episode, rows in pairs if episode["kind"] == kind]
    return float(np.nanmean([rank_correlation(values[rows], oracle[rows]) for rows in own]))


def evaluate(root, truth=None, doctor=None, progress=None):
    """Evaluates one dataset; `doctor` and `progress` are paths or None."""
    frames = read_frames(root)
    truth = json.loads(Path(truth or truth_path(root)).read_text())
    nearest_to_go, nearest_distance = baselines.nearest_frames(frames)
    result = {"dataset": Path(root).name, "frames": len(frames.episode)}
    if doctor:
        output = json.loads(Path(doctor).read_text())
        result["doctor"] = evaluate_doctor(frames, truth, output, nearest_distance)
    if progress:
        oracle = oracle_frames_to_go(frames)
        linear = baselines.frames_remaining(frames)
        linear_progress = np.concatenate(
            [np.linspace(0, 1, rows.stop - rows.start) for rows in frames.rows()]
        )
        candidates = {
            "isochrone": read_progress(progress, frames),
            "nearest_neighbor": (nearest_to_go, progress_of(nearest_to_go, frames)),
            "linear_time": (linear, linear_progress),
            "oracle": (oracle, progress_of(oracle, frames)),
        }
        result["progress"] = {
            name: evaluate_progress(frames, truth, oracle, *values)
            for name, values in candidates.items()
        }
    return result


def totals(results):
    """Sums the counts of the doctor over datasets, and averages the rates."""
    doctors = [result["doctor"] for result in results if "doctor" in result]
    summed = {"datasets": [result["dataset"] for result in results]}
    if doctors:
        for key in ("found", "found_as_first_finding", "defective", "clean_flagged", "clean"):
            summed[key] = sum(doctor[key] for doctor in doctors)
        summed["found_by_kind"] = {
            kind: [sum(d["found_by_kind"].get(kind, [0, 0])[i] for d in doctors) for i in (0, 1)]
            for kind in EXPECT
        }
        for key in ("average_precision", "average_precision_with_honest_failures"):
            summed[key] = {
                name: float(np.mean([doctor[key][name] for doctor in doctors]))
                for name in doctors[0][key]
            }
    progress = [result["progress"] for result in results if "progress" in result]
    if progress:
        keys = [key for key, value in progress[0]["isochrone"].items() if isinstance(value, float)]
        summed["progress"] = {
            name: {key: float(np.mean([p[name][key] for p in progress])) for key in keys}
            for name in progress[0]
        }
    return summed


def print_result(result):
    """Prints one dataset's result in a few lines."""
    print(f"{result['dataset']}: {result['frames']} frames")
    if "doctor" in result:
        print_doctor(result["doctor"])
    for name, values in result.get("progress", {}).items():
        print_progress(name, values)


def print_doctor(doctor):
    print(
        f"  doctor: right name {doctor['found']}/{doctor['defective']}"
        f" (as first finding {doctor['found_as_first_finding']}),"
        f" clean flagged {doctor['clean_flagged']}/{doctor['clean']}"
    )
    counts = [f"{kind} {n}/{of}" for kind, (n, of) in doctor["found_by_kind"].items()]
    print("    by kind: " + ", ".join(counts))
    precision = [f"{name} {ap:.3f}" for name, ap in doctor["average_precision"].items()]
    print("    average precision: " + ", ".join(precision))
    with_honest = doctor["average_precision_with_honest_failures"]["doctor"]
    print(f"    average precision of doctor with honest failures as positives: {with_honest:.3f}")
    places = [f"{kind} {iou:.2f}" for kind, iou in doctor["overlap_by_kind"].items()]
    print("    overlap: " + ", ".join(places))
    for miss in doctor["missed"]:
        rules = ", ".join(miss["rules"]) or "nothing"
        print(f"    missed: episode {miss['episode']}, {miss['kind']}; found {rules}")
    for flag in doctor["clean_flagged_episodes"]:
        print(f"    clean but flagged: episode {flag['episode']}, {', '.join(flag['rules'])}")


def print_progress(name, values):
    kinds = ("regress", "back_and_forth", "detour", "stall", "fail_drop", "fail_miss")
    by_kind = values["rank_correlation_by_kind"]
    weight = values["rabc_mean_weight"]["chunk_50"]
    print(
        f"  progress, {name}: clean {values['clean_rank_correlation']:.3f}"
        f" (pooled {values['clean_pooled_rank_correlation']:.3f}),"
        f" all frames {values['all_frames_pooled_rank_correlation']:.3f},"
        f" error {values['clean_mean_error_steps']:.1f} steps"
        f" ({values['clean_mean_error_steps_after_scale']:.1f} after x{values['scale']:.2f})"
    )
    print("    " + ", ".join(f"{kind} {by_kind[kind]:.2f}" for kind in kinds if kind in by_kind))
    groups = ", ".join(f"{group} {value:.2f}" for group, value in weight.items())
    print(f"    RA-BC, chunk 50: zero {values['rabc_zero_share']:.1%}; mean weight {groups}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--truth", nargs="+", help="truth files, one per dataset")
    parser.add_argument("--doctor", nargs="+", help="outputs of `doctor --json`, one per dataset")
    parser.add_argument("--progress", nargs="+", help="outputs of `progress`, one per dataset")
    parser.add_argument("-o", "--output", type=Path, help="write the result as JSON")
    arguments = parser.parse_args()
    count = len(arguments.datasets)
    lists = [arguments.truth, arguments.doctor, arguments.progress]
    if any(files and len(files) != count for files in lists):
        parser.error(f"give one file per dataset: there are {count} datasets")
    files = [values or [None] * count for values in lists]
    results = []
    for root, truth, doctor, progress in zip(arguments.datasets, *files, strict=True):
        results.append(evaluate(root, truth, doctor, progress))
        print_result(results[-1])
    summary = {"datasets": results, "totals": totals(results)}
    if count > 1 and "found" in summary["totals"]:
        total = summary["totals"]
        print(
            f"total: right name {total['found']}/{total['defective']},"
            f" clean flagged {total['clean_flagged']}/{total['clean']},"
            f" average precision {total['average_precision']['doctor']:.3f}"
        )
    if arguments.output:
        arguments.output.write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main()
