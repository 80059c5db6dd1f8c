"""Networks in stages, trained by ``pipelining_ops.pipeline``, and by plain TensorFlow one mini-batch after another."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
pipelining = ipu.pipelining_ops
ROWS, SIZE, RATE = 3, 5, 0.05


def configure(ipus, allow_recompute=False):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = ipus
    config.allow_recompute = allow_recompute
    config.ipu_model.tiles_per_ipu = 4
    config.optimizations.minimum_remote_tensor_size = 0
    config.configure_ipu_system()
    return ipu.ipu_strategy.IPUStrategy()


@dataclass
class Network:
    """A network in stages, on functions of TensorFlow that plain TensorFlow runs as well.

    Attributes:
        stages: functions of weights and a state, that give stages.
        shapes: of the weights.
        states: shapes of variables that stages assign, and that are not trained.
    """

    stages: Any
    shapes: list[tuple[int, ...]]
    states: list[tuple[int, ...]] = field(default_factory=list)


def dense(count):
    """So many stages, each a layer; the last one gives the loss, and the error of each row."""

    def stages(weights, states):
        def hidden(number):
            def stage(x, y):
                kept = pipelining.recomputation_checkpoint(tf.matmul(x, weights[number]))
                return tf.tanh(kept) * tf.cast(x > 0, tf.float32), y

            return stage

        def last(x, y):
            error = tf.matmul(x, weights[-1]) - y
            return tf.reduce_mean(error**2), tf.reduce_sum(error, axis=1)

        return [*(hidden(number) for number in range(count - 1)), last]

    return Network(stages, [(SIZE, SIZE)] * (count - 1) + [(SIZE, 1)])


def normalised():
    """Stages that assign variables, and read what they have assigned."""

    def stages(weights, states):
        def first(x, y):
            hidden = tf.matmul(x, weights[0])
            states[0].assign(0.9 * states[0] + 0.1 * tf.reduce_mean(hidden, axis=0))
            return tf.tanh(hidden - states[0]), y

        def last(x, y):
            states[1].assign_add([1.0])
            return tf.reduce_mean((tf.matmul(x, weights[1]) * states[1] - y) ** 2), states[1] * 1

        return [first, last]

    return Network(stages, [(SIZE, SIZE), (SIZE, 1)], [(SIZE,), (1,)])


def repeated():
    """A loop and a branch that stages convert, and a dict between stages."""

    def stages(weights, states):
        def first(x, y):
            for _ in tf.range(3):
                x = tf.tanh(tf.matmul(x, weights[0]))
            if tf.reduce_sum(y) > 0:
                x = 2 * x
            return {"y": y, "x": x}

        def last(x, y):
            return [tf.reduce_mean((tf.matmul(x, weights[1]) - y) ** 2)]

        return [tf.autograph.to_graph(first) if tf.executing_eagerly() else first, last]

    return Network(stages, [(SIZE, SIZE), (SIZE, 1)])


@dataclass
class Run:
    """What training gives."""

    weights: list[np.ndarray]
    states: list[np.ndarray]
    outputs: list[np.ndarray]


@dataclass
class Training:
    """Data and first weights of a network, and how it is trained.

    Attributes:
        count: mini-batches of an update, on each of the replicas.
        optimizer: makes an optimizer of ``tf.compat.v1`` or of Keras.
        scale: of the sums of gradients.
    """

    network: Network
    count: int
    repeats: int = 2
    replicas: int = 1
    optimizer: Any = lambda: tf1.train.GradientDescentOptimizer(RATE)
    scale: float = 1.0
    seed: int = 0

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        self.batches = self.count * self.repeats * self.replicas
        self.start = [rng.standard_normal(shape).astype(np.float32) for shape in self.network.shapes]
        self.x = rng.standard_normal((self.batches, ROWS, SIZE)).astype(np.float32)
        self.y = rng.standard_normal((self.batches, ROWS, 1)).astype(np.float32)

    def variables(self):
        states = [tf.Variable(tf.zeros(shape), trainable=False) for shape in self.network.states]
        return [tf.Variable(each) for each in self.start], states

    def on_device(self, ipus, count=None, allow_recompute=False, watched=None, **options):
        """Train by a pipeline; ``count`` is a tensor where it is known at run time only."""
        strategy = configure(ipus * self.replicas, allow_recompute)
        with strategy.scope():
            weights, states = self.variables()
            infeed = ipu.ipu_infeed_queue.IPUInfeedQueue(tf.data.Dataset.from_tensor_slices((self.x, self.y)))
            _ = infeed.initializer
            outfeed = ipu.ipu_outfeed_queue.IPUOutfeedQueue()
            optimizer = self.optimizer()
            is_v1 = isinstance(optimizer, tf1.train.Optimizer)
            named = {"compute_gradients_kwargs": {"var_list": weights}} if is_v1 else {"variables": weights}

            def optimizer_function(loss, *_):
                return pipelining.OptimizerFunctionOutput(optimizer, loss, **(named if watched is None else watched))

            @tf.function(jit_compile=True)
            def step(count):
                pipelining.pipeline(
                    self.network.stages(weights, states),
                    gradient_accumulation_count=count,
                    repeat_count=self.repeats,
                    infeed_queue=infeed,
                    outfeed_queue=outfeed,
                    **{"optimizer_function": optimizer_function, **options},
                )

            strategy.run(step, args=(self.count if count is None else count,))
            outputs = [each.numpy() for each in tf.nest.flatten(outfeed.dequeue())]
            return Run([each.numpy() for each in weights], [each.numpy() for each in states], outputs)

    def on_host(self):
        """Train one mini-batch after another."""
        weights, states = self.variables()
        optimizer, stages, outputs = self.optimizer(), self.network.stages(weights, states), []
        for update in range(self.repeats):
            sums = [tf.zeros_like(each) for each in weights]
            for number in range(self.count * self.replicas):
                batch = update * self.count * self.replicas + number
                with tf.GradientTape() as tape:
                    given = (self.x[batch], self.y[batch])
                    for stage in stages:
                        given = stage(**given) if isinstance(given, dict) else stage(*given)
                outputs.append([each.numpy() for each in given])
                slopes = tape.gradient(given[0], weights)
                sums = [total + slope * self.scale for total, slope in zip(sums, slopes, strict=True)]
            optimizer.apply_gradients(list(zip(sums, weights, strict=True)))
        rows = [np.stack(each) for each in zip(*outputs, strict=True)]
        return Run([each.numpy() for each in weights], [each.numpy() for each in states], rows)


def assert_same(found, wanted, replicas=1):
    for own, other in zip(found.weights + found.states, wanted.weights + wanted.states, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-6)
    for own, other in zip(found.outputs, wanted.outputs, strict=True):
        np.testing.assert_allclose(own.reshape(other.shape), other, rtol=1e-5, atol=2e-6)
        assert own.shape == (len(other) // replicas, *([replicas] if replicas > 1 else []), *other.shape[1:])


def momentum():
    return tf1.train.MomentumOptimizer(RATE, 0.9)


def adam():
    """With an epsilon that keeps roundings of small gradients small."""
    return tf.keras.optimizers.Adam(RATE, epsilon=0.1)
