"""Frames to go of the pusher, from any state: the rest of the script at the nominal pace."""

import numpy as np

from push import (
    BEHIND,
    CONTACT,
    FPS,
    GOAL_RADIUS,
    GOALS,
    METERS_PER_SECOND,
    PUCK_RADIUS,
    RADIANS_PER_METER,
    RETREAT,
)

# The fork pushes a puck only forward: beyond this angle it has to go around it, unless the push
# ends in the goal all the same.
MAX_ANGLE = 0.35
# Half the inner width of the fork, with room for noise.
HALF_WIDTH = 0.03


def frames_to_go(state, environment, goal):
    """Frames to go to the end of the task `goal`, for each row of state and environment."""
    frames_per_meter = FPS / METERS_PER_SECOND
    gantry, yaw, puck = state[:, :2], state[:, 2], environment
    to_goal = GOALS[goal] - puck
    goal_distance = np.linalg.norm(to_goal, axis=1)
    direction = to_goal / np.maximum(goal_distance, 1e-9)[:, None]
    wanted_yaw = np.arctan2(-direction[:, 0], direction[:, 1])
    turn = np.abs((yaw - wanted_yaw + np.pi) % (2 * np.pi) - np.pi)

    # The puck in the frame of the fork.
    forward = np.stack([-np.sin(yaw), np.cos(yaw)], 1)
    offset = puck - gantry
    ahead = (offset * forward).sum(1)
    beside = np.abs(offset[:, 0] * forward[:, 1] - offset[:, 1] * forward[:, 0])

    # In line behind the puck: advance to contact, push, retreat.
    ends_in_goal = (turn < np.pi / 2) & (goal_distance * np.sin(turn) < GOAL_RADIUS)
    in_line = (turn < MAX_ANGLE) | ends_in_goal
    in_line &= (beside < HALF_WIDTH) & (ahead > 0) & (ahead < BEHIND + 0.01)
    advance = np.maximum(ahead - CONTACT, 0)
    push_meters = goal_distance + RETREAT
    in_line_meters = advance + push_meters

    # Elsewhere: go behind the puck, around it if it is in between, and turn meanwhile.
    behind = puck - BEHIND * direction
    go = np.linalg.norm(behind - gantry, axis=1) + detour(gantry, behind, puck)
    elsewhere_meters = np.maximum(go, turn / RADIANS_PER_METER) + BEHIND - CONTACT + push_meters

    # Puck in the goal: retreat.
    placed = goal_distance < GOAL_RADIUS
    retreat = np.maximum(RETREAT + CONTACT - np.linalg.norm(offset, axis=1), 0)
    # Inside the goal the push still ends at its center.
    final_push = np.where((beside < HALF_WIDTH) & (ahead < CONTACT + 0.01), goal_distance, 0)
    meters = np.where(in_line, in_line_meters, elsewhere_meters)
    return frames_per_meter * np.where(placed, retreat + final_push, meters)


def detour(source, target, puck):
    """Additional meters if the segment from `source` to `target` runs into the puck."""
    clearance = PUCK_RADIUS + HALF_WIDTH
    segment = target - source
    length = np.maximum(np.linalg.norm(segment, axis=1), 1e-9)
    along = np.clip(((puck - source) * segment).sum(1) / length**2, 0, 1)
    nearest = np.linalg.norm(source + along[:, None] * segment - puck, axis=1)
    return 2 * np.maximum(clearance - nearest, 0)
