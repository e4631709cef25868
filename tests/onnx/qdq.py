"""Small graphs of float operators between DequantizeLinear and QuantizeLinear."""

import numpy as np

from tests.onnx import graphs


class Builder:
    """Collects nodes, constants and inputs; q and dq name their results after the tensor."""

    def __init__(self, opset=21):
        self.nodes, self.constants, self.inputs, self.opset = [], {}, {}, opset

    def codes(self, name, value):
        """A graph input of codes."""
        self.inputs[name] = (value.dtype, value.shape)
        return name

    def constant(self, name, value):
        self.constants[name] = np.asarray(value)
        return name

    def dq(self, name, scale, zero_point, **attributes):
        return self._linear("DequantizeLinear", name, f"{name}_f", scale, zero_point, attributes)

    def q(self, name, scale, zero_point, **attributes):
        return self._linear("QuantizeLinear", name, f"{name}_q", scale, zero_point, attributes)

    def _linear(self, op_type, name, output, scale, zero_point, attributes):
        parameters = [self.constant(f"{output}_scale", scale)]
        if zero_point is not None:
            parameters.append(self.constant(f"{output}_zero", zero_point))
        return self.op(op_type, [name, *parameters], output, **attributes)

    def op(self, op_type, inputs, output, **attributes):
        outputs = [output] if isinstance(output, str) else output
        self.nodes.append(graphs.node(op_type, inputs, outputs, name=outputs[0], **attributes))
        return output

    def model(self, *outputs):
        return graphs.model(
            self.nodes, self.inputs, outputs, self.constants, self.opset, microsoft=True
        )
