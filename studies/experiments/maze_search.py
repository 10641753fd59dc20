"""What was tried for every method before the maze study: one change at a time from common settings, about a core-minute each, on pointmaze-medium-navigate. Judged alone and, where there is a
distance, with a plan, as in the study; a plan over a critic that looks at pairs one by one is slow, so that it has fewer episodes.

    python3 maze_search.py PROGRAM DATA FOLDER [METHOD ...]

PROGRAM is the command `isochrone` built with the feature `mujoco`, DATA a data set of pointmaze-medium, FOLDER where runs are kept; what is there is not made again. Tasks and seeds are
others than those of the study. Prints a table in Markdown.
"""

import json
import os
import pathlib
import subprocess
import sys

SEED, TASK_SEED, EPISODES = 100, 1000, 20
PLANNED_EPISODES = {"cmd1": 20, "cmd2": 20, "crl-nce": 20, "qrl": 20, "gciql": 4, "ddpg": 2}
PLAN = ["--plan", "--calibrated", "--reversible", "--horizon", "20"]
# Updates in about a core-minute.
STEPS = {"cmd1": 8000, "cmd2": 6000, "crl-nce": 9000, "qrl": 4000, "gcbc": 20000, "gciql": 9000, "ddpg": 9000}
COMMON = {
    "discount": "0.99",
    "learner.critic.width": "128",
    "learner.critic.latent": "128",
    "learner.contrast.width": "128",
    "learner.policy.width": "128",
    "learner.critic_optimiser.learning_rate": "3e-3",
    "learner.critic_optimiser.schedule": "cosine",
    "learner.contrast_optimiser.learning_rate": "3e-3",
    "learner.contrast_optimiser.schedule": "cosine",
    "learner.policy.optimiser.learning_rate": "1e-3",
    "learner.policy.optimiser.schedule": "cosine",
    "learner.policy.goals.mixture.uniform": "0.5",
    "learner.policy.goals.mixture.random": "0.5",
    "learner.extraction": '{kind="distance_bc",cloning=0.1}',
    "learner.cloning": "0.1",
}
LACKS = {
    "cmd1": ["contrast", "cloning"],
    "cmd2": ["cloning"],
    "crl-nce": ["contrast", "cloning", "critic.latent"],
    "qrl": ["contrast", "cloning"],
    "gcbc": ["contrast", "cloning", "critic", "extraction"],
    "gciql": ["contrast", "cloning", "critic.latent"],
    "ddpg": ["contrast", "extraction", "critic.latent"],
}
CHANGES = {
    0: {},
    1: {"discount": "0.97"},
    2: {"discount": "0.9"},
    3: {"learner.extraction": '{kind="distance_bc",cloning=0.01}', "learner.cloning": "0.01"},
    4: {"learner.extraction": '{kind="distance_bc",cloning=1.0}', "learner.cloning": "1.0"},
    5: {"learner.extraction": '{kind="awr",alpha=1.0}'},
    6: {"learner.policy.goals.mixture.uniform": "1.0", "learner.policy.goals.mixture.random": "0.0"},
    7: {"learner.policy.goals.mixture.uniform": "0.0", "learner.policy.goals.mixture.random": "0.0", "learner.policy.goals.mixture.geometric": "1.0"},
    9: {"learner.target_rate": "0.02"},
}


def settings(method, change):
    said = {**COMMON, **change}
    if method == "gcbc" and "learner.policy.goals.mixture.geometric" not in change:
        # Cloning can only clone what was done.
        said |= {"learner.policy.goals.mixture.uniform": "1.0", "learner.policy.goals.mixture.random": "0.0"}
    if method == "qrl":
        said["learner.critic.latent"] = "64"
    if method == "gcbc" and "learner.policy.goals.mixture.geometric" not in change:
        # It discounts nothing else.
        said["discount"] = COMMON["discount"]
    lacks = LACKS[method] + ([] if method in ("gciql", "ddpg") else ["target_rate"])
    return {name: value for name, value in said.items() if not any(name == f"learner.{part}" or name.startswith((f"learner.{part}.", f"learner.{part}_")) for part in lacks)}


def judged(program, run, episodes, plan, env):
    command = [program, "eval", str(run), "--env", "pointmaze-medium", "--episodes", str(episodes), "--task-seed", str(TASK_SEED), "--json", *plan]
    said = json.loads(subprocess.run(command, check=True, env=env, capture_output=True).stdout)
    return {"success": said["last"], "steps": said["rows"][0]["steps"]}


def attempt(program, data, folder, method, number, change):
    run = folder / f"{method}-{number}"
    verdict = run.with_suffix(".json")
    said = settings(method, change)
    if not verdict.exists():
        env = {**os.environ, "RAYON_NUM_THREADS": "1"}
        subprocess.run(["rm", "-rf", str(run)], check=True)
        command = [program, "train", "--data", data, "-a", method, "--size", "small", "--steps", str(STEPS[method]), "--seed", str(SEED), "--threads", "1", "--run", str(run)]
        subprocess.run(command + ["metrics.evaluate_every=0"] + [f"{name}={value}" for name, value in said.items()], check=True, env=env, capture_output=True)
        found = {"seconds": json.loads((run / "status.json").read_text())["seconds"], "alone": judged(program, run, EPISODES, [], env)}
        if method in PLANNED_EPISODES:
            found["planned"] = judged(program, run, PLANNED_EPISODES[method], PLAN, env)
        verdict.write_text(json.dumps(found))
    return json.loads(verdict.read_text())


def cells(result):
    if result is None:
        return "- | -"
    return f"{100 * result['success']:.0f} % | " + (f"{result['steps']:.0f}" if result["steps"] else "-")


def main():
    program, data, folder, *methods = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for method in methods or STEPS:
        before = settings(method, {})
        for number, change in CHANGES.items():
            if number and settings(method, change) == before:
                continue
            found = attempt(program, data, folder, method, number, change)
            said = ", ".join(f"`{name} = {value}`" for name, value in change.items() if name in settings(method, change)) or "none"
            rows.append(f"| {method} | {said} | {cells(found['alone'])} | {cells(found.get('planned'))} | {found['seconds']:.0f} |")
            print(rows[-1], file=sys.stderr, flush=True)
    print("# What was tried before the study of point mazes\n")
    print(
        "Success on pointmaze-medium-navigate, one change at a time from common settings (`maze_search.py`; discount 0.99, critics of two layers of 128, goals of the policy half uniform over the rest of the recording and half "
        f"random, cloning 0.1), about a core-minute of training each, seed {SEED}; {EPISODES} episodes of each task, with a graph {PLANNED_EPISODES['cmd1']}, of gciql {PLANNED_EPISODES['gciql']} and of ddpg {PLANNED_EPISODES['ddpg']}. "
        "The study takes for every method what did best with a graph and, among equals, alone; its critics have three layers, which did better with CMD-1 on pointmaze-large-stitch, but for qrl. `seconds` are those of the clock.\n"
    )
    print("| method | change | alone | steps of those that arrived | graph | steps | seconds |\n|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
