"""Evaluates `isochrone gaps`: regions cut out of connected data, and suggested starts.

    python gaps.py BINARY [--maze pointmaze-medium-navigate-v0.npz] [--work FOLDER] [-o OUT.json]

Cuts: all frames inside a region are removed, which leaves pieces of episodes on both sides of it.
The region is found if both ends of the first bridge lie beside it, on different sides. In the maze
a region is a disk around a cell that every path crosses; in the scenes of the arm and the pusher
it is a band of frames to go, which every demonstration of the task crosses.

Starts: a policy that replays the nearest of 30 demonstrations is tested on 40 starts, before and
after 8 more demonstrations, at random starts and at those that `gaps` suggests.
"""

import argparse
import copy
import json
import tempfile
from pathlib import Path

import numpy as np

import arm
import arm_oracle
import maze
import push
import push_oracle
from defects import make_episodes
from isochrone_command import run, run_json
from lerobot_files import write_plain

CUTS = 10
# The average of the metrics at both ends of a bridge was chosen on the cuts of seed 0.
CUT_SEED = 1
# Pieces of fewer frames are dropped.
SHORTEST_PIECE = 5
# Radius of a disk that closes a corridor and its corners, and the largest offset of its center
# from the middle of a cell, per axis.
DISK_RADIUS, DISK_JITTER = 2.4, 0.2
# An end of a bridge is beside the disk if it is this near to its edge: ten steps of the point.
BESIDE_DISK = 2.0
# Width of a band of frames to go; the ends of a bridge must be as near to it as it is wide.
BAND_FRAMES = BESIDE_BAND = 25.0

DEMONSTRATIONS, RECORDED_NEXT, TEST_STARTS, START_SEEDS = 30, 8, 40, 4


def split(episode, removed):
    """The pieces of an episode without the removed frames; only the last frame is a success."""
    pieces, frames = [], len(episode)
    kept = np.flatnonzero(~removed)
    for own in np.split(kept, np.flatnonzero(np.diff(kept) > 1) + 1):
        if len(own) < SHORTEST_PIECE:
            continue
        piece = copy.copy(episode)
        piece.apply(lambda rows, own=own: rows[own])
        piece.label_success = bool(own[-1] == frames - 1)
        pieces.append(piece)
    return pieces


def frame_of(pieces, end):
    """Observation and piece of one end of a bridge."""
    piece = pieces[end["episode"]]
    return piece.state[end["frame"]].astype(float), piece, end["frame"]


class DiskCut:
    """A disk around a cell of the maze that every path crosses."""

    def __init__(self, rng):
        cells = maze.separating_cells()
        self.cell = cells[int(rng.integers(len(cells)))]
        self.center = maze.center(self.cell) + rng.uniform(-DISK_JITTER, DISK_JITTER, 2)
        self.component = maze.components(maze.free_cells() - {self.cell})

    def describe(self):
        return {"center": self.center.tolist(), "radius": DISK_RADIUS}

    def removed(self, episode):
        distance = np.linalg.norm(episode.state - self.center, axis=1)
        return distance < DISK_RADIUS

    def side(self, position):
        """The part of the maze that a position belongs to."""
        cell = maze.cell_of(position)
        if cell == self.cell:
            around = maze.neighbors(cell, self.component)
            cell = min(around, key=lambda c: np.linalg.norm(maze.center(c) - position))
        return self.component[cell]

    def separates(self, pieces):
        """Whether no piece goes from one part to another."""
        return all(len({self.side(x) for x in piece.state}) == 1 for piece in pieces)

    def crossed_by(self, pieces, bridge, beside=BESIDE_DISK):
        """Whether the ends are on different sides, not farther than `beside` from the disk."""
        ends = [frame_of(pieces, bridge[end])[0] for end in ("from", "to")]
        edge = [abs(np.linalg.norm(x - self.center) - DISK_RADIUS) for x in ends]
        different = self.side(ends[0]) != self.side(ends[1])
        return bool(different and max(edge) < beside)


