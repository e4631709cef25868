"""`tf-qops inspect`."""

from __future__ import annotations

import argparse

from tf_qops.cli.main import FINDING, OK
from tf_qops.cli.screen import Screen
from tf_qops.inspection import inspect
from tf_qops.inspection.page import write_page


def run(arguments: argparse.Namespace, screen: Screen) -> int:
    """Inspects a model; returns the exit code."""
    with screen.progress("Reading"):
        report = inspect(arguments.model)
        if arguments.html:
            write_page(report, arguments.html)
    screen.result(report, report.to_json())
    if arguments.html:
        screen.say(f"Page: {arguments.html}")
    return FINDING if arguments.strict and report.oddities else OK
