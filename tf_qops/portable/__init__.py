"""The operators of tf_qops made of stock TensorFlow operators, for places without the library.

Slower, and of the same bits outside of XLA, which may round twice where the operators here round
once, or the other way round.
"""

from tf_qops.portable.export import export_portable

__all__ = ["export_portable"]
