"""A four-joint MuJoCo arm with a gripper puts a cube into one of two bins; 30 frames per second.

    python arm.py DATASET --seed 0 [--writer lerobot]

Writes the dataset and `DATASET.truth.json`. The observation has 8 dimensions (pan, lift, elbow,
wrist, gripper; cube x, y, z), the action 5 position targets. A weld holds the cube while the
gripper is closed around it.
"""

import math
import sys

import mujoco
import numpy as np

from defects import Episode
from operators import Operator

FPS = 30
ROBOT_TYPE = "four_joint_arm"
JOINTS = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "gripper"]
STATE_NAMES = [joint + ".pos" for joint in JOINTS]
ENVIRONMENT_NAMES = ["cube_x", "cube_y", "cube_z"]
# Dimensions that differ between starts.
START_NAMES = ["cube_x", "cube_y"]
TASKS = {"left": "put the cube into the left bin", "right": "put the cube into the right bin"}
BINS = {"left": np.array([0.06, 0.28]), "right": np.array([0.06, -0.28])}
BIN_RADIUS = 0.06
HOME = np.array([0.20, 0.0, 0.25])
METERS_PER_SECOND = 0.25
# Largest spike of a sensor, in radians; the first three joints can spike or freeze.
SPIKE_SIZE = (1.0, 1.0, 1.0)

UPPER_ARM, FOREARM, HAND, BASE_HEIGHT = 0.22, 0.22, 0.10, 0.10
OPEN, CLOSED = 1.0, 0.0
# The gripper stops at the cube's faces.
OPENING_AROUND_CUBE = 0.45

XML = f"""
<mujoco><option timestep="0.002" integrator="implicitfast"/>
<default>
 <joint damping="2" armature="0.02"/>
 <geom contype="0" conaffinity="0" density="400"/>
</default>
<worldbody>
 <geom name="table" type="plane" size="1 1 .1" contype="1" conaffinity="1" friction="1 .01 .001"/>
 <body pos="0 0 {BASE_HEIGHT}">
  <joint name="pan" axis="0 0 1"/><geom type="cylinder" size=".04 .04"/>
  <body>
   <joint name="lift" axis="0 1 0"/>
   <geom type="capsule" fromto="0 0 0 {UPPER_ARM} 0 0" size=".02"/>
   <body pos="{UPPER_ARM} 0 0">
    <joint name="elbow" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 {FOREARM} 0 0" size=".018"/>
    <body name="hand" pos="{FOREARM} 0 0">
     <joint name="wrist" axis="0 1 0"/>
     <geom type="capsule" fromto="0 0 0 {HAND - 0.02} 0 0" size=".015"/>
     <body>
      <joint name="grip" type="slide" axis="0 1 0" range="0 1" damping="5" armature=".05"/>
      <geom type="box" size=".01 .01 .01" pos="{HAND - 0.03} 0 0"/>
     </body>
    </body>
   </body>
  </body>
 </body>
 <body name="cube" pos=".3 0 .02">
  <freejoint/>
  <geom type="box" size=".02 .02 .02" contype="1" conaffinity="1" density="300"
        friction="1 .01 .001"/>
 </body>
</worldbody>
<equality><weld name="grasp" body1="hand" body2="cube" active="false" solref=".01 1"/></equality>
<actuator>
 <position joint="pan" kp="120"/><position joint="lift" kp="160"/>
 <position joint="elbow" kp="120"/><position joint="wrist" kp="60"/>
 <position joint="grip" kp="60"/>
</actuator>
</mujoco>"""


def draw_goal(rng):
    """A bin, with equal probability."""
    return "left" if rng.random() < 0.5 else "right"


def other_goal(_rng, goal):
    """The bin of a wrong task label."""
    return {"left": "right", "right": "left"}[goal]


def draw_start(rng, goal):
    """Draws the cube's position on the bin's side of the table.

    Left starts lie in two patches with a hole between them (x 0.250 to 0.295), right ones in one
    patch; no demonstration carries a cube from one side to the other bin.
    """
    y = rng.uniform(0.04, 0.15)
    if goal == "left":
        near = rng.random() < 0.5
        return np.array([rng.uniform(0.215, 0.250) if near else rng.uniform(0.295, 0.335), y])
    return np.array([rng.uniform(0.215, 0.335), -y])


def joint_angles(tip):
    """Joint angles that put the finger tips at `tip` with the hand pointing down."""
    x, y, z = tip
    radius, height = math.hypot(x, y), z + HAND - BASE_HEIGHT
    reach = min(math.hypot(radius, height), UPPER_ARM + FOREARM - 1e-4)
    cosine = (reach * reach - UPPER_ARM * UPPER_ARM - FOREARM * FOREARM) / (2 * UPPER_ARM * FOREARM)
    bend = math.acos(np.clip(cosine, -1, 1))
    offset = math.atan2(FOREARM * math.sin(bend), UPPER_ARM + FOREARM * math.cos(bend))
    lift = math.atan2(height, radius) + offset
    return np.array([math.atan2(y, x), -lift, bend, math.pi / 2 + lift - bend])


