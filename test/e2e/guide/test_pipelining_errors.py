"""What ``pipelining_ops`` refuses, and what it says."""

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
tf1 = tf.compat.v1
pipelining = ipu.pipelining_ops
Schedule, Mode = pipelining.PipelineSchedule, pipelining.RecomputationMode
Options, Output = pipelining.PipelineStageOptions, pipelining.OptimizerFunctionOutput


@pytest.fixture(autouse=True)
def _reset():
    yield
    ipu.config.reset_ipu_configuration()


def double(x):
    return 2 * x


def loss_of(x):
    return tf.reduce_mean(x)


def descent(loss):
    return Output(tf1.train.GradientDescentOptimizer(0.1), loss, compute_gradients_kwargs={"var_list": []})


def run(stages=(double, loss_of), count=4, trains=False, queue=ipu.ipu_outfeed_queue.IPUOutfeedMode.ALL, **options):
    """Make a program with such a pipeline."""
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = 2
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    options.setdefault("optimizer_function", descent if trains else None)
    outfeed = queue and ipu.ipu_outfeed_queue.IPUOutfeedQueue(queue)

    @tf.function(jit_compile=True)
    def step(x):
        pipelining.pipeline(stages, count, inputs=[x], **{"outfeed_queue": outfeed, **options})

    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        strategy.run(step, args=(tf.ones(3),))


