"""DynamicQuantizeLSTM."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor

_WEIGHTS = ("w", "r", "bias")
_STATES = ("sequence_lens", "initial_h", "initial_c")
_PARAMETERS = ("peepholes", "w_scale", "w_zero_point", "r_scale", "r_zero_point")
_NAMES = (
    "Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
    "HardSigmoid", "Elu", "Softsign", "Softplus",
)  # fmt: skip
_ACTIVATIONS = {name.lower(): name for name in _NAMES}
_INPUTS = ("x", *_WEIGHTS, *_STATES, *_PARAMETERS)


def _check(node: Node) -> str | None:
    unknown = {a for a in node.attribute("activations") or () if a.lower() not in _ACTIVATIONS}
    if unknown:
        return f"its activations {', '.join(sorted(unknown))} are not supported"
    computed = [
        name
        for i, name in enumerate(_INPUTS)
        if name in _WEIGHTS + _PARAMETERS and node.has_input(i) and not node.is_constant(i)
    ]
    return f"its {', '.join(computed)} must be constants" if computed else None


@register_handler("DynamicQuantizeLSTM", "com.microsoft", check=_check)
def dynamic_quantize_lstm(call: NodeCall) -> list[Tensor]:
    """Becomes a DynamicQuantizeLSTM layer."""
    index = {name: i for i, name in enumerate(_INPUTS)}
    states = [name for name in _STATES if call.has_input(index[name])]
    activations = call.attribute("activations")
    layer = layers.DynamicQuantizeLSTM(
        **{name: call.constant(index[name]) for name in _WEIGHTS + _PARAMETERS},
        hidden_size=call.attribute("hidden_size"),
        direction=call.attribute("direction", "forward"),
        activations=activations and [_ACTIVATIONS[name.lower()] for name in activations],
        activation_alpha=call.attribute("activation_alpha"),
        activation_beta=call.attribute("activation_beta"),
        clip=call.attribute("clip"),
        input_forget=bool(call.attribute("input_forget", 0)),
        inputs=states,
        **call.options(),
    )
    tensors = [call.tensor(0), *(call.tensor(index[name]) for name in states)]
    return layer(tensors if states else tensors[0])
