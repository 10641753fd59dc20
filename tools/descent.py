#!/usr/bin/env python3
"""Where a learned distance leads in a maze, compared with the shortest paths between cells.

For every task of the maze, the distance from each free cell to the goal is the median over pairs of
recorded states within a meter of the centers of the two cells. Following the neighbor with the
smallest distance from the start either reaches the goal or stops in a local minimum.

A policy sees more than the cell: its velocity, or where its last actions led. So the same distance is
also taken right after each move from a cell to a neighbor, over recorded states, and the move with
the smallest one is compared with the shortest path.

The recorded time between positions is evaluated beside the networks, and the successor distance of
the behavior policy, counted in the data: `-ln mean discount^T`, with the time T until the goal's cell
is first entered (infinite in episodes where it is not).

    target/python/bin/python tools/descent.py RUN DATA --maze medium --out descent.json
"""

import argparse
import json
import pathlib
import platform
import tempfile
import tomllib

import isochrone
import numpy as np

MAZES = pathlib.Path(__file__).parent.parent / "crates/envs/assets/mazes.toml"
CELL = 4.0  # meters
STATES = 200  # per cell and per move
SAMPLE = 200_000
SEED = 0  # of the sample
SUMS = ["reaches", "local_minima", "rank_correlation", "right_moves", "moves", "moves_reach"]


def center(cell):
    """The position of a cell's center, in meters."""
    row, column = cell
    return np.array([column * CELL - CELL, row * CELL - CELL])


def free_neighbors(layout):
    """The free cells, each with its free neighbors."""
    free = [(i, j) for i, row in enumerate(layout) for j, cell in enumerate(row) if cell == "0"]
    steps = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    return {(i, j): [(i + a, j + b) for a, b in steps if (i + a, j + b) in free] for i, j in free}


def cells_to(goal, neighbors):
    """The length in cells of the shortest path from each cell to a goal, by the exact solver."""
    cells = list(neighbors)
    moves = np.zeros((4, len(cells), len(cells)))
    for at, cell in enumerate(cells):
        for move, near in enumerate(neighbors[cell]):
            moves[move, at, cells.index(near)] = 1.0
    return dict(zip(cells, isochrone.exact(moves, cells.index(goal)).steps))


def descend(start, goal, neighbors, steps):
    """The cells that are visited by moving to the nearest neighbor as long as that is nearer."""
    path = [start]
    while path[-1] != goal:
        best = min(neighbors[path[-1]], key=steps.get)
        if steps[best] >= steps[path[-1]]:
            break
        path.append(best)
    return path


def leads_to(goal, start, best):
    """Whether the best moves lead from the start to the goal."""
    cell = start
    for _ in best:
        if cell == goal:
            return True
        cell = best.get(cell)
    return cell == goal


