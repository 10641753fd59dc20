"""Demonstrations in a maze: segments of pointmaze-medium-navigate that end at one of three goals.

The states are positions, so that a region can be cut out where the maze has no other path.
"""

import numpy as np

from defects import Episode

FPS = 10
ROBOT_TYPE = "point_maze"
STATE_NAMES = ["x", "y"]
ENVIRONMENT_NAMES = []
CELL = 4.0
FREE = [
    "........",
    ".##..##.",
    ".##.###.",
    "..###...",
    ".##.###.",
    ".#.##.#.",
    ".###.##.",
    "........",
]
GOALS = {"top left": (1, 1), "top right": (1, 6), "bottom right": (6, 6)}
TASKS = {name: f"go to the {name} corner" for name in GOALS}
GOAL_RADIUS = 0.8
MIN_FRAMES, MAX_FRAMES = 60, 300


def center(cell):
    """Position of the middle of a cell (row, column)."""
    return np.array([cell[1] * CELL - CELL, cell[0] * CELL - CELL])


def cell_of(position):
    """The cell (row, column) of a position."""
    column, row = np.round((np.asarray(position) + CELL) / CELL).astype(int)
    return int(row), int(column)


def free_cells():
    """All cells that are not walls."""
    return {(r, c) for r, row in enumerate(FREE) for c, mark in enumerate(row) if mark == "#"}


def neighbors(cell, cells):
    """Free cells beside a cell."""
    row, column = cell
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [other for other in around if other in cells]


def components(cells):
    """Connected components of a set of cells, as a dictionary from cell to component."""
    component = {}
    for seed in sorted(cells):
        if seed in component:
            continue
        number, queue = len(set(component.values())), [seed]
        while queue:
            cell = queue.pop()
            if cell not in component:
                component[cell] = number
                queue += neighbors(cell, cells)
    return component


def touch_elsewhere(cut, component):
    """Whether two components meet at a corner that does not belong to the cut cell.

    A path across such a corner is as short as one through the region; data without walls in it
    cannot rule it out.
    """
    for row, column in component:
        for step in (-1, 1):
            other = (row + 1, column + step)
            joint = ((row + 1, column), (row, column + step))
            apart = other in component and component[other] != component[row, column]
            if apart and cut not in joint:
                return True
    return False


def separating_cells():
    """Cells without which the maze falls apart, a goal on each side, at no other place."""
    cells, found = free_cells(), []
    for cut in sorted(cells - set(GOALS.values())):
        component = components(cells - {cut})
        goal_sides = {component[goal] for goal in GOALS.values()}
        if len(goal_sides) > 1 and not touch_elsewhere(cut, component):
            found.append(cut)
    return found


def make_episodes(rng, npz, per_task=70):
    """Draws segments of the dataset that end where a goal is reached."""
    data = np.load(npz)
    observations, actions = data["observations"], data["actions"]
    ends = np.flatnonzero(data["terminals"])
    trajectory = np.searchsorted(ends, np.arange(len(observations)))
    episodes = []
    for goal, cell in GOALS.items():
        inside = np.linalg.norm(observations - center(cell), axis=1) < GOAL_RADIUS
        arrivals = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
        previous = np.r_[0, arrivals[:-1]]
        count = 0
        for at in rng.permutation(len(arrivals)):
            last, frames = arrivals[at], int(rng.integers(MIN_FRAMES, MAX_FRAMES))
            first = last - frames
            own = first > previous[at] and trajectory[first] == trajectory[last]
            if own and count < per_task and not inside[first:last].any():
                rows = slice(first, last + 1)
                episodes.append(make_episode(observations[rows], actions[rows], goal))
                count += 1
    return [episodes[i] for i in rng.permutation(len(episodes))]


def make_episode(positions, actions, goal):
    return Episode(
        state=positions.astype("f4"),
        environment=np.zeros((len(positions), 0), "f4"),
        action=actions.astype("f4"),
        goal=goal,
        start=positions[0].tolist(),
        real_success=True,
        marks=[],
        task=TASKS[goal],
    )
