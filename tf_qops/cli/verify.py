"""`tf-qops verify`."""

from __future__ import annotations

import argparse

from tf_qops.cli.main import FINDING, OK
from tf_qops.cli.screen import Screen
from tf_qops.verification import verify
from tf_qops.verification.page import write_page


def run(arguments: argparse.Namespace, screen: Screen) -> int:
    """Verifies a model; returns the exit code."""
    with screen.progress("Verifying"):
        report = verify(
            arguments.converted or arguments.model,
            arguments.model,
            arguments.inputs,
            arguments.against,
        )
    screen.result(report, report.to_json())
    if arguments.html:
        write_page(report, arguments.html, arguments.threshold)
        screen.say(f"Page: {arguments.html}")
    findings = report.findings(arguments.threshold)
    for finding in findings:
        screen.say(f"Found: {finding}")
    if not findings:
        screen.say(f"Nothing found; outputs within a distance of {arguments.threshold:g}.")
    return FINDING if findings else OK
