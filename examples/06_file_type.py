"""Tells the types of real files with Magika's network, quantized, inside TensorFlow.

    python examples/06_file_type.py

The files are those of Python's own library and of the packages that this example uses.
"""

from __future__ import annotations

import json
import os
import pathlib
import sysconfig

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import networks
import numpy as np
import onnx
from rich.console import Console
from rich.table import Table

import tf_qops as tfq

WHEEL = ("magika==1.0.3", "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529")
FOLDER = "magika/models/standard_v3_3"
ENDINGS = {".py": "python", ".pyc": "pythonbytecode", ".so": "elf", ".h": "c", ".png": "png",
           ".ttf": "ttf", ".json": "json", ".csv": "csv", ".svg": "svg", ".rst": "rst"}  # fmt: skip


def features(data: bytes) -> np.ndarray:
    """Returns [2048] int32: the first and last 1024 bytes without white space, 256 beyond."""
    start, end = data[:4096].lstrip()[:1024], data[-4096:].rstrip()[-1024:]
    values = np.full(2048, 256, np.int32)
    values[: len(start)] = list(start)
    values[2048 - len(end) :] = list(end)
    return values


def collect(each: int) -> tuple[np.ndarray, list[str]]:
    """Returns features and types of installed files, at most `each` of every ending."""
    files: dict[str, list[pathlib.Path]] = {ending: [] for ending in ENDINGS}
    for folder in ("stdlib", "purelib", "include"):
        for path in sorted(pathlib.Path(sysconfig.get_path(folder)).rglob("*")):
            if path.suffix in files and path.is_file() and path.stat().st_size > 200:
                files[path.suffix].append(path)
    chosen = [
        (path, ENDINGS[ending])
        for ending, paths in files.items()
        for path in paths[:: max(1, len(paths) // each)][:each]
    ]
    return np.stack([features(path.read_bytes()) for path, _ in chosen]), [t for _, t in chosen]


def main() -> int:
    """Quantizes with every other file, classifies the rest; returns 0."""
    console = Console()
    wheel = networks.files_of_wheel(*WHEEL)
    config = json.loads(wheel.read(f"{FOLDER}/config.min.json"))
    data = wheel.read(f"{FOLDER}/model.onnx")
    inputs, types = collect(40)
    held_out, expected = inputs[1::2], types[1::2]
    batches = [{"bytes": batch} for batch in np.array_split(inputs[::2], 10)]
    proto = networks.quantize(data, batches, ["Conv", "MatMul"])
    model = tfq.onnx.import_model(proto)

    integers = model(held_out).numpy()
    floats = networks.session(onnx.load_from_string(data)).run(None, {"bytes": held_out})[0]
    labels = config["target_labels_space"]
    table = Table("network", "type as the file's ending says")
    for name, scores in (("float", floats), ("integers", integers)):
        named = [labels[i] for i in scores.argmax(1)]
        right = np.mean([a == b for a, b in zip(named, expected, strict=True)])
        table.add_row(name, f"{right:.1%}")
    console.print(table)
    report = model.import_report
    console.print(
        f"Integer layers: {len(report.fused)}, {report.integer_share:.1%} of the products"
    )
    agreement = (integers.argmax(1) == floats.argmax(1)).mean()
    console.print(f"Same type as the float network for {len(held_out)} files: {agreement:.1%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
