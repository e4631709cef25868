"""`tf-qops convert`."""

from __future__ import annotations

import argparse
import json
import pathlib

from tf_qops._files import written_whole
from tf_qops.cli.screen import Screen
from tf_qops.onnx import import_model
from tf_qops.portable import export_portable


def run(arguments: argparse.Namespace, screen: Screen) -> int:
    """Converts a file; returns the exit code."""
    output = pathlib.Path(arguments.output)
    keras_file = output.suffix == ".keras"
    if arguments.portable and keras_file:
        raise ValueError(
            f"--portable writes a SavedModel, no .keras file. Received: {arguments.output!r}"
        )
    if output.exists() and not arguments.overwrite:
        raise ValueError(f"OUT exists; --overwrite replaces it. Received: {arguments.output!r}")
    if output.exists() and output.is_dir() == keras_file:
        raise ValueError(
            f"OUT must not replace a folder by a file, or a file by a folder. "
            f"Received: {arguments.output!r}"
        )
    if output.is_dir() and not (output / "saved_model.pb").is_file():
        raise ValueError(f"OUT must be a SavedModel to be replaced. Received: {arguments.output!r}")
    with screen.progress("Importing"):
        model = import_model(
            arguments.model,
            data_format=arguments.data_format,
            qdq=arguments.qdq,
            trainable=arguments.trainable,
        )
    with screen.progress(f"Writing {output.name}"), written_whole(output) as temporary:
        if keras_file:
            model.save(temporary)
        elif arguments.portable:
            export_portable(model, temporary)
        else:
            model.export(temporary, verbose=False)
    size = sum(f.stat().st_size for f in [output, *output.rglob("*")] if f.is_file())
    report = model.import_report
    content = {"output": str(output), "bytes": size, "report": json.loads(report.to_json())}
    screen.result(report, content)
    screen.say(f"Written: {output} ({size / 1e3:,.0f} kB)")
    if arguments.portable:
        screen.say(f"To load it: tf.saved_model.load({str(output)!r}).serve; without tf_qops")
        return 0
    load = (
        f"keras.models.load_model({str(output)!r})"
        if keras_file
        else f"tf.saved_model.load({str(output)!r}).serve"
    )
    screen.say(f"To load it: import tf_qops; tf_qops.register(); {load}")
    return 0
