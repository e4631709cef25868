"""Turns float operators between DequantizeLinear and QuantizeLinear into integer operators.

A pass from graph to graph: what comes out is what a file in QOperator form would hold, which the
handlers of those operators build. `rules` has the table of what becomes what, and when.
"""

from tf_qops.onnx.fusion.passes import Fusion, fuse

__all__ = ["Fusion", "fuse"]
