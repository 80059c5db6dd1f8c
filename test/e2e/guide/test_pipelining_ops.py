"""``pipelining_ops.pipeline``, against plain TensorFlow that trains the same network one mini-batch after another."""

from dataclasses import replace

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
from support.trained_stages import (  # noqa: E402
    RATE,
    SIZE,
    Network,
    Training,
    adam,
    assert_same,
    configure,
    dense,
    momentum,
    normalised,
    repeated,
)

tf1 = tf.compat.v1
pipelining = ipu.pipelining_ops
Schedule, Mode = pipelining.PipelineSchedule, pipelining.RecomputationMode


@pytest.fixture(autouse=True)
def _reset():
    yield
    ipu.config.reset_ipu_configuration()


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