ARGUMENTS = [
    ({"count": None}, ValueError, "gradient_accumulation_count must be specified"),
    ({"count": -1}, ValueError, "gradient_accumulation_count must be a positive number of 32 bits, got -1"),
    ({"count": 0}, ValueError, "must be a positive number of 32 bits, got 0"),
    ({"count": 2**31}, ValueError, "must be a positive number of 32 bits, got 2147483648"),
    ({"count": 2.5}, TypeError, "gradient_accumulation_count is an integer, got 2.5"),
    (
        {"count": 3},
        tf.errors.FailedPreconditionError,
        "The number of iterations of the pipeline must be a multiple of 2, but it is 3: the schedule grouped of 2 "
        "stages takes 2 or 4",
    ),
    (
        {"count": 2, "trains": True},
        tf.errors.FailedPreconditionError,
        "must be a multiple of 4, but it is 2: .* takes 4$",
    ),
    ({"reduction_method": "median"}, ValueError, "Cannot parse median as one of GradientAccumulationReductionMethod"),
    ({"reduction_method": "mean", "batch_serialization_iterations": 2}, ValueError, "goes with reduction_method=SUM"),
    (
        {"batch_serialization_iterations": 0},
        ValueError,
        "batch_serialization_iterations must be a number from 1, got 0",
    ),
    ({"continuous_weight_updates": True}, NotImplementedError, "Continuous weight updates are currently not supported"),
    (
        {"batch_serialization_iterations": 2, "pipeline_schedule": Schedule.Grouped},
        NotImplementedError,
        "Batch serialization is only supported with the Sequential schedule",
    ),
    (
        {"batch_serialization_iterations": 2, "device_mapping": [0, 1]},
        NotImplementedError,
        "all the pipeline stages need to be mapped to a single device",
    ),
    ({"batch_serialization_iterations": "2"}, ValueError, "must be a number from 1, got '2'"),
    ({"stages": double}, TypeError, "computational_stages must be a list or a tuple of functions, got <function"),
    ({"count": [4]}, TypeError, r"gradient_accumulation_count is an integer, got \[4\]"),
    ({"count": float("nan")}, TypeError, "gradient_accumulation_count is an integer, got nan"),
    ({"repeat_count": None}, ValueError, "repeat_count must be a number from 0, got None"),
    ({"repeat_count": -1}, ValueError, "repeat_count must be a number from 0, got -1"),
    (
        {"infeed_queue": tf.data.Dataset.range(4)},
        TypeError,
        "infeed_queue must be an IPUInfeedQueue, got <_RangeDataset",
    ),
    ({"outfeed_queue": "queue"}, TypeError, "outfeed_queue must be an IPUOutfeedQueue, got 'queue'"),
    ({"optimizer_function": "adam"}, TypeError, "optimizer_function must be a function of .*, got 'adam'"),
    ({"offload_activations": "no"}, TypeError, "offload_activations must be True, False or None, got 'no'"),
    ({"outfeed_loss": "yes", "trains": True}, TypeError, "outfeed_loss must be True, False or None, got 'yes'"),
    ({"outfeed_mask": True, "trains": True}, TypeError, "outfeed_mask must be a list or a tuple .*, got True"),
    ({"device_mapping": [0, None]}, ValueError, "an IPU of device_mapping must be a number from 0, got None"),
    ({"stages": [double]}, ValueError, "Pipeline requires at least two computational stages."),
    ({"stages": [double, 3]}, TypeError, "a stage of a pipeline is a function, got 3"),
    ({"stages": [[double, [double]], loss_of]}, ValueError, "got a list in a list"),
    (
        {"stages": [[double, double], loss_of], "device_mapping": [[0], 1]},
        ValueError,
        "a stage of 2 functions runs on as",
    ),
    ({"device_mapping": "01"}, TypeError, "device_mapping must be a list or a tuple"),
    ({"device_mapping": [0]}, ValueError, "Each stage must be mapped to an IPU: 1 mappings != 2 stages"),
    ({"device_mapping": [0, -1]}, ValueError, "an IPU of device_mapping must be a number from 0, got -1"),
    (
        {"device_mapping": [1, 1], "pipeline_schedule": Schedule.Interleaved, "trains": True},
        NotImplementedError,
        "Interleaved does not support multiple pipeline stages on the same device",
    ),
    ({"pipeline_schedule": "Grouped"}, TypeError, "pipeline_schedule must be a PipelineSchedule, got 'Grouped'"),
    ({"recomputation_mode": 1}, TypeError, "recomputation_mode must be a RecomputationMode, got 1"),
    (
        {"recomputation_mode": Mode.RecomputeThenBackpropagate, "pipeline_schedule": Schedule.Sequential},
        tf.errors.UnimplementedError,
        "not supported with the schedule Sequential",
    ),
    (
        {"recomputation_mode": Mode.RecomputeAndBackpropagateInterleaved, "pipeline_schedule": Schedule.Interleaved},
        tf.errors.UnimplementedError,
        "not supported with the schedule Interleaved",
    ),
    (
        {"forward_propagation_stages_poplar_options": Options()},
        TypeError,
        "must be a list or a tuple with a PipelineSt",
    ),
    ({"backward_propagation_stages_poplar_options": [Options()]}, ValueError, "1 options != 2 stages"),
    (
        {"forward_propagation_stages_poplar_options": [Options(), {}]},
        TypeError,
        "must hold PipelineStageOptions, got {}",
    ),
    ({"weight_update_poplar_options": {}}, TypeError, "weight_update_poplar_options must be a PipelineStageOptions"),
    (
        {"replicated_optimizer_state_sharding": True, "offload_weight_update_variables": False},
        ValueError,
        "optimizer state must be offloaded",
    ),
    ({"outfeed_loss": True}, ValueError, "An optimizer_function must be provided when outfeed_loss is set"),
    ({"outfeed_mask": [True]}, ValueError, "An optimizer_function must be provided when outfeed_mask is set"),
    (
        {"outfeed_mask": [True], "outfeed_loss": True, "trains": True},
        ValueError,
        "Only one of outfeed_loss and outfeed_m",
    ),
    ({"outfeed_mask": [True, False], "trains": True}, ValueError, "outfeed_mask has 2 entries, and .* gives 1"),
    (
        {"outfeed_loss": True, "trains": True, "queue": None},
        ValueError,
        "An outfeed_queue must be provided when outfeed_l",
    ),
    ({"accumulate_outfeed": True, "queue": None}, ValueError, "must be provided when accumulate_outfeed is True"),
    (
        {"accumulate_outfeed": True, "queue": ipu.ipu_outfeed_queue.IPUOutfeedMode.LAST},
        ValueError,
        "To accumulate the outfeed, it must be in IPUOutfeedMode ALL",
    ),
    ({"queue": None}, ValueError, "The last computational stage has tensor outputs: .*, but no outfeed_queue has been"),
    ({"stages": [lambda: tf.ones(3), loss_of]}, TypeError, r"the stage lambda cannot be called with \(a tensor\)"),
    ({"stages": [lambda x: (x, "text"), lambda x, text: x]}, CompileError, "TensorFlow cannot compile lambda"),
    ({"optimizer_function": lambda loss: loss}, TypeError, "optimizer_function must return OptimizerFunctionOutput"),
]


