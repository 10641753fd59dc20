"""Runs exported models with ONNX Runtime and compares them with the library.

    onnx_check.py FOLDER

reads the cases that the test `every_algorithm_is_exported` wrote to FOLDER: NAME.onnx, and the
inputs and expected outputs in NAME.safetensors. Prints the largest difference of each case."""

import json
import pathlib
import struct
import sys

import numpy as np
import onnx
import onnxruntime

# |a - b| <= TOLERANCE * max(1, |b|): rounding of single precision, in another order. After longer
# training, the distances of CRL exceed it in any implementation, since they are small differences
# of large likelihoods.
TOLERANCE = 1e-5
# The parts of which there must be at least this many files, so that an empty folder is an error.
MINIMUM = {"distance": 20, "policy": 20, "embedding": 12}


def read_arrays(path):
    """The format is simple enough not to need a package: a length, a JSON header, the bytes."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], np.float32).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def check(path):
    """Returns the part and the largest difference from the expected values."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(path)
    metadata = session.get_modelmeta().custom_metadata_map
    arrays = read_arrays(path.with_suffix(".safetensors"))
    inputs = {value.name: arrays[value.name] for value in session.get_inputs()}
    assert all(value.shape[0] == "batch" for value in session.get_inputs()), path.name
    expected = arrays["expected"]

    (found,) = session.run(None, inputs)
    assert len(found) == 5000, (path.name, found.shape)
    found = found.reshape(expected.shape)
    assert found.dtype == np.float32 and np.isfinite(found).all(), path.name
    difference = np.abs(found.astype(np.float64) - expected)
    relative = (difference / np.maximum(1.0, np.abs(expected))).max()

    # Every batch size is accepted, and gives the same rows.
    for n in (0, 1, 7):
        (few,) = session.run(None, {name: rows[:n] for name, rows in inputs.items()})
        assert few.shape[0] == n, (path.name, n, few.shape)
        np.testing.assert_allclose(few.reshape(-1, expected.shape[1]), found[:n], rtol=1e-4, atol=1e-4)
    # As in the library, an input that is not a number is not hidden.
    for name in inputs:
        broken = {other: rows[:1].copy() for other, rows in inputs.items()}
        broken[name][:] = np.nan
        (nan,) = session.run(None, broken)
        assert np.isnan(nan).all(), (path.name, name, nan)
    return metadata["part"], relative, np.abs(expected).max()


folder = pathlib.Path(sys.argv[1])
counts, failures = dict.fromkeys(MINIMUM, 0), []
print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}")
for path in sorted(folder.glob("*.onnx")):
    part, relative, largest = check(path)
    counts[part] += 1
    print(f"{relative:.1e}  {path.stem}  (largest value {largest:.4g})")
    if relative > TOLERANCE:
        failures.append(path.stem)
assert all(counts[part] >= least for part, least in MINIMUM.items()), counts
assert not failures, f"differences above {TOLERANCE}: {failures}"
print(f"{sum(counts.values())} exported models agree with the library")