def tip_positions(joints):
    """Finger tip positions of rows of joint angles: [n, 4] to [n, 3]."""
    upper = -joints[:, 1]
    fore = upper - joints[:, 2]
    hand = fore - joints[:, 3]
    radius = UPPER_ARM * np.cos(upper) + FOREARM * np.cos(fore) + HAND * np.cos(hand)
    height = BASE_HEIGHT + UPPER_ARM * np.sin(upper) + FOREARM * np.sin(fore) + HAND * np.sin(hand)
    pan = joints[:, 0]
    return np.stack([radius * np.cos(pan), radius * np.sin(pan), height], 1)


class ArmOperator(Operator):
    """An operator whose hand also opens and closes."""

    def __init__(self, rng):
        self.opening = OPEN
        self.openings = []
        super().__init__(rng, HOME, METERS_PER_SECOND, FPS)

    def append(self, pose):
        super().append(pose)
        self.openings.append(self.opening)

    def move(self, pose, wobble=0.006):
        super().move(pose, wobble)

    def move_precisely(self, pose):
        self.move(pose, 0.002)

    def set_hand(self, opening):
        self.opening = opening
        self.hold(int(self.rng.integers(9, 15)))


def above(position, height):
    """The point at `height` above a position on the table."""
    return np.array([position[0], position[1], height])


def write_script(rng, goal, cube, kind=None):
    """Scripts one demonstration; returns the operator and the frame at which the cube slips."""
    operator = ArmOperator(rng)
    target = BINS[goal] + rng.normal(0, 0.012, 2)
    stall_at = rng.integers(0, 4) if kind == "stall" else None

    def long_pause():
        return int(rng.integers(45, 90))

    def maybe_stall(place):
        if stall_at == place:
            operator.hold(long_pause(), "stall")

    operator.hold(int(rng.integers(1, 6)))
    if kind == "idle_head":
        operator.hold(long_pause(), "idle_head")
    grasp = cube.copy()
    if kind == "fail_miss":
        grasp = cube + rng.choice([-1, 1]) * np.array([0.0, 0.035])

    start = len(operator.targets)
    operator.move(above(grasp, 0.10))
    operator.hesitate()
    maybe_stall(0)
    operator.move_precisely(above(grasp, 0.02))
    operator.set_hand(CLOSED)
    if kind == "fail_miss":
        operator.mark("fail_miss", start)
    maybe_stall(1)
    operator.move(above(grasp, 0.15))
    operator.hesitate()
    maybe_stall(2)

    start = len(operator.targets)
    if kind == "regress":
        put_back_and_grasp_again(operator, grasp, target)
        operator.mark("regress", start)
    if kind == "back_and_forth":
        for _ in range(2):
            operator.move(above(0.35 * grasp + 0.65 * target, 0.17))
            operator.move(above(grasp, 0.15))
        operator.mark("back_and_forth", start)
    if kind == "detour":
        operator.move([0.24, -math.copysign(0.16, target[1]), 0.30], 0.02)
        operator.move([0.34, 0.02, 0.28], 0.02)
        operator.mark("detour", start)

    slip = None
    if kind in ("fail_drop", "honest_fail"):
        slip = len(operator.targets) + int(rng.integers(6, 16))
        operator.marks.append((kind, slip, slip + 1))
    place = target
    if kind == "fail_place":
        place = target + np.array([0.10, -math.copysign(0.11, target[1])])
    start = len(operator.targets)
    operator.move(above(place, 0.16))
    operator.hesitate()
    maybe_stall(3)
    operator.move_precisely(above(place, 0.03))
    operator.set_hand(OPEN)
    if kind == "fail_place":
        operator.mark("fail_place", start)
    operator.move(above(place, 0.18))
    operator.hold(int(rng.integers(3, 9)))
    if kind == "idle_tail":
        operator.hold(long_pause(), "idle_tail")
    return operator, slip


def put_back_and_grasp_again(operator, grasp, target):
    """Carries the cube halfway, returns it to its start, and grasps it again."""
    operator.move(above(0.5 * grasp + 0.5 * target, 0.16))
    operator.move(above(grasp, 0.12))
    operator.move_precisely(above(grasp, 0.02))
    operator.set_hand(OPEN)
    operator.move(above(grasp, 0.10))
    operator.move_precisely(above(grasp, 0.02))
    operator.set_hand(CLOSED)
    operator.move(above(grasp, 0.15))


