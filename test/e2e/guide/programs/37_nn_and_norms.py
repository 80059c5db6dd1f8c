# Feature: activations and the functional normalisations (guide 21.15.8, 21.15.9; also by the ipu.ops names of 21.15).
# Correct run: each equals its formula; group numbers that do not divide the channels are a ValueError; prints ok.
import math

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.norms.use_stable_statistics = True
config.configure_ipu_system()
x = np.random.default_rng(9).standard_normal((2, 3, 4, 6)).astype(np.float32)
erf = np.vectorize(math.erf)


def activations(v):
    nn = ipu.nn_ops
    return [
        nn.gelu(v),
        nn.gelu(v, approximate=False),
        nn.hard_sigmoid(v),
        nn.swish(v),
        nn.softmax(v),
        nn.softmax(v + 60.0, stable=True),
    ]


def norms(v):
    ops = ipu.ops.normalization_ops
    gamma = {"gamma": tf1.constant_initializer(2.0), "beta": tf1.constant_initializer(-1.0)}
    return [
        ops.group_norm(v, groups=3, training=True, scope="a"),
        ops.group_norm(v, groups=3, strided_channel_grouping=False, param_initializers=gamma, scope="b"),
        ops.instance_norm(v, center=False, scale=False, scope="c"),
        ops.layer_norm(v, scope="d"),
        ops.instance_norm(v, channels_axis=1, center=False, scale=False, scope="e"),
    ]


def normalised(values, axes):
    return (values - values.mean(axis=axes, keepdims=True)) / np.sqrt(values.var(axis=axes, keepdims=True) + 1.53e-5)


def in_groups(values, groups, strided):
    split = (6 // groups, groups) if strided else (groups, 6 // groups)
    return normalised(values.reshape(2, 3, 4, *split), (1, 2, 3) if strided else (1, 2, 4)).reshape(values.shape)


soft = np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)
tanh_gelu = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
expected = [
    tanh_gelu,
    0.5 * x * (1 + erf(x / math.sqrt(2))),
    np.clip(0.2 * x + 0.5, 0, 1),
    x / (1 + np.exp(-x)),
    soft,
    soft,
]
expected += [
    in_groups(x, 3, True),
    2 * in_groups(x, 3, False) - 1,
    normalised(x, (1, 2)),
    normalised(x, (1, 2, 3)),
    normalised(x, (2, 3)),
]

with tf.Graph().as_default():
    value = tf1.placeholder(tf.float32, x.shape)
    with ipu.scopes.ipu_scope("/device:IPU:0"):
        results = ipu.ipu_compiler.compile(lambda v: activations(v) + norms(v), inputs=[value])
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        for i, (ours, wanted) in enumerate(zip(session.run(results, {value: x}), expected)):
            np.testing.assert_allclose(ours, wanted, rtol=2e-3, atol=1e-4, err_msg=f"case {i}")

    try:
        with ipu.scopes.ipu_scope("/device:IPU:0"):
            ipu.ipu_compiler.compile(
                lambda v: ipu.normalization_ops.group_norm(v, groups=4, scope="bad"), inputs=[value]
            )
    except ValueError as error:
        print(f"refused: {error}")
    else:
        raise SystemExit("6 channels cannot be cut into 4 groups")
print("ok")
