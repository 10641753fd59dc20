"""Reads the files of a run with standard packages: TensorBoard, safetensors, NumPy.

    read_run.py ISOCHRONE

trains for a few steps with the command ISOCHRONE, kills it, resumes, and compares."""

import json
import math
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

isochrone = str(pathlib.Path(sys.argv[1]).resolve())
walks = str(pathlib.Path(__file__).resolve().parents[4] / "examples" / "walks.csv")


def lines(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


with tempfile.TemporaryDirectory() as folder:
    run = pathlib.Path(folder) / "run"
    settings = ["batch_size=16", "metrics.every=5", "learner.critic.width=8", "learner.critic.depth=2"]
    command = [isochrone, "train", "--data", walks, "--observations", "x,y", "--size", "small", "--steps", "3000", "--run", run, *settings]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while not (run / "metrics.jsonl").exists() or len(lines(run)) < 20:
        assert process.poll() is None, "the training process is alive"
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    subprocess.run([isochrone, "train", "--resume", run], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    assert len(list(run.glob("events.out.tfevents.*"))) == 2, "one event file per session"

    # Both logs contain every record once and in order.
    accumulator = EventAccumulator(str(run), size_guidance={"scalars": 0}, purge_orphaned_data=True)
    accumulator.Reload()
    records = lines(run)
    names = {name for record in records for name in record if name not in ("step", "seconds")}
    assert names == set(accumulator.Tags()["scalars"]), names
    for name in names:
        expected = [(record["step"], record[name]) for record in records if name in record]
        found = [(event.step, event.value) for event in accumulator.Scalars(name)]
        assert [step for step, _ in found] == [step for step, _ in expected], (name, found[:3], expected[:3])
        assert all(math.isclose(a, b, rel_tol=1e-6) for (_, a), (_, b) in zip(found, expected)), name

    # Weights have the names that the guide documents.
    checkpoint = run / "checkpoints" / "step-000000003000"
    weights = load_file(checkpoint / "weights.safetensors")
    assert weights["critic.metric.members.0.encoder.layers.0.weight"].shape == (2 + 2 + 1, 8)
    assert weights["scaling.observation.shift"].shape == (2,)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=checkpoint, check=True)
print("TensorBoard, safetensors and sha256sum read the files of a run")
