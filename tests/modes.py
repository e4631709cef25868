"""The three ways in which TensorFlow runs a function."""

import tensorflow as tf

MODES = ("eager", "graph", "xla")


def prepare(mode, function):
    """Returns the function as it runs in a mode, from arrays to arrays."""
    if mode != "eager":
        function = tf.function(function, jit_compile=mode == "xla")

    def run(*args):
        results = function(*[tf.convert_to_tensor(arg) for arg in args])
        return tf.nest.map_structure(lambda result: result.numpy(), results)

    return run


def call(mode, function, *args):
    return prepare(mode, function)(*args)
