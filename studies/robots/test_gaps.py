"""Tests of the cuts. Run with `pytest studies/robots`."""

from itertools import pairwise

import numpy as np
import pytest

import arm
import arm_oracle
import defects
import gaps
import maze


@pytest.fixture(scope="module")
def arm_cut():
    episodes = defects.make_episodes(arm, 1, clean=8, counts={})
    episodes = [episode for episode in episodes if episode.goal == "right"]
    cut = gaps.BandCut(np.random.default_rng(0), arm, arm_oracle, episodes)
    pieces = [piece for episode in episodes for piece in gaps.split(episode, cut.removed(episode))]
    return cut, pieces


def walk(*cells):
    """A trajectory through the middles of cells, in steps of 0.2."""
    corners = [maze.center(cell) for cell in cells]
    lines = [np.linspace(a, b, 20, endpoint=False) for a, b in pairwise(corners)]
    positions = np.concatenate([*lines, corners[-1:]])
    return maze.make_episode(positions, np.zeros_like(positions), "top left")


def disk_cut(cell):
    cut = gaps.DiskCut(np.random.default_rng(0))
    cut.cell, cut.center = cell, maze.center(cell)
    cut.component = maze.components(maze.free_cells() - {cell})
    return cut


def bridge(start, stop):
    return {end: {"episode": e, "frame": f} for end, (e, f) in (("from", start), ("to", stop))}


def test_separating_cells_separate_the_maze():
    cells = maze.free_cells()
    assert len(set(maze.components(cells).values())) == 1
    for cut in maze.separating_cells():
        assert len(set(maze.components(cells - {cut}).values())) > 1


def test_a_bridge_across_the_disk_is_recognized():
    cut = disk_cut((3, 2))
    episode = walk((4, 2), (3, 2), (2, 2), (1, 2), (1, 1))
    pieces = gaps.split(episode, cut.removed(episode))
    assert len(pieces) == 2 and cut.separates(pieces)
    assert [piece.label_success for piece in pieces] == [False, True]
    last = len(pieces[0]) - 1
    assert cut.crossed_by(pieces, bridge((0, last), (1, 0)))
    # Ends on the same side, or far from the disk.
    assert not cut.crossed_by(pieces, bridge((1, 0), (1, 3)))
    assert not cut.crossed_by(pieces, bridge((0, last), (1, len(pieces[1]) - 1)))


def test_an_uncut_episode_is_not_separated():
    cut = disk_cut((3, 2))
    assert not cut.separates([walk((4, 2), (3, 2), (2, 2))])


def test_a_bridge_across_the_band_is_recognized(arm_cut):
    cut, pieces = arm_cut
    assert cut.separates(pieces)
    first = next(i for i, piece in enumerate(pieces) if not piece.label_success)
    last = len(pieces[first]) - 1
    assert cut.crossed_by(pieces, bridge((first, last), (first + 1, 0)))
    assert not cut.crossed_by(pieces, bridge((first, 0), (first + 1, 0)))
    assert not cut.crossed_by(pieces, bridge((first + 1, 0), (first, last)))