def ranks(values):
    """Ranks, of which equal values share the mean."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


class MazeStates:
    """The recorded states of a maze: those near the centers of cells, and those after moves."""

    def __init__(self, observations, terminals, neighbors):
        self.neighbors = neighbors
        self.observations = observations
        self.cells = list(neighbors)
        random = np.random.default_rng(SEED)
        sample = random.permutation(observations)[:SAMPLE]
        self.near_center = {}
        for cell in neighbors:
            inside = np.linalg.norm(sample[:, :2] - center(cell), axis=1) < 1.0
            self.near_center[cell] = sample[inside][:STATES].astype(np.float32)
        self.episodes = np.split(self.nearest_cells(), np.flatnonzero(terminals)[:-1] + 1)
        self.after_move = self.states_after_moves(random)

    def nearest_cells(self):
        """The index of the nearest cell for each recorded state."""
        centers = np.array([center(cell) for cell in self.cells])
        squares = (centers**2).sum(1) - 2.0 * self.observations[:, :2] @ centers.T
        return squares.argmin(1)

    def states_after_moves(self, random):
        """The first states in a cell after each move from a neighbor."""
        rows, first = {}, 0
        for cells in self.episodes:
            for at in np.flatnonzero(np.diff(cells)):
                move = (self.cells[cells[at]], self.cells[cells[at + 1]])
                rows.setdefault(move, []).append(first + at + 1)
            first += len(cells)
        chosen = {move: random.permutation(found)[:STATES] for move, found in rows.items()}
        return {move: self.observations[found].astype(np.float32) for move, found in chosen.items()}

    def medians(self, distance, groups, goal):
        """The median distance from each group of states to those near the center of a goal."""
        goals, medians = self.near_center[goal], {}
        for name, rows in groups.items():
            count = min(len(rows), len(goals))
            medians[name] = float(np.median(distance(rows[:count], goals[count - 1 :: -1])))
        return medians

    def counted(self, goal, discount):
        """The successor distances of the behavior policy to a goal's cell, from cells and after
        moves: `-ln mean discount^T`."""
        sums = {}
        for cells in self.episodes:
            enters = np.flatnonzero(np.diff(cells, prepend=-1))
            value, at_goal = 0.0, len(cells)
            for at, following in reversed(list(zip(enters, np.append(enters[1:], len(cells))))):
                cell = self.cells[cells[at]]
                value = 1.0 if cell == goal else value * discount ** (at_goal - at)
                at_goal = at
                rows = following - at
                # All rows of this visit; after the last one the next cell begins.
                weights = discount ** -np.arange(rows) if cell != goal else np.ones(rows)
                visit = sums.setdefault(cell, [0.0, 0])
                visit[0] += value * weights.sum()
                visit[1] += rows
                if at > 0:
                    move = sums.setdefault((self.cells[cells[at - 1]], cell), [0.0, 0])
                    move[0] += value
                    move[1] += 1
        with np.errstate(divide="ignore"):
            distances = {name: float(-np.log(total / count)) for name, (total, count) in sums.items()}
        moves = {name: steps for name, steps in distances.items() if isinstance(name[0], tuple)}
        return {name: steps for name, steps in distances.items() if name not in moves}, moves


def compare(steps, after_move, start, goal, neighbors):
    """Compares the distances to one goal, from cells and after moves, with shortest paths."""
    exact = cells_to(goal, neighbors)
    path = descend(start, goal, neighbors, steps)
    others = [cell for cell in neighbors if cell != goal]
    minima = [cell for cell in others if all(steps[near] >= steps[cell] for near in neighbors[cell])]
    rank = np.corrcoef(*(ranks([of[cell] for cell in neighbors]) for of in (steps, exact)))[0, 1]
    far = float("inf")
    best = {
        cell: min(neighbors[cell], key=lambda near: after_move.get((cell, near), far)) for cell in others
    }
    return {
        "start": start,
        "goal": goal,
        "cells": round(float(exact[start])),
        "reaches": path[-1] == goal,
        "stops_at": path[-1],
        "local_minima": len(minima),
        "rank_correlation": round(float(rank), 3),
        "right_moves": int(sum(exact[near] < exact[cell] for cell, near in best.items())),
        "moves": len(best),
        "moves_reach": leads_to(goal, start, best),
    }


def main():
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("run")
    parser.add_argument("data")
    parser.add_argument("--maze", default="medium")
    parser.add_argument("--discount", type=float, default=0.99, help="of the counted distance")
    parser.add_argument("--checkpoints", type=int, nargs="+", help="default: the last one")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()

    maze = tomllib.loads(MAZES.read_text())[arguments.maze]
    neighbors = free_neighbors(maze["map"].split())
    tasks = [(tuple(task["start"]), tuple(task["goal"])) for task in maze["tasks"]]
    data = isochrone.load(arguments.data)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "data.npz"
        data.save(path)
        archive = np.load(path)
        observations, terminals = archive["observations"], archive["terminals"]
    recorded = MazeStates(observations, terminals, neighbors)

    results = {
        "version": isochrone.__version__,
        "platform": platform.platform(),
        "data": data.content_hash,
        "maze": arguments.maze,
        "seed": SEED,
        "discount": arguments.discount,
        "distances": [],
    }

    def add(name, distances_to):
        found = [compare(*distances_to(goal), start, goal, neighbors) for start, goal in tasks]
        total = {key: sum(task[key] for task in found) for key in SUMS}
        print(
            f"{name}: reaches {total['reaches']} of {len(found)} goals, "
            f"{total['local_minima'] / len(found):.1f} local minima in {len(neighbors) - 1} cells, "
            f"rank correlation {total['rank_correlation'] / len(found):.3f}; "
            f"{total['right_moves']} of {total['moves']} moves are right, "
            f"and lead to {total['moves_reach']} of {len(found)} goals",
            flush=True,
        )
        results["distances"].append({"name": name, "tasks": found})

    def add_distance(name, distance):
        groups = (recorded.near_center, recorded.after_move)
        add(name, lambda goal: [recorded.medians(distance, group, goal) for group in groups])

    for step in arguments.checkpoints or ["last"]:
        model = isochrone.Model.load(arguments.run, checkpoint=step)
        add_distance(f"step {step}", model.distance)
    positions = isochrone.from_arrays(observations[:, :2], terminals=terminals)
    refined = isochrone.refine(positions)
    add_distance(
        "recorded time", lambda starts, goals: refined.distance(starts[:, :2], goals[:, :2])
    )
    add("counted", lambda goal: recorded.counted(goal, arguments.discount))
    arguments.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
