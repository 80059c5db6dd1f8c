"""``pipelining_ops.pipeline``, against plain TensorFlow that trains the same network one mini-batch after another."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
tf1 = tf.compat.v1
pipelining = ipu.pipelining_ops
Schedule, Mode = pipelining.PipelineSchedule, pipelining.RecomputationMode
ROWS, SIZE, RATE = 3, 5, 0.05


@pytest.fixture(autouse=True)
def _reset():
    yield
    ipu.config.reset_ipu_configuration()


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


OVERLAP = {Schedule.Grouped: 2, Schedule.Interleaved: 1}
MODES = {
    Schedule.Grouped: list(Mode),
    Schedule.Interleaved: [Mode.Auto, Mode.RecomputeThenBackpropagate],
    Schedule.Sequential: [Mode.Auto, Mode.RecomputeAndBackpropagateInterleaved],
}


def drawn(seed):
    """A pipeline with options that move, cut or compute data again, and how it is trained."""
    rng = np.random.default_rng(seed)
    stages = int(rng.integers(2, 5))
    schedule = list(Schedule)[rng.integers(3)]
    overlap = OVERLAP[schedule] * stages if schedule in OVERLAP else 1
    count = overlap * int(rng.integers(1, 3)) + (int(rng.integers(3)) if overlap == 1 else 0)
    options = {"pipeline_schedule": schedule, "allow_recompute": bool(rng.integers(2))}
    options["recomputation_mode"] = MODES[schedule][rng.integers(len(MODES[schedule]))]
    method = ["SUM", "mean", "RUNNING_MEAN"][rng.integers(3)]
    options["reduction_method"] = method
    for name in ("offload_weight_update_variables", "offload_activations", "offload_gradient_accumulation_buffers"):
        options[name] = [None, False, True][rng.integers(3)]
    for name in ("offload_weights", "replicated_weight_sharding"):
        options[name] = [None, False, True][rng.integers(3)]
    if options["offload_weight_update_variables"] is not False:
        options["replicated_optimizer_state_sharding"] = bool(rng.integers(2))
    options["gradient_accumulation_dtype"] = [None, tf.float32, lambda variable: variable.dtype][rng.integers(3)]
    ipus = 1 << (stages - 1).bit_length()
    options["device_mapping"] = [*rng.permutation(ipus)[:stages].tolist()]
    options["device_mapping"][0] = (
        ipus - 1 if ipus - 1 not in options["device_mapping"] else options["device_mapping"][0]
    )
    replicas = int(rng.integers(1, 3))
    scale = 1.0 if method == "SUM" else 1 / count
    optimizer = [Training.optimizer, momentum, adam][rng.integers(3)]
    return Training(dense(stages), count, 2, replicas, optimizer, scale, seed), ipus, options


def check_drawn(seed):
    training, ipus, options = drawn(seed)
    assert_same(training.on_device(ipus, **options), training.on_host(), training.replicas)


@pytest.mark.parametrize("seed", range(4))
def test_a_drawn_pipeline_trains_as_plain_tensorflow(seed):
    check_drawn(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 100))
def test_many_drawn_pipelines_train_as_plain_tensorflow(seed):
    check_drawn(seed)


@pytest.mark.parametrize("network", [normalised, repeated])
@pytest.mark.parametrize("schedule", [Schedule.Grouped, Schedule.Sequential])
def test_stages_may_have_state_and_control_flow(network, schedule):
    training = Training(network(), 4)
    assert_same(training.on_device(2, allow_recompute=True, pipeline_schedule=schedule), training.on_host())


@pytest.mark.parametrize("count", [4, 8])
def test_the_number_of_mini_batches_may_be_a_tensor(count):
    training = Training(dense(2), count)
    assert_same(training.on_device(2, count=tf.constant(count)), training.on_host())
    training = Training(dense(2), count, scale=1 / count)
    assert_same(training.on_device(2, count=tf.constant(count), reduction_method="MEAN"), training.on_host())


def test_a_wrong_tensor_ends_the_run():
    with pytest.raises(Exception, match="takes a multiple of 4 micro-batches: 4, 8, 12 and so on"):
        Training(dense(2), 4).on_device(2, count=tf.constant(6))


def test_parts_of_mini_batches_are_added_up():
    training = Training(dense(3), 6)
    assert_same(training.on_device(1, count=2, batch_serialization_iterations=3), training.on_host())


def test_gradients_are_added_up_in_a_type_of_ones_own():
    """Sums of float16 are coarse; such of float32 are those of the host."""
    training = Training(dense(2), 16, repeats=1)
    wanted = training.on_host()
    exact = training.on_device(2, gradient_accumulation_dtype=lambda variable: tf.float32)
    coarse = training.on_device(2, gradient_accumulation_dtype=np.float16)
    assert_same(exact, wanted)
    errors = [np.abs(one - other).max() for one, other in zip(coarse.weights, wanted.weights, strict=True)]
    assert 1e-6 < max(errors) < 1e-2


def test_an_optimizer_maps_the_gradients_of_each_mini_batch():
    training = Training(dense(2), 4, repeats=1)

    def mapped(slope, variable):
        return tf.clip_by_value(slope, -0.05, 0.05) + 0.1 * variable

    class OnHost(tf1.train.GradientDescentOptimizer):
        """Takes nothing: what it would take is computed below."""

    found = Training(dense(2), 4, 1, optimizer=lambda: ipu.optimizers.MapGradientOptimizer(OnHost(RATE), mapped))
    weights = found.on_device(2).weights
    own, states = training.variables()
    stages, sums = training.network.stages(own, states), [0, 0]
    for x, y in zip(training.x, training.y, strict=True):
        with tf.GradientTape() as tape:
            loss, _ = stages[1](*stages[0](x, y))
        pairs = zip(sums, tape.gradient(loss, own), own, strict=True)
        sums = [total + mapped(slope, variable) for total, slope, variable in pairs]
    for after, before, total in zip(weights, training.start, sums, strict=True):
        np.testing.assert_allclose(after, before - RATE * total, rtol=1e-5, atol=1e-6)


def test_variables_that_are_not_asked_for_stay():
    training = Training(dense(2), 4)
    strategy_of = training.on_device(2, watched={"compute_gradients_kwargs": {"var_list": []}})
    for own, before in zip(strategy_of.weights, training.start, strict=True):
        np.testing.assert_array_equal(own, before)
    everything = training.on_device(2, watched={})  # all that are trainable
    assert_same(everything, training.on_host())


def test_functions_of_one_stage_run_on_ipus_of_their_own():
    def stages(weights, states):
        def tall(x, y):
            return tf.tanh(tf.matmul(x, weights[0])), y

        def wide(x, y):
            return tf.nn.relu(tf.matmul(x, weights[1]))

        def last(one, y, other):
            error = tf.matmul(one, weights[2]) + tf.matmul(other, weights[3]) - y
            return (tf.reduce_mean(error**2),)

        if tf.executing_eagerly():
            return [lambda x, y: (*tall(x, y), wide(x, y)), last]
        return [[tall, wide], last]

    training = Training(Network(stages, [(SIZE, SIZE), (SIZE, SIZE), (SIZE, 1), (SIZE, 1)]), 4)
    wanted = training.on_host()
    assert_same(training.on_device(4), wanted)
    assert_same(training.on_device(4, device_mapping=[[3, 0], 1]), wanted)


def test_one_variable_in_several_stages_has_the_sum_of_its_gradients():
    def stages(weights, states):
        def first(x, y):
            return tf.tanh(tf.matmul(x, weights[0])), y

        def last(x, y):
            return (tf.reduce_mean((tf.matmul(x, weights[0], transpose_b=True) - y) ** 2),)

        return [first, last]

    training = Training(Network(stages, [(SIZE, SIZE)]), 4)
    assert_same(training.on_device(2), training.on_host())


def test_masks_and_sums_are_of_what_goes_to_the_queue():
    training = Training(dense(2), 4)
    losses, errors = training.on_host().outputs
    sums = [each.reshape(2, 4, *each.shape[1:]).sum(axis=1) for each in (losses, errors)]
    for options, wanted in (
        ({"outfeed_mask": [True, False]}, [errors]),
        ({"outfeed_mask": [False, True], "accumulate_outfeed": True}, [sums[0]]),
        ({"outfeed_loss": True}, [losses]),
    ):
        for own, other in zip(training.on_device(2, **options).outputs, wanted, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-5, atol=2e-6)
    coarse = {"accumulate_outfeed": True, "accumulate_outfeed_dtype": lambda tensor: tf.float16}
    for own, other in zip(training.on_device(2, **coarse).outputs, sums, strict=True):
        assert own.dtype == np.float16
        np.testing.assert_allclose(own, other, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize(
    ("options", "kept"), [({}, [0, 1]), ({"outfeed_mask": [True, False]}, [1]), ({"outfeed_loss": True}, [0])]
)
def test_the_rate_may_be_an_input_that_goes_through_all_stages(options: dict, kept: list):
    def by_rate(loss, rate):
        return pipelining.OptimizerFunctionOutput(tf1.train.GradientDescentOptimizer(rate), loss)

    def stages(weights, states):
        def first(rate, x, y):
            return rate, tf.tanh(tf.matmul(x, weights[0])), y

        def last(rate, x, y):
            return tf.reduce_mean((tf.matmul(x, weights[1]) - y) ** 2), rate

        if tf.executing_eagerly():
            return [lambda x, y: first(tf.constant(RATE), x, y), last]
        return [first, last]

    training = Training(Network(stages, [(SIZE, SIZE), (SIZE, 1)]), 4)
    wanted = training.on_host()
    found = training.on_device(2, inputs=[tf.constant(RATE)], optimizer_function=by_rate, **options)
    assert_same(found, replace(wanted, outputs=[wanted.outputs[place] for place in kept]))


def infer(stages, count=4, inputs=None, **options):
    strategy = configure(2)
    with strategy.scope():
        outfeed = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

        @tf.function(jit_compile=True)
        def step(*inputs):
            pipelining.pipeline(stages, count, inputs=list(inputs), outfeed_queue=outfeed, **options)

        strategy.run(step, args=inputs or (tf.constant(2.0),))
        return tf.nest.map_structure(lambda each: each.numpy(), outfeed.dequeue())


def test_inference_counts_its_mini_batches():
    def first(x):
        return x * 3, ipu.internal_ops.get_current_iteration_counter()

    def last(x, number):
        return {"x": x, "numbers": tf.stack([number, ipu.internal_ops.get_current_iteration_counter()])}

    found = infer([first, last], repeat_count=2)
    np.testing.assert_array_equal(found["x"], [6.0] * 8)
    np.testing.assert_array_equal(found["numbers"], np.stack([np.tile(np.arange(4), 2)] * 2, axis=1))


def test_operations_of_stages_run():
    seen = tf.Variable(0.0)  # made outside of a scope

    def first(x):
        return x, seen.assign_add(1.0).op

    assert infer([first, lambda x: (x, tf.no_op())], repeat_count=2)[0].shape == (8,)
    assert seen.numpy() == 8


def test_the_program_has_an_ipu_pipeline():
    """In the dialect, with the functions of its stages."""
    from ipu_mlir.tensorflow.lowering import trace

    configure(2)

    def program(x):
        queue = ipu.ipu_outfeed_queue.IPUOutfeedQueue()
        kept.append(queue)
        stages = [tf.tanh, tf.abs]
        pipelining.pipeline(stages, 4, inputs=[x], outfeed_queue=queue, pipeline_schedule=Schedule.Interleaved)
        return x

    kept = []
    text = str(trace(program, [tf.TensorSpec((1, 1))], "program").module)
    (line,) = [each for each in text.splitlines() if '"ipu.pipeline"' in each]
    assert 'schedule = "interleaved"' in line and "count = 4 : i64" in line
    assert text.count("ipu.enqueue") == 1 and "ipu.pipeline = @pipeline_" in text
