"""Reads the text in a picture with quantized PP-OCR networks inside TensorFlow.

    python examples/05_read_text.py --output build/text

The networks come out of a wheel, are quantized here, and run as integers. Every integer tensor is
compared with ONNX Runtime's, and one value is computed again by hand.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import networks
import numpy as np
import onnx
import saturation
import text_reading
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import tf_qops as tfq

WHEEL = (
    "rapidocr-onnxruntime==1.4.4",
    "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf",
)
FILES = {
    "find": "ch_PP-OCRv4_det_infer",
    "turn": "ch_ppocr_mobile_v2.0_cls_infer",
    "read": "ch_PP-OCRv4_rec_infer",
}
PAGE = [
    ("Integers read this page", "DejaVuSans", 28, False),
    ("Invoice 4711: 36.90 EUR", "DejaVuSerif", 26, False),
    ("upside down in the scanner", "DejaVuSans", 24, True),
    ("Exact on every CPU", "DejaVuSansMono", 26, False),
]


def calibration_inputs(count: int) -> dict[str, list[networks.Feeds]]:
    """Returns what each network sees while the ranges of its activations are measured."""
    inputs = {name: [] for name in FILES}
    for page, crops in text_reading.training_pages(count):
        inputs["find"].append({"x": text_reading.page_input(page)})
        inputs["turn"] += [
            {"x": text_reading.line_input(c.rotate(180 * (i % 2)), 192)}
            for i, c in enumerate(crops)
        ]
        inputs["read"] += [{"x": text_reading.line_input(c, 640)} for c in crops]
    return inputs


def compare(console: Console, protos: dict[str, onnx.ModelProto], seen: dict[str, np.ndarray]):
    """Prints how far our integers are from ONNX Runtime's; returns them by network and tensor."""
    table = Table("network", "ran", "ONNX Runtime", "values", "different")
    table.title = "Integers of convolutions beside ONNX Runtime"
    codes, default_differs, exact_differs = {}, 0, 0
    for name, proto in protos.items():
        opened = networks.with_codes(proto)
        names = [output.name for output in opened.graph.output][len(proto.graph.output) :]
        ours = tfq.onnx.import_model(opened)(seen[name])[-len(names) :]
        ours = codes[name] = {n: v.numpy() for n, v in zip(names, ours, strict=True)}
        theirs = networks.session(opened).run(names, {"x": seen[name]})
        whole = sum(int((ours[n] != v).sum()) for n, v in zip(names, theirs, strict=True))

        alone = networks.convolutions_alone(proto, ours)
        feeds = {i.name: ours[i.name] for i in alone.graph.input}
        results = tfq.onnx.import_model(alone)(list(feeds.values()))
        by_us = [result.numpy() for result in results]
        exact, default = (networks.session(alone, exact=e).run(None, feeds) for e in (True, False))
        total = sum(v.size for v in exact)
        counts = [
            sum(int((a != b).sum()) for a, b in zip(by_us, v, strict=True))
            for v in (exact, default)
        ]
        exact_differs += counts[0]
        default_differs += sum(int((a != b).sum()) for a, b in zip(exact, default, strict=True))
        table.add_row(name, "each alone, same codes", "exact", f"{total:,}", f"{counts[0]:,}")
        table.add_row(name, "each alone, same codes", "default", f"{total:,}", f"{counts[1]:,}")
        size = sum(v.size for v in ours.values())
        table.add_row(name, "whole network", "exact", f"{size:,}", f"{whole:,}")
    console.print(table)
    console.print(
        "In a whole network a step of difference in another layer (a float one, or an addition) "
        "spreads to the convolutions behind it."
    )
    console.print(f"Integers that differ from the exact setting: {exact_differs}")
    console.print(
        f"On this CPU ONNX Runtime's default differs from its exact setting in {default_differs:,}."
    )
    return codes


def main() -> int:
    """Quantizes, reads, compares; returns 1 if the text is not read right."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/text"))
    parser.add_argument("--pages", type=int, default=3, help="pages for calibration")
    arguments = parser.parse_args()
    console = Console()
    start = time.perf_counter()

    wheel = networks.files_of_wheel(*WHEEL)
    floats, protos, models = {}, {}, {}
    with Progress(console=console) as progress:
        task = progress.add_task("Quantizing", total=2 * len(FILES))
        inputs = calibration_inputs(arguments.pages)
        for name, file in FILES.items():
            floats[name] = wheel.read(f"rapidocr_onnxruntime/models/{file}.onnx")
            progress.update(task, description=f"Quantizing {name!r}")
            protos[name] = networks.quantize(floats[name], inputs[name])
            progress.update(task, advance=1, description=f"Importing {name!r}")
            models[name] = tfq.onnx.import_model(protos[name])
            progress.advance(task)
    for name, model in models.items():
        report = model.import_report
        console.print(
            f"{name}: {len(report.fused)} integer layers, {len(report.stayed_float)} float; "
            f"{report.integer_share:.1%} of the multiply-accumulates on integers"
        )

    metadata = {p.key: p.value for p in onnx.load_from_string(floats["read"]).metadata_props}
    characters = [*metadata["character"].splitlines(), " "]
    page = text_reading.draw_page(PAGE, "black", "white")
    seen = {}

    def noting(name: str) -> text_reading.Network:
        def network(x: np.ndarray) -> np.ndarray:
            seen.setdefault(name, x)
            return models[name](x).numpy()

        return network

    lines = text_reading.read_page(page, {name: noting(name) for name in FILES}, characters)
    sessions = {
        name: networks.session(onnx.load_from_string(data)) for name, data in floats.items()
    }
    in_float = text_reading.read_page(
        page, {n: lambda x, s=s: s.run(None, {"x": x})[0] for n, s in sessions.items()}, characters
    )
    table = Table("integers read", "confidence", "turned", "float network reads")
    for i, line in enumerate(lines):
        other = in_float[i].text if i < len(in_float) else ""
        table.add_row(line.text, f"{line.confidence:.0%}", "yes" if line.turned else "", other)
    console.print(table)
    for line in lines:
        console.print(f"Read: {line.text}", highlight=False, soft_wrap=True)
    right = [line.text for line in lines] == [text for text, *_ in PAGE]
    console.print(f"Text read right: {'yes' if right else 'no'}")

    codes = compare(console, protos, seen)
    found = [saturation.find(protos[name], codes[name]) for name in FILES]
    saturation.explain(console, [example for example in found if example is not None])

    arguments.output.mkdir(parents=True, exist_ok=True)
    target = arguments.output / "text.png"
    text_reading.draw_lines(page, lines).save(target)
    console.print(f"Picture: {target}", soft_wrap=True)
    console.print(f"Seconds: {time.perf_counter() - start:.0f}")
    return int(not right)


if __name__ == "__main__":
    raise SystemExit(main())