class BandCut:
    """All states with `low` to `low + BAND_FRAMES` frames to go; all episodes are of one task."""

    def __init__(self, rng, scene, oracle, episodes):
        self.oracle = oracle
        self.goal = episodes[0].goal
        typical = np.median([self.to_go(episode)[0] for episode in episodes])
        self.low = float(rng.uniform(0.15, 0.65) * typical)
        self.task = scene.TASKS[self.goal]

    def describe(self):
        band = [self.low, self.low + BAND_FRAMES]
        return {"task": self.task, "frames_to_go": band}

    def to_go(self, episode):
        state, environment = episode.state.astype(float), episode.environment.astype(float)
        return self.oracle.frames_to_go(state, environment, self.goal)

    def removed(self, episode):
        """From the first frame in the band to the last one, so that noise isolates no frames."""
        mask = np.zeros(len(episode), bool)
        to_go = self.to_go(episode)
        entered = np.flatnonzero(to_go < self.low + BAND_FRAMES)[0]
        left = np.flatnonzero(to_go > self.low)[-1] + 1
        mask[entered:left] = True
        return mask

    def separates(self, pieces):
        """Whether no piece has frames on both sides."""
        values = [self.to_go(piece) for piece in pieces]
        high = self.low + BAND_FRAMES
        return all(to_go.min() > self.low or to_go.max() < high for to_go in values)

    def crossed_by(self, pieces, bridge, beside=BESIDE_BAND):
        """Whether it leads from before the band to behind it, not farther than `beside`."""
        values = []
        for end in ("from", "to"):
            _, piece, frame = frame_of(pieces, bridge[end])
            values.append(self.to_go(piece)[frame])
        start, stop = values
        high = self.low + BAND_FRAMES
        starts_before = high - 1 <= start <= high + beside
        return bool(starts_before and self.low - beside <= stop <= self.low + 1)


def evaluate_cuts(binary, work, name, scene, episodes, make_cut, count=CUTS, seed=CUT_SEED):
    """Cuts `count` random regions out of a dataset; how often is the first bridge across it?"""
    rng = np.random.default_rng(seed)
    root = work / f"{name}-uncut"
    write_plain(root, scene, episodes)
    uncut, _ = run_json(binary, "gaps", root)
    cuts = []
    for number in range(count):
        cut = make_cut(rng)
        pieces = [piece for episode in episodes for piece in split(episode, cut.removed(episode))]
        if not cut.separates(pieces):
            raise RuntimeError(f"{name}: cut {number} leaves a path: {cut.describe()}")
        root = work / f"{name}-cut{number}"
        write_plain(root, scene, pieces)
        output, seconds = run_json(binary, "gaps", root)
        across = [cut.crossed_by(pieces, bridge) for bridge in output["bridges"]]
        cuts.append(
            {
                "region": cut.describe(),
                "connected": output["connected"],
                "first_bridge_across": bool(across and across[0]),
                "first_bridge_across_at_any_distance": bool(
                    across and cut.crossed_by(pieces, output["bridges"][0], float("inf"))
                ),
                "rank_of_region": across.index(True) + 1 if any(across) else None,
                "first_bridge": output["bridges"][0] if across else None,
                "seconds": seconds,
            }
        )
        found = cuts[-1]["first_bridge_across"], cuts[-1]["first_bridge_across_at_any_distance"]
        print(f"{name}, cut {number}: across {found[0]}, at any distance {found[1]}", flush=True)
    return {
        "data": name,
        "uncut_connected": uncut["connected"],
        "found_first": sum(cut["first_bridge_across"] for cut in cuts),
        "found_first_at_any_distance": sum(
            cut["first_bridge_across_at_any_distance"] for cut in cuts
        ),
        "reported_disconnected": sum(not cut["connected"] for cut in cuts),
        "cuts": cuts,
    }


def all_cuts(binary, work, maze_npz):
    """The three datasets that regions are cut out of."""
    results = []
    if maze_npz:
        episodes = maze.make_episodes(np.random.default_rng(0), maze_npz)
        results.append(evaluate_cuts(binary, work, "maze", maze, episodes, DiskCut))
    # One task each, since no demonstration goes from the end of one task to that of another: only
    # the demonstrations of one task are connected.
    for name, scene, oracle, goal in (
        ("arm", arm, arm_oracle, "right"),
        ("push", push, push_oracle, "middle"),
    ):
        episodes = make_episodes(scene, 1, clean=110, counts={})
        episodes = [episode for episode in episodes if episode.goal == goal]

        def make_cut(rng, scene=scene, oracle=oracle, episodes=episodes):
            return BandCut(rng, scene, oracle, episodes)

        results.append(evaluate_cuts(binary, work, name, scene, episodes, make_cut))
    return results


