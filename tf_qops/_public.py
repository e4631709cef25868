"""The public functions, in one place: importing this loads TensorFlow."""

from tf_qops._library import build_info, register
from tf_qops.ops.along_axis import qlinear_concat, qlinear_softmax
from tf_qops.ops.dequantize import dequantize, quantize
from tf_qops.ops.elementwise import (
    qlinear_add,
    qlinear_leaky_relu,
    qlinear_mul,
    qlinear_sigmoid,
)
from tf_qops.ops.fake_quantize import fake_quantize_linear
from tf_qops.ops.integer import (
    conv_integer,
    dynamic_quantize_matmul,
    matmul_integer,
    matmul_integer_to_float,
)
from tf_qops.ops.linear import dequantize_linear, dynamic_quantize_linear, quantize_linear
from tf_qops.ops.lstm import dynamic_quantize_lstm
from tf_qops.ops.nbits import gather_block_quantized, matmul_nbits
from tf_qops.ops.pooling import qlinear_average_pool, qlinear_global_average_pool
from tf_qops.ops.qlinear import qgemm, qlinear_conv, qlinear_matmul
