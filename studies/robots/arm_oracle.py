"""Frames to go of the arm, from any state: the rest of the script at the nominal pace."""

import numpy as np

from arm import BIN_RADIUS, BINS, FPS, METERS_PER_SECOND, tip_positions

# Frames in which the hand opens or closes, on average over operators.
HAND_FRAMES = 12.0
CARRY_HEIGHT, PLACE_HEIGHT, RETREAT_HEIGHT = 0.16, 0.03, 0.18
APPROACH_HEIGHT, GRASP_HEIGHT, LIFT_HEIGHT = 0.10, 0.02, 0.15


def at_height(points, height):
    """The same points on the table, at another height."""
    return np.concatenate([points[:, :2], np.full((len(points), 1), height)], 1)


def between(a, b):
    """Distances between rows."""
    return np.linalg.norm(a - b, axis=1)


def frames_to_go(state, environment, goal):
    """Frames to go to the end of the task `goal`, for each row of state and environment."""
    frames_per_meter = FPS / METERS_PER_SECOND
    tip = tip_positions(state[:, :4])
    opening = state[:, 4]
    cube = environment
    bin_center = np.repeat(np.r_[BINS[goal], 0.0][None], len(state), 0)

    release = HAND_FRAMES + frames_per_meter * (RETREAT_HEIGHT - PLACE_HEIGHT)
    place = frames_per_meter * (CARRY_HEIGHT - PLACE_HEIGHT) + release
    over_bin = at_height(bin_center, CARRY_HEIGHT)

    # Cube in the hand: lift it, carry it to the bin, place it.
    raised = tip.copy()
    raised[:, 2] = np.maximum(tip[:, 2], LIFT_HEIGHT)
    lift = np.maximum(LIFT_HEIGHT - tip[:, 2], 0)
    carry = frames_per_meter * (lift + between(raised, over_bin)) + place
    lower = frames_per_meter * np.maximum(tip[:, 2] - PLACE_HEIGHT, 0) + release
    far_from_bin = between(tip[:, :2], bin_center[:, :2]) > 0.05
    held_frames = np.where(far_from_bin, carry, lower)

    # Cube on the table: approach, grasp, lift, carry, place.
    descending = (between(tip[:, :2], cube[:, :2]) < 0.02) & (tip[:, 2] < APPROACH_HEIGHT + 0.01)
    approach = between(tip, at_height(cube, APPROACH_HEIGHT)) + APPROACH_HEIGHT - GRASP_HEIGHT
    descend = np.maximum(tip[:, 2] - GRASP_HEIGHT, 0)
    after_grasp = LIFT_HEIGHT - GRASP_HEIGHT + between(at_height(cube, LIFT_HEIGHT), over_bin)
    free_meters = np.where(descending, descend, approach) + after_grasp
    free_frames = frames_per_meter * free_meters + HAND_FRAMES + place

    # Cube in the bin: open the hand, retreat.
    retreat = frames_per_meter * np.maximum(RETREAT_HEIGHT - tip[:, 2], 0)
    placed_frames = retreat + 0.6 * HAND_FRAMES * (opening < 0.75)

    held = (between(tip, cube) < 0.035) & (opening < 0.75)
    placed = (between(cube[:, :2], bin_center[:, :2]) < BIN_RADIUS) & (cube[:, 2] < 0.035)
    placed &= (between(tip, cube) < 0.2) | (tip[:, 2] > 0.03)
    return np.where(placed, placed_frames, np.where(held, held_frames, free_frames))