def demonstrate(rng, start):
    """One demonstration of the left task, with its script."""
    own_rng = np.random.default_rng(rng.integers(1 << 60))
    episode = arm.simulate(own_rng, "left", start)
    episode.task = arm.TASKS["left"]
    return episode


def success_rates(demonstrations, starts):
    """Success rate of replaying the demonstration with the nearest start: all, in the hole."""
    known = np.array([episode.start for episode in demonstrations])
    success, in_hole = [], []
    for start in starts:
        nearest = int(np.linalg.norm(known - start, axis=1).argmin())
        script = demonstrations[nearest].script
        replay = arm.simulate(np.random.default_rng(1), "left", start, script=script)
        success.append(replay.real_success)
        if 0.250 < start[0] < 0.295:
            in_hole.append(replay.real_success)
    return [float(np.mean(success)), float(np.mean(in_hole))]


def suggested_starts(binary, root, count):
    """The first `count` starts that `gaps` suggests."""
    help_text, _ = run(binary, "gaps", "--help")
    options = ["--starts", count] if "--starts" in help_text else []
    output, _ = run_json(binary, "gaps", root, *options)
    starts = output["starts"][:count]
    if len(starts) < count:
        raise RuntimeError(f"{root}: gaps suggests {len(starts)} starts, not {count}")
    return [np.array([start["values"][name] for name in arm.START_NAMES]) for start in starts]


def evaluate_starts(binary, work, seeds=START_SEEDS):
    """Success rates before and after more demonstrations, at random and at suggested starts."""
    rows = []
    for seed in range(seeds):
        rng = np.random.default_rng(100 + seed)
        starts = [arm.draw_start(rng, "left") for _ in range(DEMONSTRATIONS)]
        recorded = [demonstrate(rng, start) for start in starts]
        low, high = (0.215, 0.04), (0.335, 0.15)
        tests = [rng.uniform(low, high) for _ in range(TEST_STARTS)]
        at_random = [arm.draw_start(rng, "left") for _ in range(RECORDED_NEXT)]
        root = work / f"starts{seed}"
        write_plain(root, arm, recorded)
        suggested = suggested_starts(binary, root, RECORDED_NEXT)
        rows.append(
            {
                "seed": seed,
                "before": success_rates(recorded, tests),
                "random": success_rates(recorded + [demonstrate(rng, s) for s in at_random], tests),
                "suggested": success_rates(
                    recorded + [demonstrate(rng, s) for s in suggested], tests
                ),
                "suggested_starts": [start.tolist() for start in suggested],
            }
        )
    means = {
        name: np.mean([row[name] for row in rows], axis=0).tolist()
        for name in ("before", "random", "suggested")
    }
    return {"mean_success_rate_and_in_hole": means, "seeds": rows}


def print_result(result):
    for data in result.get("cuts", []):
        print(
            f"{data['data']}: first bridge across the cut in {data['found_first']} of"
            f" {len(data['cuts'])} (at any distance {data['found_first_at_any_distance']}),"
            f" reported as disconnected {data['reported_disconnected']};"
            f" uncut data connected: {data['uncut_connected']}"
        )
    if "starts" in result:
        for name, (all_starts, hole) in result["starts"]["mean_success_rate_and_in_hole"].items():
            print(f"starts, {name}: success {all_starts:.1%}, in the hole {hole:.1%}")


def evaluate(binary, work, maze_npz=None):
    """Cuts and starts."""
    work.mkdir(parents=True, exist_ok=True)
    return {"cuts": all_cuts(binary, work, maze_npz), "starts": evaluate_starts(binary, work)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("--maze", type=Path, help="pointmaze-medium-navigate-v0.npz")
    parser.add_argument("--work", type=Path, help="folder for datasets; default: temporary")
    parser.add_argument("-o", "--output", type=Path, help="write the result as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        result = evaluate(arguments.binary, work, arguments.maze)
    print_result(result)
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
