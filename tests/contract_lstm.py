"""DynamicQuantizeLSTM in plain numpy, from com.microsoft's documentation."""

import numpy as np

INPUTS = ("x", "w", "r", "bias", "sequence_lens", "initial_h", "initial_c", "peepholes",
          "w_scale", "w_zero_point", "r_scale", "r_zero_point")  # fmt: skip
ACTIVATIONS = {
    "Relu": lambda x, a, b: np.maximum(x, 0),
    "Tanh": lambda x, a, b: np.tanh(x.astype(np.float64)),
    "Sigmoid": lambda x, a, b: 1 / (1 + np.exp(-x.astype(np.float64))),
    "Affine": lambda x, a, b: a * x + b,
    "LeakyRelu": lambda x, a, b: np.where(x < 0, a * x, x),
    "ThresholdedRelu": lambda x, a, b: np.where(x < a, 0, x),
    "ScaledTanh": lambda x, a, b: a * np.tanh((b * x).astype(np.float64)).astype(np.float32),
    "HardSigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "Elu": lambda x, a, b: np.where(x < 0, a * np.expm1(x.astype(np.float64)), x),
    "Softsign": lambda x, a, b: x / (1 + np.abs(x)),
    "Softplus": lambda x, a, b: np.logaddexp(0, x.astype(np.float64)),
}
ALPHA = {"Affine": 1, "LeakyRelu": 0.01, "ThresholdedRelu": 1, "ScaledTanh": 1,
         "HardSigmoid": 0.2, "Elu": 1}  # fmt: skip
BETA = {"Affine": 0, "ScaledTanh": 1, "HardSigmoid": 0.5}


def functions(names, alphas=(), betas=()):
    """The activations, each of float32 to float32."""
    alphas, betas = list(alphas), list(betas)
    made = []
    for name in names:
        a, b = ALPHA.get(name, 0), BETA.get(name, 0)
        if name in ALPHA and alphas:
            a = alphas.pop(0)
        if name in BETA and betas:
            b = betas.pop(0)
        a, b = np.float32(a), np.float32(b)
        made.append(lambda x, f=ACTIVATIONS[name], a=a, b=b: f(x, a, b).astype(np.float32))
    return made


def product(values, codes, scale, zero_point):
    """Float rows, quantized together to uint8, times a matrix of codes."""
    low = min(np.float32(0), values.min(initial=0))
    values_scale = (max(np.float32(0), values.max(initial=0)) - low) / np.float32(255)
    values_scale = values_scale or np.float32(1)
    values_zero = np.rint(np.clip(-low / values_scale, 0, 255))
    quantized = np.clip(np.rint(values / values_scale) + values_zero, 0, 255)
    differences = (quantized - values_zero).astype(np.int64)
    sums = differences @ (codes.astype(np.int64) - zero_point.astype(np.int64))
    return sums.astype(np.float32) * (values_scale * scale)


def dynamic_quantize_lstm(
    x, w, r, bias, sequence_lens, initial_h, initial_c, peepholes, w_scale, w_zero_point,
    r_scale, r_zero_point, *, hidden_size, direction="forward", activations=None,
    activation_alpha=(), activation_beta=(), clip=None, input_forget=False,
):  # fmt: skip
    steps, batch, _ = x.shape
    directions = w.shape[0]
    lengths = np.full(batch, steps) if sequence_lens is None else sequence_lens
    longest = max(lengths, default=0)
    y = np.zeros([steps, directions, batch, hidden_size], np.float32)
    y_h = np.zeros([directions, batch, hidden_size], np.float32)
    y_c = np.zeros_like(y_h)
    names = activations or ["Sigmoid", "Tanh", "Tanh"] * directions
    every = functions(names, activation_alpha or (), activation_beta or ())
    limit = lambda v: v if clip is None else np.clip(v, -np.float32(clip), np.float32(clip))  # noqa: E731
    of = lambda parameter, d: parameter.reshape(-1) if parameter.ndim == 0 else parameter[d]  # noqa: E731
    for d in range(directions):
        f, g, last = every[3 * d : 3 * d + 3]
        from_x = product(x[:longest], w[d], of(w_scale, d), of(w_zero_point, d))
        h = y_h[d].copy() if initial_h is None else initial_h[d].copy()
        c = y_c[d].copy() if initial_c is None else initial_c[d].copy()
        both = np.zeros([2, 4, hidden_size], np.float32)
        if bias is not None:
            both = bias[d].reshape(2, 4, hidden_size)
        p = np.zeros([3, hidden_size], np.float32)
        if peepholes is not None:
            p = peepholes[d].reshape(3, hidden_size)
        for step in range(longest):
            running = step < lengths
            reverse = direction == "reverse" or d == 1
            time = lengths - 1 - step if reverse else np.full(batch, step)
            sums = from_x[time, range(batch)]
            sums = sums + product(h, r[d], of(r_scale, d), of(r_zero_point, d))
            gate = sums.reshape(batch, 4, hidden_size)
            i = f(limit(gate[:, 0] + p[0] * c + (both[0, 0] + both[1, 0])))
            forget = f(limit(gate[:, 2] + p[2] * c + (both[0, 2] + both[1, 2])))
            if input_forget:
                forget = 1 - i
            c_next = c * forget + i * g(limit(gate[:, 3] + (both[0, 3] + both[1, 3])))
            o = f(limit(gate[:, 1] + p[1] * c_next + (both[0, 1] + both[1, 1])))
            h_next = o * last(limit(c_next))
            h, c = np.where(running[:, None], h_next, 0), np.where(running[:, None], c_next, c)
            y[time[running], d, np.flatnonzero(running)] = h[running]
            done = lengths == step + 1
            y_h[d, done], y_c[d, done] = h[done], c[done]
    return y, y_h, y_c


def case(rng, *, steps=6, batch=3, inputs=5, hidden=7, direction="forward", dtypes=None,
         per_column=False, optional=True, lengths=False):  # fmt: skip
    """The twelve inputs and the attributes."""
    directions = 2 if direction == "bidirectional" else 1
    shape = (directions, 4 * hidden) if per_column else (directions,)
    floats = lambda *dims: rng.standard_normal(dims).astype(np.float32)  # noqa: E731
    args = {"x": floats(steps, batch, inputs)}
    for name, rows, dtype in zip("wr", (inputs, hidden), dtypes or ["int8"] * 2, strict=True):
        limits = np.iinfo(dtype)
        args[name] = rng.integers(limits.min, limits.max, (directions, rows, 4 * hidden), dtype,
                                  endpoint=True)  # fmt: skip
        args[f"{name}_scale"] = rng.uniform(0.001, 0.01, shape).astype(np.float32)
        middle = (limits.min + limits.max + 1) // 2
        zero_point = rng.integers(middle - 9, middle + 9, shape)
        args[f"{name}_zero_point"] = zero_point.astype(dtype)
    args["bias"] = floats(directions, 8 * hidden) if optional else None
    args["initial_h"] = floats(directions, batch, hidden) if optional else None
    args["initial_c"] = floats(directions, batch, hidden) if optional else None
    args["peepholes"] = floats(directions, 3 * hidden) if optional else None
    args["sequence_lens"] = None
    if lengths:
        args["sequence_lens"] = rng.integers(0, steps + 1, batch).astype(np.int32)
    return {name: args[name] for name in INPUTS}, {"hidden_size": hidden, "direction": direction}
