#!/usr/bin/env python3
"""Where a learned distance leads in a maze, compared with the shortest paths between cells.

For every task of the maze, the distance from each free cell to the goal is the median over pairs of
recorded states within a meter of the centers of the two cells. Following the neighbor with the
smallest distance from the start either reaches the goal or stops in a local minimum. The recorded
time between positions is evaluated beside the networks.

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
STATES = 200  # per cell
SAMPLE = 200_000
SEED = 0  # of the sample


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


def ranks(values):
    """Ranks, of which equal values share the mean."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def compare(distance, start, goal, neighbors, states):
    """Compares the distances to one goal with shortest paths."""
    exact, steps = cells_to(goal, neighbors), {}
    for cell, rows in states.items():
        count = min(len(rows), len(states[goal]))
        steps[cell] = float(np.median(distance(rows[:count], states[goal][count - 1 :: -1])))
    path = descend(start, goal, neighbors, steps)
    others = [cell for cell in neighbors if cell != goal]
    minima = [cell for cell in others if all(steps[near] >= steps[cell] for near in neighbors[cell])]
    pairs = [(steps[cell], exact[cell]) for cell in neighbors]
    rank = np.corrcoef(*(ranks(values) for values in zip(*pairs)))[0, 1]
    return {
        "start": start,
        "goal": goal,
        "cells": round(float(exact[start])),
        "reaches": path[-1] == goal,
        "stops_at": path[-1],
        "local_minima": len(minima),
        "rank_correlation": round(float(rank), 3),
    }


def main():
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("run")
    parser.add_argument("data")
    parser.add_argument("--maze", default="medium")
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
        recorded, terminals = archive["observations"], archive["terminals"]
    observations = np.random.default_rng(SEED).permutation(recorded)[:SAMPLE]
    states = {}
    for cell in neighbors:
        inside = np.linalg.norm(observations[:, :2] - center(cell), axis=1) < 1.0
        states[cell] = observations[inside][:STATES].astype(np.float32)

    results = {
        "version": isochrone.__version__,
        "platform": platform.platform(),
        "data": data.content_hash,
        "maze": arguments.maze,
        "seed": SEED,
        "distances": [],
    }

    def add(name, distance):
        found = [compare(distance, start, goal, neighbors, states) for start, goal in tasks]
        mean = np.mean([task["rank_correlation"] for task in found])
        reached = sum(task["reaches"] for task in found)
        minima = np.mean([task["local_minima"] for task in found])
        print(
            f"{name}: reaches {reached} of {len(found)} goals, "
            f"{minima:.1f} local minima in {len(neighbors) - 1} cells, rank correlation {mean:.3f}",
            flush=True,
        )
        results["distances"].append({"name": name, "tasks": found})

    for step in arguments.checkpoints or ["last"]:
        model = isochrone.Model.load(arguments.run, checkpoint=step)
        add(f"step {step}", model.distance)
    positions = isochrone.from_arrays(recorded[:, :2], terminals=terminals)
    refined = isochrone.refine(positions)
    add("recorded time", lambda starts, goals: refined.distance(starts[:, :2], goals[:, :2]))
    arguments.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
