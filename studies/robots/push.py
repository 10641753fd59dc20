"""A gantry with a fork pushes a puck to one of three goals by contact; 20 frames per second.

    python push.py DATASET --seed 0 [--writer lerobot]

Writes the dataset and `DATASET.truth.json`. The observation has 5 dimensions (fork x, y, yaw;
puck x, y), the action 3 position targets. The puck moves only where the fork touches it.
"""

import math
import sys

import mujoco
import numpy as np

from defects import Episode
from operators import Operator

FPS = 20
ROBOT_TYPE = "gantry_fork"
STATE_NAMES = ["gantry_x.pos", "gantry_y.pos", "fork_yaw.pos"]
ENVIRONMENT_NAMES = ["puck_x", "puck_y"]
TASKS = {
    "left": "push the puck to the left goal",
    "middle": "push the puck to the middle goal",
    "right": "push the puck to the right goal",
}
GOALS = {
    "left": np.array([-0.26, 0.22]),
    "middle": np.array([0.0, 0.32]),
    "right": np.array([0.26, 0.22]),
}
GOAL_RADIUS = 0.04
# Gantry x and y in meters, yaw in radians; yaw 0 pushes along +y.
HOME = np.array([0.0, -0.25, 0.0])
METERS_PER_SECOND = 0.11
RADIANS_PER_METER = 12.0
# Largest spike of a sensor, in meters, meters and radians.
SPIKE_SIZE = (0.25, 0.25, 1.0)

PUCK_RADIUS = 0.02
# Distances from the gantry to the center of the puck along the direction of the push.
CONTACT, BEHIND = 0.025, 0.09
RETREAT = 0.10

XML = f"""
<mujoco><option timestep="0.002" integrator="implicitfast" cone="elliptic"/>
<default><geom density="400"/></default>
<worldbody>
 <geom name="table" type="plane" size="1 1 .1" friction=".6 .005 .0001"/>
 <body name="fork" pos="0 0 .015" gravcomp="1">
  <joint name="x" type="slide" axis="1 0 0" damping="20" armature=".5"/>
  <joint name="y" type="slide" axis="0 1 0" damping="20" armature=".5"/>
  <joint name="yaw" type="hinge" axis="0 0 1" damping=".2" armature=".005"/>
  <geom name="back" type="box" size=".034 .005 .01" contype="2" conaffinity="2"/>
  <geom name="left_prong" type="box" size=".005 .018 .01" pos="-.03 .018 0"
        contype="2" conaffinity="2"/>
  <geom name="right_prong" type="box" size=".005 .018 .01" pos=".03 .018 0"
        contype="2" conaffinity="2"/>
 </body>
 <body name="puck" pos="0 0 .012">
  <freejoint/>
  <geom name="puck" type="cylinder" size="{PUCK_RADIUS} .012" contype="3" conaffinity="3"
        friction=".6 .005 .0001"/>
 </body>
</worldbody>
<actuator>
 <position joint="x" kp="400"/><position joint="y" kp="400"/><position joint="yaw" kp="4"/>
</actuator>
</mujoco>"""


def draw_goal(rng):
    """A goal, with equal probability."""
    return list(GOALS)[int(rng.integers(0, len(GOALS)))]


def other_goal(rng, goal):
    """The goal of a wrong task label."""
    return str(rng.choice([other for other in GOALS if other != goal]))


def draw_start(rng, _goal):
    """Draws the puck's position; all tasks start from the same patch."""
    return np.array([rng.uniform(-0.10, 0.10), rng.uniform(-0.06, 0.06)])


def heading(source, target):
    """Unit vector of the push from `source` to `target`, and the fork's yaw for it."""
    direction = (target - source) / np.linalg.norm(target - source)
    return direction, math.atan2(-direction[0], direction[1])


class PushOperator(Operator):
    """An operator who steers the gantry: poses are x, y, yaw."""

    def __init__(self, rng):
        super().__init__(rng, HOME, METERS_PER_SECOND, FPS)

    def frames_to(self, pose):
        meters = np.linalg.norm(pose[:2] - self.pose[:2])
        turn = abs(pose[2] - self.pose[2]) / RADIANS_PER_METER
        return int(max(meters, turn) / self.meters_per_frame)

    def go(self, position, yaw, wobble=0.006):
        """Moves without the puck; a wobble of the yaw is ten times that of x and y."""
        self.move(np.r_[position, yaw], np.array([wobble, wobble, 10 * wobble]))

    def push(self, position, yaw):
        """Moves along a straight line, so that the puck stays in the fork."""
        self.move(np.r_[position, yaw], np.array([0.001, 0.001, 0.01]))


