"""The command `tf-qops`: looks at quantized models, converts, verifies and times them."""

from tf_qops.cli.main import main

__all__ = ["main"]
