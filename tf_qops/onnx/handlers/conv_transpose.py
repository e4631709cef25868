"""ConvTranspose."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.handlers.conv import geometry
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value


@register_handler("ConvTranspose", layout="image")
def conv_transpose(call: NodeCall) -> Value:
    """Becomes a TransposedConvolution layer."""
    spatial = len(call.shape(1)) - 2
    wanted = call.attribute("output_shape")
    layer = layers.TransposedConvolution(
        **geometry(call, spatial),
        output_padding=call.attribute("output_padding"),
        spatial_shape=None if wanted is None else wanted[-spatial:],
        **call.options(),
    )
    given = [call.tensor(i) for i in (1, 2) if call.has_input(i)]
    return call.output(layer(call.channels_last(0), *given), channels_last=True)