@pytest.mark.parametrize(
    ("given", "kind", "says"), ARGUMENTS, ids=lambda each: "-".join(each) if type(each) is dict else ""
)
def test_a_wrong_pipeline_is_refused(given, kind, says):
    with pytest.raises(kind, match=says):
        run(**given)


def test_a_tensor_around_the_pipeline_is_no_part_of_a_stage():
    def program(x):
        around = tf.identity(x, "around")
        pipelining.pipeline([lambda y: y + around, double], 4, inputs=[x])

    ipu.config.IPUConfig().configure_ipu_system()
    strategy = ipu.ipu_strategy.IPUStrategy()
    with pytest.raises(ValueError, match=r"Trying to capture the tensor around:0 which is not a resource.*in inputs"):
        strategy.run(tf.function(program, jit_compile=True), args=(tf.ones(3),))


def test_a_stage_that_assigns_what_is_trained_is_refused():
    weights = tf.Variable(np.ones(3, np.float32), name="weights")

    def first(x):
        weights.assign_add(x)
        return weights * x

    def optimizer(loss):
        return Output(tf1.train.GradientDescentOptimizer(0.1), loss, compute_gradients_kwargs={"var_list": [weights]})

    with pytest.raises(tf.errors.InvalidArgumentError, match="the stage first assigns weights:0, which the optimizer"):
        run([first, loss_of], optimizer_function=optimizer)


def test_outside_of_programs_and_stages():
    with pytest.raises(RuntimeError, match=r"a pipeline runs in programs: call it in what strategy\.run"):
        pipelining.pipeline([double, double], 2)
    with pytest.raises(ValueError, match="call it in a stage of a pipeline"):
        ipu.internal_ops.get_current_iteration_counter()
    np.testing.assert_array_equal(pipelining.recomputation_checkpoint([tf.ones(2)])[0], np.ones(2))


def outputs():
    v1, v2 = tf1.train.GradientDescentOptimizer(0.1), tf.keras.optimizers.SGD(0.1)
    loss, tape = tf.constant(1.0), tf.GradientTape()
    name = "OptimizerFunctionOutput"
    return [
        ((None, loss), {}, TypeError, f"{name}.opt must be a TensorFlow Optimizer or Keras OptimizerV2 object"),
        ((v1, 1.0), {}, TypeError, f"{name}.loss must be a TensorFlow Tensor object, got 1.0"),
        ((v1, tf.ones(2)), {}, ValueError, r"the loss of a pipeline is one float, got float32\(2,\)"),
        ((v1, loss, []), {}, TypeError, f"{name}.compute_gradients_args must be a tuple"),
        ((v1, loss, None, ()), {}, TypeError, f"{name}.compute_gradients_kwargs must be a dict"),
        ((v1, loss, None, None, []), {}, TypeError, f"{name}.apply_gradients_args must be a tuple"),
        ((v1, loss, None, None, None, ()), {}, TypeError, f"{name}.apply_gradients_kwargs must be a dict"),
        ((v2, loss, ()), {}, ValueError, f"{name}.compute_gradients_args may not be used with OptimizerV2 instances"),
        ((v2, loss, None, {}), {}, ValueError, f"{name}.compute_gradients_kwargs may not be used with OptimizerV2"),
        ((v1, loss), {"variables": []}, ValueError, f"{name}.variables may only be used with OptimizerV2"),
        ((v1, loss), {"tape": tape}, ValueError, f"{name}.tape may only be used with OptimizerV2"),
        ((v2, loss), {"variables": 1}, TypeError, f"{name}.variables must be a list or a tuple, got 1"),
        ((v2, loss), {"tape": 1}, TypeError, f"{name}.tape must be a GradientTape, got 1"),
        ((v2, loss), {"variables": [], "tape": tape}, ValueError, f"{name} takes variables or a tape, not both"),
        ((v2, loss), {"of": 1}, TypeError, f"{name} got of; it may have variables or a tape"),
    ]


@pytest.mark.parametrize("number", range(15))
def test_a_wrong_output_of_an_optimizer_function_is_refused(number):
    args, kwargs, kind, says = outputs()[number]
    with pytest.raises(kind, match=says):
        Output(*args, **kwargs)


@pytest.mark.parametrize("name", ["convolution_options", "matmul_options", "slice_options"])
def test_options_of_a_stage_are_dicts(name):
    with pytest.raises(TypeError, match=rf"{name} must be a dict, got \[\]"):
        Options(**{name: []})
    assert getattr(Options(**{name: {"a": 1}}), name) == {"a": 1}
