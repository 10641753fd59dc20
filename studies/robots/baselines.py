"""What isochrone is compared with: scores of episodes, and progress, without any learning."""

import numpy as np
from scipy.spatial import cKDTree

NEIGHBORS = 15


def standardized(values):
    """Columns with mean 0 and deviation 1."""
    return (values - values.mean(0)) / values.std(0)


def frames_remaining(frames):
    """Frames to the end of the own episode: the labels of progress that is linear in time."""
    return np.concatenate([np.arange(r.stop - r.start)[::-1] for r in frames.rows()]).astype(float)


def labeled_success(frames):
    """Whether each episode is labeled a success."""
    return np.array([frames.success[r].any() for r in frames.rows()])


def nearest_frames(frames):
    """Compares every frame with those of other successful episodes of the same task.

    Returns the median frames remaining of the 15 nearest ones, and the distance to the nearest.
    """
    observation = standardized(frames.observation)
    remaining = frames_remaining(frames)
    task = np.array([frames.task[r.start] for r in frames.rows()])
    success = labeled_success(frames)
    to_go, distance = np.full(len(observation), np.nan), np.full(len(observation), np.nan)
    for episode, own in enumerate(frames.rows()):
        others = success & (task == task[episode])
        others[episode] = False
        pool = np.flatnonzero(others[frames.episode])
        if len(pool) < NEIGHBORS:
            continue
        found = cKDTree(observation[pool]).query(observation[own], k=NEIGHBORS)
        to_go[own] = np.median(remaining[pool[found[1]]], axis=1)
        distance[own] = found[0][:, 0]
    return to_go, distance


def length_scores(frames):
    """|length - median length|, in frames."""
    lengths = np.array([r.stop - r.start for r in frames.rows()])
    return np.abs(lengths - np.median(lengths)).astype(float)


def jerk_scores(frames):
    """Root mean square of the third differences of the standardized observation."""
    observation = standardized(frames.observation)
    return np.array([root_mean_square(np.diff(observation[r], 3, axis=0)) for r in frames.rows()])


def root_mean_square(values):
    return float(np.sqrt((values**2).mean()))


def nearest_episode_scores(frames, distance):
    """Mean distance of an episode's frames to the nearest frame of another episode."""
    return np.array([np.nanmean(distance[r]) for r in frames.rows()])


def score_lerobot_scores(frames):
    """The formulas of score_lerobot_episodes (commit 74210639) that need no video; high = bad.

    They expect degrees; the gantry's meters are scaled like radians.
    """
    lengths = [r.stop - r.start for r in frames.rows()]
    typical_length = np.median(lengths)
    joints = [i for i, name in enumerate(frames.state_names) if not name.startswith("gripper")]
    scores = []
    for rows, length in zip(frames.rows(), lengths, strict=True):
        state, action = frames.state[rows], frames.action[rows]
        degrees = np.degrees(state)
        acceleration = np.diff(degrees, 2, axis=0) * frames.fps**2
        smooth = np.exp(-root_mean_square(acceleration) / 1000)
        path = np.linalg.norm(np.diff(degrees, axis=0), axis=1).sum()
        efficient = np.clip(np.linalg.norm(degrees[-1] - degrees[0]) / path, 0, 1)
        speed = np.linalg.norm(np.diff(state, axis=0) * frames.fps, axis=1)
        moving = 1 - (speed < 0.1).mean()
        hard = np.abs(acceleration) > 15 * np.median(np.abs(acceleration), axis=0)
        no_collision = 1 - hard.any(1).mean()
        steady_end = np.exp(-state[-int(2 * frames.fps) :].std(0).mean() / 0.05)
        lag = np.abs(np.degrees(action[:-1, joints]) - degrees[1:, joints])
        not_saturated = np.exp(-4 * (lag > 7).any(1).mean())
        short = min(1.0, typical_length / length)
        parts = [smooth, efficient, moving, no_collision, steady_end, not_saturated, short]
        scores.append(-np.mean(parts))
    return np.array(scores)


def episode_scores(frames, distance):
    """All baselines that rank episodes, by name; higher means more suspicious."""
    return {
        "length_from_median": length_scores(frames),
        "jerk": jerk_scores(frames),
        "score_lerobot_episodes": score_lerobot_scores(frames),
        "nearest_other_episode": nearest_episode_scores(frames, distance),
    }
