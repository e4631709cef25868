"""Functions on tensors; they know nothing of Keras or of ONNX files."""

from tf_qops.ops import gradients as _gradients  # noqa: F401  (registers them)
