"""Datasets with planted defects: 21 kinds, one per defective episode, known frames.

A scene (`arm.py`, `push.py`) simulates demonstrations. Ten kinds are planted by the scene's
operator; the others change the frames afterwards and are the same for every scene.
"""

import copy
from dataclasses import dataclass, field

import numpy as np

# Episodes of each kind in a dataset: 68 beside 112 clean ones.
COUNTS = {
    "stall": 6,
    "idle_head": 3,
    "idle_tail": 3,
    "fail_miss": 3,
    "fail_drop": 3,
    "fail_place": 2,
    "honest_fail": 3,
    "regress": 5,
    "back_and_forth": 3,
    "detour": 5,
    "jump": 5,
    "reversed": 2,
    "dup_exact": 3,
    "dup_near": 2,
    "dup_trim": 2,
    "fast": 3,
    "slow": 3,
    "task_swap": 4,
    "truncated": 4,
    "spike": 2,
    "frozen": 2,
}

# Kinds that the operator's script contains.
SCRIPTED = (
    "stall",
    "idle_head",
    "idle_tail",
    "fail_miss",
    "fail_drop",
    "fail_place",
    "honest_fail",
    "regress",
    "back_and_forth",
    "detour",
)

# Kinds whose script does not succeed; a dropped cube can still roll into its bin, so that the
# truth file also holds the outcome.
FAILURES = ("fail_miss", "fail_drop", "fail_place", "honest_fail")

# Frames of the script per logged frame, for a wrong frame rate.
FRAME_RATIO = {"fast": 2.0, "slow": 0.5}

# Frames that a trimmed duplicate lacks at its start.
TRIMMED = 12


@dataclass
class Episode:
    """One demonstration. Arrays have one row per frame."""

    state: np.ndarray
    environment: np.ndarray
    action: np.ndarray
    goal: str
    start: list
    real_success: bool
    marks: list
    script: object = None
    kind: str = "clean"
    task: str = ""
    label_success: bool = True
    copy_of: int | None = None
    extra: dict = field(default_factory=dict)

    def __len__(self):
        return len(self.state)

    def apply(self, change):
        """Applies the same change of rows to all arrays."""
        self.state = change(self.state)
        self.environment = change(self.environment)
        self.action = change(self.action)

    def truth(self, number):
        """The entry of the truth file."""
        return {
            "episode": number,
            "kind": self.kind,
            "frames": len(self),
            "task": self.task,
            "side": self.goal,
            "label_success": self.label_success,
            "real_success": self.real_success,
            "start": self.start,
            "copy_of": self.copy_of,
            "marks": [] if self.kind == "clean" else self.marks,
        }


def kinds_in_order(rng, clean, counts):
    """Shuffles the kinds; a duplicate never precedes the first clean episode."""
    kinds = ["clean"] * clean + [kind for kind, count in counts.items() for _ in range(count)]
    kinds = [str(kind) for kind in rng.permutation(kinds)]
    for position, kind in enumerate(kinds):
        if kind == "clean":
            break
        if kind.startswith("dup"):
            first_clean = kinds.index("clean")
            kinds[position], kinds[first_clean] = "clean", kind
            break
    return kinds


def make_episodes(scene, seed, clean=112, counts=COUNTS):
    """Simulates a dataset of `scene`; the same seed gives the same bytes."""
    rng = np.random.default_rng(seed)
    episodes = []
    for kind in kinds_in_order(rng, clean, counts):
        goal = scene.draw_goal(rng)
        start = scene.draw_start(rng, goal)
        own_rng = np.random.default_rng(rng.integers(1 << 60))
        if kind.startswith("dup"):
            episode = duplicate(scene, own_rng, kind, episodes)
        else:
            scripted = kind if kind in SCRIPTED else None
            ratio = FRAME_RATIO.get(kind, 1.0)
            episode = scene.simulate(own_rng, goal, start, scripted, frame_ratio=ratio)
        change_frames(scene, own_rng, kind, episode)
        goal_of_label = episode.goal
        if kind == "task_swap":
            goal_of_label = scene.other_goal(own_rng, episode.goal)
        episode.task = scene.TASKS[goal_of_label]
        # Honest failures are labeled as such; every other episode is called a success.
        episode.label_success = kind != "honest_fail"
        episode.kind = kind
        if not episode.real_success and kind not in FAILURES:
            raise RuntimeError(f"episode {len(episodes)}: a demonstration of kind {kind} failed")
        episodes.append(episode)
    return episodes


def duplicate(scene, rng, kind, episodes):
    """Copies an earlier clean episode: exactly, replayed with other noise, or trimmed."""
    source = int(rng.choice([i for i, e in enumerate(episodes) if e.kind == "clean"]))
    original = episodes[source]
    if kind == "dup_near":
        start = np.array(original.start)
        episode = scene.simulate(rng, original.goal, start, script=original.script)
    else:
        episode = copy.copy(original)
        episode.apply(np.copy)
    if kind == "dup_trim":
        episode.apply(lambda rows: rows[TRIMMED:])
    episode.marks = [(kind, 0, len(episode))]
    episode.copy_of = source
    return episode


def change_frames(scene, rng, kind, episode):
    """Plants the defects that do not need the simulator, in place."""
    frames = len(episode)
    if kind == "jump":
        gap = int(rng.integers(12, 26))
        at = int(rng.integers(frames // 4, 3 * frames // 4 - gap))
        episode.apply(lambda rows: np.delete(rows, slice(at, at + gap), 0))
        episode.marks = [("jump", at - 1, at + 1)]
    elif kind == "reversed":
        episode.apply(lambda rows: rows[::-1].copy())
        episode.marks = [("reversed", 0, frames)]
    elif kind == "truncated":
        keep = int(frames * rng.uniform(0.45, 0.7))
        episode.apply(lambda rows: rows[:keep])
        episode.marks = [("truncated", keep - 1, keep)]
    elif kind in FRAME_RATIO or kind == "task_swap":
        episode.marks = [(kind, 0, frames)]
    elif kind == "spike":
        at = int(rng.integers(frames // 4, 3 * frames // 4))
        sensor = int(rng.integers(0, len(scene.SPIKE_SIZE)))
        size = rng.choice([-1, 1]) * rng.uniform(0.5, 1.0)
        episode.state[at, sensor] += size * scene.SPIKE_SIZE[sensor]
        episode.marks = [("spike", at, at + 1)]
    elif kind == "frozen":
        at = int(rng.integers(frames // 5, frames // 2))
        sensor = int(rng.integers(0, len(scene.SPIKE_SIZE)))
        episode.state[at:, sensor] = episode.state[at, sensor]
        episode.marks = [("frozen", at, frames)]
