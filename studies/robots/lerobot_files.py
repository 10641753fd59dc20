"""LeRobot v3.0 datasets: written with PyArrow alone or with the lerobot package, and read."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
EPISODES_FILE = "meta/episodes/chunk-000/file-000.parquet"


def features(scene, images=False):
    """The features that a user declares; LeRobot adds time and numbering."""

    def vector(names):
        return {"dtype": "float32", "shape": (len(names),), "names": names}

    def scalar(dtype):
        return {"dtype": dtype, "shape": (1,), "names": None}

    declared = {
        "observation.state": vector(scene.STATE_NAMES),
        "observation.environment_state": vector(scene.ENVIRONMENT_NAMES),
        "action": vector(scene.STATE_NAMES),
        "next.reward": scalar("float32"),
        "next.done": scalar("bool"),
        "next.success": scalar("bool"),
    }
    if not scene.ENVIRONMENT_NAMES:
        del declared["observation.environment_state"]
    if images:
        names = ["height", "width", "channels"]
        image = {"dtype": "image", "shape": (32, 32, 3), "names": names}
        declared["observation.images.top"] = image
    return declared


def numbering_features():
    """The features that LeRobot adds to every dataset."""
    dtypes = {"timestamp": "float32"} | dict.fromkeys(
        ("frame_index", "episode_index", "index", "task_index"), "int64"
    )
    return {k: {"dtype": dtype, "shape": [1], "names": None} for k, dtype in dtypes.items()}


def fixed_size_list(rows):
    """A matrix as an Arrow column of fixed-size lists."""
    values = pa.array(np.ascontiguousarray(rows).reshape(-1), pa.float32())
    return pa.FixedSizeListArray.from_arrays(values, rows.shape[1])


def episode_table(episode, number, first_index, task_index, fps):
    """The rows of one episode."""
    frames = len(episode)
    last = np.arange(frames) == frames - 1
    success = last & episode.label_success
    columns = {"observation.state": fixed_size_list(episode.state)}
    if episode.environment.shape[1] > 0:
        columns["observation.environment_state"] = fixed_size_list(episode.environment)
    return pa.table(
        columns
        | {
            "action": fixed_size_list(episode.action),
            "next.reward": pa.array(success.astype("f4")),
            "next.done": pa.array(last),
            "next.success": pa.array(success),
            "timestamp": pa.array((np.arange(frames) / fps).astype("f4")),
            "frame_index": pa.array(np.arange(frames)),
            "episode_index": pa.array(np.full(frames, number)),
            "index": pa.array(np.arange(first_index, first_index + frames)),
            "task_index": pa.array(np.full(frames, task_index)),
        }
    )


class PlainWriter:
    """Writes episodes one by one in the layout of LeRobot v3.0, without the package.

    A new Parquet file starts after `episodes_per_file` episodes.
    """

    def __init__(self, root, scene, tasks=(), episodes_per_file=None):
        self.root = Path(root)
        self.scene = scene
        self.tasks = list(tasks)
        self.episodes_per_file = episodes_per_file
        self.frames = 0
        self.episodes = []
        self.parquet = None
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in ("meta/episodes/chunk-000", "data/chunk-000"):
            (self.root / folder).mkdir(parents=True)

    def add(self, episode):
        number = len(self.episodes)
        if episode.task not in self.tasks:
            self.tasks.append(episode.task)
        task_index = self.tasks.index(episode.task)
        table = episode_table(episode, number, self.frames, task_index, self.scene.FPS)
        file_index = number // self.episodes_per_file if self.episodes_per_file else 0
        path = self.root / DATA_PATH.format(chunk_index=0, file_index=file_index)
        if self.parquet is None or not path.exists():
            self.close_parquet()
            self.parquet = pq.ParquetWriter(path, table.schema, compression="snappy")
        self.parquet.write_table(table)
        self.episodes.append(
            {
                "episode_index": number,
                "tasks": [episode.task],
                "length": len(episode),
                "data/chunk_index": 0,
                "data/file_index": file_index,
                "dataset_from_index": self.frames,
                "dataset_to_index": self.frames + len(episode),
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
            }
        )
        self.frames += len(episode)

    def close_parquet(self):
        if self.parquet is not None:
            self.parquet.close()
        self.parquet = None

    def finish(self):
        self.close_parquet()
        pq.write_table(pa.Table.from_pylist(self.episodes), self.root / EPISODES_FILE)
        index = pd.Index(self.tasks, name="task")
        numbers = pd.DataFrame({"task_index": range(len(self.tasks))}, index=index)
        numbers.to_parquet(self.root / "meta/tasks.parquet")
        info = {
            "codebase_version": "v3.0",
            "robot_type": self.scene.ROBOT_TYPE,
            "total_episodes": len(self.episodes),
            "total_frames": self.frames,
            "total_tasks": len(self.tasks),
            "chunks_size": 1000,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": self.scene.FPS,
            "splits": {"train": f"0:{len(self.episodes)}"},
            "data_path": DATA_PATH,
            "video_path": None,
            "features": features(self.scene) | numbering_features(),
        }
        (self.root / "meta/info.json").write_text(json.dumps(info, indent=4))


def write_plain(root, scene, episodes):
    """Writes a dataset with PyArrow alone."""
    writer = PlainWriter(root, scene)
    for episode in episodes:
        writer.add(episode)
    writer.finish()


def write_lerobot(root, scene, episodes, images=False):
    """Writes a dataset with `LeRobotDataset` of the lerobot package (0.6.1)."""
    from lerobot.datasets import LeRobotDataset

    shutil.rmtree(root, ignore_errors=True)
    dataset = LeRobotDataset.create(
        repo_id="local/" + Path(root).name,
        fps=scene.FPS,
        features=features(scene, images),
        root=root,
        robot_type=scene.ROBOT_TYPE,
        use_videos=False,
    )
    for episode in episodes:
        for t in range(len(episode)):
            last = t == len(episode) - 1
            success = last and episode.label_success
            frame = {
                "observation.state": episode.state[t],
                "observation.environment_state": episode.environment[t],
                "action": episode.action[t],
                "next.reward": np.array([float(success)], "f4"),
                "next.done": np.array([last]),
                "next.success": np.array([success]),
                "task": episode.task,
            }
            if images:
                frame["observation.images.top"] = scene.top_view(episode, t)
            dataset.add_frame(frame)
        dataset.save_episode()
    dataset.finalize()


def truth_path(root):
    """The truth file beside a dataset."""
    return Path(str(root).rstrip("/") + ".truth.json")


def write_truth(root, episodes):
    """Writes kinds, labels and the frames of each defect beside the dataset."""
    truth = [episode.truth(number) for number, episode in enumerate(episodes)]
    truth_path(root).write_text(json.dumps(truth, indent=1))


@dataclass
class Frames:
    """All frames of a dataset in memory; one row per frame, ordered by index."""

    state: np.ndarray
    environment: np.ndarray
    action: np.ndarray
    episode: np.ndarray
    task: np.ndarray
    success: np.ndarray
    task_names: list
    state_names: list
    fps: float
    robot_type: str

    @property
    def observation(self):
        """State and environment side by side."""
        return np.concatenate([self.state, self.environment], 1)

    @property
    def episodes(self):
        """Number of episodes."""
        return int(self.episode[-1]) + 1

    def rows(self):
        """A slice of the frames per episode."""
        first = np.searchsorted(self.episode, np.arange(self.episodes + 1))
        return [slice(a, b) for a, b in zip(first[:-1], first[1:], strict=True)]


def read_frames(root):
    """Reads a dataset that `write_plain` or `write_lerobot` wrote."""
    root = Path(root)
    info = json.loads((root / "meta/info.json").read_text())
    names = ["observation.state", "action", "next.success", "episode_index", "task_index"]
    environment_name = "observation.environment_state"
    if environment_name in info["features"]:
        names.append(environment_name)
    paths = sorted(root.glob("data/chunk-*/file-*.parquet"))
    table = pa.concat_tables([pq.read_table(path, columns=names) for path in paths])

    def matrix(name):
        column = table[name].combine_chunks()
        return column.flatten().to_numpy().reshape(len(column), -1).astype(np.float64)

    no_environment = np.zeros((len(table), 0))
    tasks = pq.read_table(root / "meta/tasks.parquet").to_pandas().reset_index()
    return Frames(
        state=matrix("observation.state"),
        environment=matrix(environment_name) if environment_name in names else no_environment,
        action=matrix("action"),
        episode=table["episode_index"].to_numpy(),
        task=table["task_index"].to_numpy(),
        success=table["next.success"].to_numpy(),
        task_names=tasks.sort_values("task_index")["task"].tolist(),
        state_names=info["features"]["observation.state"]["names"],
        fps=info["fps"],
        robot_type=info["robot_type"],
    )


def command_line(scene):
    """The command line of a scene's module."""
    import argparse

    from defects import COUNTS, make_episodes

    parser = argparse.ArgumentParser(description=scene.__doc__.splitlines()[0])
    parser.add_argument("root", type=Path, help="folder of the dataset to write")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clean", type=int, default=112, help="clean episodes")
    parser.add_argument("--only-clean", action="store_true", help="plant no defects")
    parser.add_argument("--writer", choices=["plain", "lerobot"], default="plain")
    parser.add_argument("--images", action="store_true", help="add a camera (writer lerobot)")
    arguments = parser.parse_args()
    counts = {} if arguments.only_clean else COUNTS
    episodes = make_episodes(scene, arguments.seed, arguments.clean, counts)
    if arguments.writer == "lerobot":
        write_lerobot(arguments.root, scene, episodes, arguments.images)
    else:
        write_plain(arguments.root, scene, episodes)
    write_truth(arguments.root, episodes)
    frames = sum(len(episode) for episode in episodes)
    defective = sum(episode.kind != "clean" for episode in episodes)
    print(f"{arguments.root}: {len(episodes)} episodes, {frames} frames, {defective} with a defect")