def write_script(rng, goal, puck, kind=None):
    """Scripts one demonstration: go behind the puck, push it to the goal, retreat."""
    operator = PushOperator(rng)
    target = GOALS[goal] + rng.normal(0, 0.008, 2)
    if kind == "fail_place":
        # Pushed past the goal on one side, by 2.5 to 3 radii.
        offset = rng.uniform(2.5, 3.0) * GOAL_RADIUS
        target = target + rng.choice([-1, 1]) * offset * np.array([0.8, 0.6])
    direction, yaw = heading(puck, target)
    sideways = np.array([-direction[1], direction[0]])
    stall_at = rng.integers(0, 4) if kind == "stall" else None

    def long_pause():
        return int(rng.integers(40, 80))

    def maybe_stall(place):
        if stall_at == place:
            operator.hold(long_pause(), "stall")

    operator.hold(int(rng.integers(1, 5)))
    if kind == "idle_head":
        operator.hold(long_pause(), "idle_head")
    # A miss passes the puck at a distance of three fork widths or less.
    miss = np.zeros(2)
    if kind == "fail_miss":
        miss = rng.choice([-1, 1]) * rng.uniform(0.07, 0.09) * sideways
    behind = puck - BEHIND * direction + miss
    contact = puck - CONTACT * direction + miss
    finish = target - CONTACT * direction + miss

    start = len(operator.targets)
    operator.go(behind, yaw)
    operator.hesitate()
    maybe_stall(0)
    if kind == "back_and_forth":
        wander(operator, [0.35 * behind + 0.65 * HOME[:2], behind] * 2, yaw, "back_and_forth")
    if kind == "detour":
        # To the side on which the puck is not.
        side = -math.copysign(1, direction[0])
        corners = [[0.26 * side, -0.08], [0.16 * side, -0.24], behind]
        wander(operator, corners, yaw, "detour", 0.02)
    operator.push(contact, yaw)
    maybe_stall(1)

    halfway = contact + rng.uniform(0.4, 0.6) * (finish - contact)
    operator.push(halfway, yaw)
    if kind == "fail_miss":
        operator.mark("fail_miss", start)
    operator.hesitate()
    maybe_stall(2)
    if kind == "regress":
        # Backs out to where the push began, and comes for the puck again.
        start = len(operator.targets)
        operator.push(behind, yaw)
        operator.push(halfway, yaw)
        operator.mark("regress", start)

    start = len(operator.targets)
    if kind in ("fail_drop", "honest_fail"):
        # The fork leaves the puck behind, and goes on to the goal beside it.
        step_back = halfway - (BEHIND - CONTACT) * direction
        beside = rng.choice([-1, 1]) * 0.08 * sideways
        operator.push(step_back, yaw)
        operator.go(step_back + beside, yaw)
        operator.go(finish + beside, yaw)
        operator.mark(kind, start)
        finish = finish + beside
    operator.push(finish, yaw)
    operator.hesitate()
    maybe_stall(3)
    if kind == "fail_place":
        operator.mark("fail_place", start)
    operator.push(finish - RETREAT * direction, yaw)
    operator.hold(int(rng.integers(2, 7)))
    if kind == "idle_tail":
        operator.hold(long_pause(), "idle_tail")
    return operator


def wander(operator, positions, yaw, kind, wobble=0.006):
    """Moves through `positions` for nothing, and marks the frames as `kind`."""
    start = len(operator.targets)
    for position in positions:
        operator.go(position, yaw, wobble)
    operator.mark(kind, start)


def simulate(rng, goal, puck, kind=None, frame_ratio=1.0, script=None):
    """Simulates one demonstration.

    `frame_ratio` is the number of script frames per logged frame: 2 logs at half the rate. A
    given `script` is replayed with other noise.
    """
    operator = script or write_script(rng, goal, puck, kind)
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    body = model.body("puck").id
    data.qpos[:3] = HOME
    data.qpos[3:5] = puck
    data.qpos[5:7] = [0.012, 1.0]
    mujoco.mj_forward(model, data)
    steps_per_frame = round(1 / FPS / model.opt.timestep)
    states, actions, pucks, script_frames = [], [], [], []
    sway = np.zeros(3)
    next_logged = 0.0
    for frame, target in enumerate(operator.targets):
        sway = 0.9 * sway + rng.normal(0, [0.0006, 0.0006, 0.004])
        data.ctrl[:] = target + sway
        for step in range(steps_per_frame):
            if frame + step / steps_per_frame + 1e-9 >= next_logged:
                states.append(data.qpos[:3] + rng.normal(0, [0.0008, 0.0008, 0.004]))
                actions.append(target + sway)
                pucks.append(data.xpos[body][:2] + rng.normal(0, 0.0008, 2))
                script_frames.append(frame)
                next_logged += frame_ratio
            mujoco.mj_step(model, data)

    def logged(frame):
        return int(np.searchsorted(script_frames, frame))

    return Episode(
        state=np.array(states).astype("f4"),
        environment=np.array(pucks).astype("f4"),
        action=np.array(actions).astype("f4"),
        goal=goal,
        start=puck.tolist(),
        real_success=bool(np.linalg.norm(data.xpos[body][:2] - GOALS[goal]) < GOAL_RADIUS),
        marks=[(kind, logged(a), logged(b)) for kind, a, b in operator.marks],
        script=operator,
    )


if __name__ == "__main__":
    from lerobot_files import command_line

    command_line(sys.modules[__name__])
