"""Looks into quantized models: what they hold, and what is odd about their scales."""

from tf_qops.inspection.inspect import inspect
from tf_qops.inspection.report import InspectReport, OperatorCount, Parameter

__all__ = ["InspectReport", "OperatorCount", "Parameter", "inspect"]