class Simulator:
    """The arm, the cube, and the weld that joins them while the cube is held."""

    def __init__(self, cube):
        self.model = mujoco.MjModel.from_xml_string(XML)
        self.data = mujoco.MjData(self.model)
        self.hand = self.model.body("hand").id
        self.cube = self.model.body("cube").id
        self.held = False
        cube_address = self.model.jnt_qposadr[self.model.joint("grip").id + 1]
        self.data.qpos[:4] = joint_angles(HOME)
        self.data.qpos[4] = OPEN
        self.data.qpos[cube_address : cube_address + 3] = [cube[0], cube[1], 0.02]
        self.data.qpos[cube_address + 3] = 1.0
        mujoco.mj_forward(self.model, self.data)

    def cube_in_hand(self):
        """Whether the cube is between the nearly closed finger tips."""
        data = self.data
        tip = data.xpos[self.hand] + data.xmat[self.hand].reshape(3, 3) @ [HAND, 0, 0]
        return np.linalg.norm(tip - data.xpos[self.cube]) < 0.022 and data.qpos[4] < 0.55

    def grasp(self):
        """Welds the cube to the hand in its present relative pose."""
        data, constants = self.data, self.model.eq_data[0]
        inverse, rotation, position = np.zeros(4), np.zeros(4), np.zeros(3)
        mujoco.mju_negQuat(inverse, data.xquat[self.hand])
        mujoco.mju_mulQuat(rotation, inverse, data.xquat[self.cube])
        offset = data.xpos[self.cube] - data.xpos[self.hand]
        mujoco.mju_rotVecQuat(position, offset, inverse)
        constants[:3] = 0
        constants[3:6] = position
        constants[6:10] = rotation
        data.eq_active[0] = 1
        self.held = True

    def release(self):
        self.data.eq_active[0] = 0
        self.held = False

    def command(self, joints, opening, slipped):
        """Sets the position targets, and grasps or releases the cube."""
        if opening < 0.5 and not self.held and not slipped and self.cube_in_hand():
            self.grasp()
        if self.held and (opening > 0.5 or slipped):
            self.release()
        self.data.ctrl[:4] = joints
        self.data.ctrl[4] = max(opening, OPENING_AROUND_CUBE) if self.held else opening


def simulate(rng, goal, cube, kind=None, frame_ratio=1.0, script=None):
    """Simulates one demonstration.

    `frame_ratio` is the number of script frames per logged frame: 2 logs at half the rate. A
    given `script` is replayed with other noise.
    """
    operator, slip = script or write_script(rng, goal, cube, kind)
    simulator = Simulator(cube)
    data = simulator.data
    steps_per_frame = round(1 / FPS / simulator.model.opt.timestep)
    states, actions, cubes, script_frames = [], [], [], []
    sway = np.zeros(3)
    next_logged = 0.0
    script_targets = zip(operator.targets, operator.openings, strict=True)
    for frame, (target, opening) in enumerate(script_targets):
        sway = 0.92 * sway + rng.normal(0, 0.0007, 3)
        joints = joint_angles(target + sway)
        # A slip at frame 0 cannot occur, so that 0 and None need not be distinguished.
        simulator.command(joints, opening, bool(slip) and frame >= slip)
        for step in range(steps_per_frame):
            if frame + step / steps_per_frame + 1e-9 >= next_logged:
                angles = data.qpos[:4] + rng.normal(0, 0.002, 4)
                states.append(np.r_[angles, data.qpos[4] + rng.normal(0, 0.004)])
                actions.append(np.r_[joints, opening])
                cubes.append(data.xpos[simulator.cube] + rng.normal(0, 0.0008, 3))
                script_frames.append(frame)
                next_logged += frame_ratio
            mujoco.mj_step(simulator.model, data)

    def logged(frame):
        return int(np.searchsorted(script_frames, frame))

    distance = np.linalg.norm(data.xpos[simulator.cube][:2] - BINS[goal])
    return Episode(
        state=np.array(states).astype("f4"),
        environment=np.array(cubes).astype("f4"),
        action=np.array(actions).astype("f4"),
        goal=goal,
        start=cube.tolist(),
        real_success=bool(distance < BIN_RADIUS),
        marks=[(kind, logged(a), logged(b)) for kind, a, b in operator.marks],
        script=(operator, slip),
    )


def top_view(episode, frame):
    """A 32 x 32 camera image from above: the cube red, the wrist blue."""
    image = np.full((32, 32, 3), 230, np.uint8)

    def draw(x, y, color):
        row, column = int((0.4 - x) / 0.5 * 32), int((y + 0.4) / 0.8 * 32)
        row, column = max(0, row), max(0, column)
        image[row : row + 3, column : column + 3] = color

    pan, lift, elbow = episode.state[frame, :3]
    draw(*episode.environment[frame, :2], (200, 40, 40))
    radius = UPPER_ARM * math.cos(lift) + FOREARM * math.cos(lift + elbow)
    draw(radius * math.cos(pan), radius * math.sin(pan), (40, 40, 200))
    return image


if __name__ == "__main__":
    from lerobot_files import command_line

    command_line(sys.modules[__name__])
