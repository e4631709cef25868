"""Compares a model with other runtimes, tensor by tensor, and says who is right.

Needs the extra "onnx"; the peers are those that are installed.
"""

from tf_qops.verification.report import (
    Comparison,
    PeerInfo,
    Proof,
    Verdict,
    VerifyReport,
)
from tf_qops.verification.verify import verify

__all__ = ["Comparison", "PeerInfo", "Proof", "Verdict", "VerifyReport", "verify"]
