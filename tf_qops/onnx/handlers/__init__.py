"""One module per operator; importing this package fills the table."""

from tf_qops.onnx.handlers import (
    dequantize_linear,  # noqa: F401
    flatten,  # noqa: F401
    gemm,  # noqa: F401
    global_average_pool,  # noqa: F401
    identity,  # noqa: F401
    max_pool,  # noqa: F401
    qlinear_conv,  # noqa: F401
    quantize_linear,  # noqa: F401
    relu,  # noqa: F401
    reshape,  # noqa: F401
    softmax,  # noqa: F401
)
