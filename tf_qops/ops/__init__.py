"""Functions on tensors; they know nothing of Keras or of ONNX files."""
