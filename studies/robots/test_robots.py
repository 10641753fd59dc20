"""Tests of the datasets and of the evaluation. Run with `pytest studies/robots`."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arm
import arm_oracle
import defects
import evaluate
import metrics
import push
import push_oracle
from lerobot_files import read_frames, write_plain, write_truth

SCENES = [(arm, arm_oracle), (push, push_oracle)]
FEW = {"stall": 1, "fail_drop": 1, "dup_exact": 1, "task_swap": 1, "spike": 1}


@pytest.fixture(scope="module", params=SCENES, ids=["arm", "push"])
def dataset(request, tmp_path_factory):
    scene, oracle = request.param
    episodes = defects.make_episodes(scene, 3, clean=8, counts=FEW)
    root = tmp_path_factory.mktemp("robots") / "data"
    write_plain(root, scene, episodes)
    write_truth(root, episodes)
    return scene, oracle, episodes, root


def test_every_kind_is_expected_and_planted():
    assert set(evaluate.EXPECT) == set(defects.COUNTS)
    assert sum(defects.COUNTS.values()) == 68


def test_average_precision_of_known_rankings():
    positive = [True, True, False, False]
    assert metrics.average_precision([4, 3, 2, 1], positive) == 1
    # Precision 1/3 at the first positive, 2/4 at the second.
    assert metrics.average_precision([1, 2, 3, 4], positive) == pytest.approx((1 / 3 + 1 / 2) / 2)
    # A score that ranks nothing has the precision of chance, in any order of the episodes.
    assert metrics.average_precision([1, 1, 1, 1], positive) == 0.5


def test_overlap_of_intervals():
    assert metrics.overlap((0, 10), (5, 15)) == pytest.approx(1 / 3)
    assert metrics.overlap((0, 10), (10, 20)) == 0


def test_rank_correlation_ignores_unknown_values():
    values = np.array([1.0, 2.0, np.nan, 4.0])
    assert metrics.rank_correlation(values, -values) == -1


def test_rabc_gives_nothing_to_frames_that_lose_progress():
    progress = np.array([0.0, 0.5, 0.2, 1.0])
    weights = metrics.rabc_weights(progress, [slice(0, 4)], chunk=1)
    assert weights[0] == 1 and weights[1] == 0 and weights[2] == 1


@pytest.mark.parametrize("scene", [arm, push], ids=["arm", "push"])
def test_a_seed_gives_the_same_bytes(scene):
    a, b = (defects.make_episodes(scene, 4, clean=2, counts={"jump": 1}) for _ in range(2))
    for one, other in zip(a, b, strict=True):
        assert one.state.tobytes() == other.state.tobytes()
        assert one.environment.tobytes() == other.environment.tobytes()


def test_the_oracle_decreases_along_clean_episodes(dataset):
    scene, oracle, episodes, _ = dataset
    for episode in episodes:
        if episode.kind != "clean":
            continue
        state, environment = episode.state.astype(float), episode.environment.astype(float)
        to_go = oracle.frames_to_go(state, environment, episode.goal)
        assert metrics.rank_correlation(-to_go, np.arange(len(to_go))) > 0.97
        assert to_go[0] > 0.5 * len(to_go) and to_go[-1] < 0.05 * len(to_go)


def test_marks_lie_inside_their_episodes(dataset):
    _, _, episodes, root = dataset
    truth = json.loads((root.parent / "data.truth.json").read_text())
    for episode in truth:
        assert bool(episode["marks"]) == (episode["kind"] != "clean")
        for _, first, end in episode["marks"]:
            assert 0 <= first < end <= episode["frames"]


def test_the_files_hold_the_episodes(dataset):
    _, _, episodes, root = dataset
    frames = read_frames(root)
    assert frames.episodes == len(episodes)
    for episode, rows in zip(episodes, frames.rows(), strict=True):
        assert (frames.state[rows] == episode.state).all()
        assert frames.task_names[frames.task[rows.start]] == episode.task
        assert frames.success[rows].any() == episode.label_success


def perfect_doctor(truth):
    """The output of a doctor that knows the truth."""
    episodes = []
    for episode in truth:
        findings = []
        for kind, first, end in episode["marks"]:
            rule = sorted(evaluate.EXPECT[kind])[0]
            place = {"first_frame": first, "end_frame": end}
            findings.append({"rule": rule, "score": 2.0} | place)
        score = 2.0 if findings else 0.0
        number = episode["episode"]
        episodes.append({"episode": number, "score": score, "findings": findings})
    return {"episodes": episodes}


def test_perfect_outputs_are_evaluated_as_perfect(dataset, tmp_path):
    _, _, _, root = dataset
    truth = json.loads((root.parent / "data.truth.json").read_text())
    frames = read_frames(root)
    to_go = evaluate.oracle_frames_to_go(frames)
    index = np.arange(len(to_go))
    table = pa.table(
        {
            "index": index,
            "episode_index": frames.episode,
            "progress_sparse": evaluate.progress_of(to_go, frames).astype("f4"),
            "steps_to_go": to_go.astype("f4"),
        }
    )
    pq.write_table(table, tmp_path / "progress.parquet")
    doctor = tmp_path / "doctor.json"
    doctor.write_text(json.dumps(perfect_doctor(truth)))
    result = evaluate.evaluate(root, doctor=doctor, progress=tmp_path / "progress.parquet")
    assert result["doctor"]["found"] == result["doctor"]["defective"] == sum(FEW.values())
    assert result["doctor"]["clean_flagged"] == 0
    assert result["doctor"]["average_precision"]["doctor"] == 1
    assert set(result["doctor"]["overlap_by_kind"].values()) == {1.0}
    assert result["progress"]["isochrone"]["all_frames_pooled_rank_correlation"] > 0.9999
    assert result["progress"]["isochrone"]["clean_mean_error_steps"] < 0.01
    summed = evaluate.totals([result, result])
    assert summed["found"] == 2 * sum(FEW.values())


def test_a_blind_doctor_finds_nothing(dataset, tmp_path):
    _, _, _, root = dataset
    doctor = tmp_path / "doctor.json"
    doctor.write_text(json.dumps({"episodes": []}))
    result = evaluate.evaluate(root, doctor=doctor)["doctor"]
    assert result["found"] == 0 and len(result["missed"]) == sum(FEW.values())
