"""A scripted operator: minimum-jerk moves between waypoints, hesitations, unsteady hands."""

import numpy as np


class Operator:
    """Builds the list of target poses of one demonstration, one per frame.

    `marks` holds (kind, first frame, end frame) of each planted defect; the end is exclusive.
    """

    def __init__(self, rng, home, meters_per_second, frames_per_second):
        self.rng = rng
        self.targets = []
        self.marks = []
        # Operators differ by a factor of 1.7: a pace inside this range is not a defect.
        self.meters_per_frame = rng.uniform(0.75, 1.25) * meters_per_second / frames_per_second
        self.pose = np.array(home, float)

    def append(self, pose):
        """Adds one frame; scenes with a gripper extend this."""
        self.targets.append(pose)

    def frames_to(self, pose):
        """Frames that a move to `pose` takes at the operator's pace."""
        return int(np.linalg.norm(pose - self.pose) / self.meters_per_frame)

    def move(self, pose, wobble):
        """Moves to `pose` along a line that bulges sideways by about `wobble`, in any dimension."""
        pose = np.asarray(pose, float)
        frames = max(5, self.frames_to(pose))
        time = np.linspace(0, 1, frames + 1)[1:]
        minimum_jerk = 10 * time**3 - 15 * time**4 + 6 * time**5
        bulge = self.rng.normal(0, wobble, len(pose))
        line = self.pose + minimum_jerk[:, None] * (pose - self.pose)
        for target in line + np.sin(np.pi * time)[:, None] * bulge:
            self.append(target)
        self.pose = pose

    def hold(self, frames, defect=None):
        """Stays for some frames; `defect` names them in the truth file."""
        start = len(self.targets)
        for _ in range(frames):
            self.append(self.pose.copy())
        if defect:
            self.mark(defect, start)

    def hesitate(self):
        """Waits for less than ten frames in 30 percent of the calls: normal, not a defect."""
        if self.rng.random() < 0.3:
            self.hold(int(self.rng.integers(2, 10)))

    def mark(self, kind, start):
        """Records that the frames from `start` to now are a defect."""
        self.marks.append((kind, start, len(self.targets)))
