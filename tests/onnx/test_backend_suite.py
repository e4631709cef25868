"""The onnx package's own cases give what docs/onnx_operators.md says."""

import pathlib
import re

import onnx
import pytest

from tests.onnx import backend_suite
from tf_qops.onnx.registry import registered

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "onnx_operators.md"

# What 93 quantized files of others hold, and what detection, OCR, speech, embedding and
# segmentation networks need beside it.
NEEDED = """
    Reshape Transpose Add DequantizeLinear QuantizeLinear Mul Cast Slice Concat Softmax Div
    Unsqueeze MaxPool DynamicQuantizeLinear Conv MatMulInteger Shape Gather Squeeze QLinearConv Relu
    MatMul Sub Flatten ConvInteger Sigmoid Gemm AveragePool com.microsoft.QLinearAdd
    LayerNormalization Where QLinearMatMul com.microsoft.QLinearSoftmax GlobalAveragePool Tanh
    ConstantOfShape com.microsoft.DynamicQuantizeLSTM Expand Max com.microsoft.QGemm Exp HardSigmoid
    Resize Erf Equal ReduceMean Sqrt Range com.microsoft.QLinearAveragePool ReduceSum Pow Split Clip
    BatchNormalization IsNaN And GreaterOrEqual GatherND ReduceMax Identity Reciprocal GlobalMaxPool
    com.microsoft.QLinearMul com.microsoft.QLinearGlobalAveragePool Pad com.microsoft.QLinearConcat
    ArgMax com.microsoft.QLinearSigmoid com.microsoft.DequantizeLinear
    com.microsoft.QuantizeLinear Floor Neg Greater Abs Less Log Min Scan ReduceL2 HardSwish Tile
    LeakyRelu DepthToSpace LSTM com.microsoft.MatMulNBits com.microsoft.GatherBlockQuantized

    Gelu Mish PRelu Elu Selu Softplus Not Or Xor LessOrEqual ReduceMin ReduceProd ArgMin TopK
    NonMaxSuppression ScatterND GatherElements Trilu CumSum Einsum InstanceNormalization
    GroupNormalization RMSNormalization ConvTranspose GRU If Loop OneHot SpaceToDepth Ceil Round
    Sign Sin Cos LogSoftmax GlobalLpPool com.microsoft.QLinearLeakyRelu
"""
# Reasons that a case may have; all others are defects.
REASONS = (
    "not supported",
    "no cast to float8_e8m0fnu",
    "something else than tensors",
    "must be of real numbers",
    "its version 8 has no handler, only 9 on",
    "is not rounded to an integer yet",
)


def rows(text):
    """Operator -> row of the table."""
    found = re.findall(r"^\| ((?:com\.\w+\.)?[A-Z]\w*) \|(.*)$", text, re.MULTILINE)
    return dict(found)


def test_every_operator_has_a_row():
    names = {f"{domain}.{op}" if domain else op for domain, op in registered()}
    names = {name for name in names if not name.startswith("example.com")}  # of other tests
    assert set(rows(DOCUMENT.read_text())) == names
    assert set(re.findall(r"[\w.]+", NEEDED)) <= names


@pytest.mark.slow
def test_cases_give_what_the_document_says():
    found = list(backend_suite.results())
    defects = [r for r in found if r.problem and not any(x in r.problem for x in REASONS)]
    assert not defects
    if f"{onnx.__version__})" not in DOCUMENT.read_text().replace("\n", " "):
        pytest.skip(f"the document is about other cases than those of onnx {onnx.__version__}")
    table = rows(backend_suite.table(found))
    assert {op: row for op, row in table.items() if not op.startswith("example")} == rows(
        DOCUMENT.read_text()
    )
