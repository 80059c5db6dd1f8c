"""Stages of layers: how models get them, how they are shown, and which are refused."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)
layers = keras.layers
Stage = ipu.keras.PipelineStage
X, Y = np.ones((16, 4), np.float32), np.zeros((16, 2), np.float32)


@pytest.fixture(autouse=True)
def strategy():
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = 2
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    own = ipu.ipu_strategy.IPUStrategy()
    with own.scope():
        yield own
    ipu.config.reset_ipu_configuration()


def sequential():
    return keras.Sequential(
        [keras.Input((4,)), layers.Dense(3, name="a"), layers.ReLU(name="b"), layers.Dense(2, name="c")]
    )


def functional(first=0, second=1, third=1):
    inputs, shared = keras.Input((4,), name="x"), layers.Dense(4, name="shared")
    with Stage(first):
        x = shared(inputs)
    with Stage(second):
        y = shared(x)
    with Stage(third):
        return keras.Model(inputs, layers.Add(name="sum")([x, y]))


class Subclass(keras.Model):
    def __init__(self, in_stages=False):
        super().__init__()
        self.a, self.b, self.in_stages = layers.Dense(3, name="a"), layers.Dense(2, name="b"), in_stages

    def call(self, x):
        if not self.in_stages:
            return self.b(self.a(x))
        with Stage(0):
            x = self.a(x)
        with Stage(1):
            return self.b(x)


def stages(model):
    return [each.pipeline_stage for each in model.get_pipeline_stage_assignment()]


def test_layers_of_a_sequential_model():
    model = sequential()
    assert stages(model) == [None] * 3
    model.set_pipeline_stage_assignment([0, 0, 1])
    found = model.get_pipeline_stage_assignment()
    assert [str(each) for each in found][2] == "Layer: c is assigned to pipeline stage: 1"
    assert all(type(each) is ipu.keras.SequentialLayerPipelineStageAssignment for each in found)
    found[1].pipeline_stage = 1
    model.set_pipeline_stage_assignment(found)
    assert stages(model) == [0, 1, 1]
    lines = []
    model.print_pipeline_stage_assignment_summary(line_length=40, print_fn=lines.append)
    assert lines[0].startswith('Model: "sequential') and lines[2] == "Layer (type)        Pipeline Stage"
    assert lines[4:7] == ["a (Dense)           0", "b (ReLU)            1", "c (Dense)           1"]
    model.reset_pipeline_stage_assignment()
    assert stages(model) == [None] * 3


def test_calls_of_layers_of_a_functional_model(capsys):
    model = functional()
    found = model.get_pipeline_stage_assignment()
    assert [(each.layer.name, each.node_index, each.pipeline_stage) for each in found] == [
        ("shared", 0, 0),
        ("shared", 1, 1),
        ("sum", 0, 1),
    ]
    assert [layer.name for layer in found[2].inbound_layers] == ["shared", "shared"] and not found[0].is_nested_model
    assert str(found[1]) == "Layer: shared (node index 1) is assigned to pipeline stage: 1"
    model.print_pipeline_stage_assignment_summary()
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[4:8]]
    assert rows == [
        ["shared", "(Dense)", "(0)", "x", "0"],
        ["shared", "(Dense)", "(1)", "shared", "1"],
        ["sum", "(Add)", "(0)", "shared", "1"],
        ["shared"],
    ]
    model.reset_pipeline_stage_assignment()
    assert stages(model) == [None] * 3
    model.compile("sgd", "mse")
    model.fit(X, X, batch_size=len(X) // 2, verbose=0)  # as a whole, without options of a pipeline
    model.set_pipeline_stage_assignment(found)
    assert stages(model) == [0, 1, 1]


def test_a_layer_belongs_to_the_stage_in_which_it_was_made_unless_its_call_says_another():
    with Stage(0):
        one, other = layers.Dense(4), layers.Dense(4)
    inputs = keras.Input((4,))
    x = one(inputs)
    with Stage(1):
        model = keras.Model(inputs, other(x))
    assert stages(model) == [0, 1]


@pytest.mark.parametrize("in_stages", [False, True])
def test_a_subclass_trains_in_the_stages_of_its_call(in_stages):
    model = Subclass(in_stages)
    if not in_stages:
        with pytest.raises(RuntimeError, match=r"has not been built yet\. Please call `model.build\(\)` first"):
            model.get_pipeline_stage_assignment()
        model.build((None, 4))
        found = model.get_pipeline_stage_assignment()
        assert all(type(each) is ipu.keras.ModelLayerPipelineStageAssignment for each in found)
        for each in found:
            each.pipeline_stage = {"a": 0, "b": 1}[each.layer.name]
        model.set_pipeline_stage_assignment(found)
    model.compile("sgd", "mse", steps_per_execution=4)
    model.set_pipelining_options(4)
    history = model.fit(X, Y, batch_size=2, epochs=2, verbose=0).history["loss"]
    assert history[1] < history[0] and stages(model) == [0, 1]
    assert model.predict(X, batch_size=2, verbose=0).shape == (16, 2)


class OwnStep(keras.Model):
    def train_step(self, data):
        return super().train_step(data)


def own_step():
    inputs = keras.Input((4,))
    with Stage(0):
        x = layers.Dense(3)(inputs)
    with Stage(1):
        return OwnStep(inputs, layers.Dense(2)(x))


def fitted(model, steps_per_execution=1, **options):
    model.compile("sgd", "mse", steps_per_execution=steps_per_execution)
    model.set_pipelining_options(**options)
    model.fit(X, Y, batch_size=2, verbose=0)


def cut(numbers, **options):
    model = sequential()
    model.set_pipeline_stage_assignment(numbers)
    if options:
        fitted(model, **options)
    return model


def nested():
    with Stage(0), Stage(1):
        pass


def below_zero():
    with Stage(-1):
        pass


def partly():
    inputs = keras.Input((4,))
    with Stage(0):
        x = layers.Dense(3)(inputs)
    return keras.Model(inputs, layers.Dense(2, name="forgotten")(x))


def shuffled():
    model = functional()
    model.set_pipeline_stage_assignment(model.get_pipeline_stage_assignment()[::-1])


def changed():
    model = cut([0, 0, 1])
    model.add(layers.Dense(2))
    fitted(model, gradient_accumulation_steps_per_replica=4)


def pipeline(stages=None, **options):
    own = stages or [[layers.Dense(2)], [layers.Dense(2)]]
    return ipu.keras.PipelineSequential(own, **{"gradient_accumulation_count": 4, **options})


def set_options(**options):
    sequential().set_pipelining_options(**options)


def set_accumulation(**options):
    sequential().set_gradient_accumulation_options(**options)


REFUSED = {
    "below 0": (below_zero, ValueError, "-1 is not a valid pipeline stage"),
    "nested": (nested, RuntimeError, "Pipeline stages must not be nested: stage 1 is entered in that of stage 0"),
    "partly": (partly, ValueError, r"must have an associated pipeline stage\. However, forgotten has not been"),
    "gap": (lambda: functional(0, 2, 2), ValueError, r"found pipeline stages 0, 2, .* stages are missing 1\."),
    "order": (
        lambda: functional(0, 1, 0),
        ValueError,
        "Layer sum in pipeline stage 0 has a dependency from a pipeline stage which has not yet executed",
    ),
    "first": (lambda: cut([1, 1, 2]), ValueError, "needs to be assigned to the 0th pipeline stage, however it was.* 1"),
    "jump": (lambda: cut([0, 0, 2]), ValueError, "Layer c has been assigned to pipeline stage 2, however the previous"),
    "length": (lambda: cut([0, 1]), ValueError, r"\(2\) does not match the total number of layers.*\(currently 3\)"),
    "no list": (lambda: cut((0, 0, 1)), ValueError, "`pipeline_stage_assignment` needs to be a list, got tuple"),
    "kind": (lambda: cut([0, 0, "1"]), ValueError, "need to be instances of `SequentialLayerPipelineStageAssignment`"),
    "shuffled": (shuffled, ValueError, "for layer sum, but layer shared runs there"),
    "changed": (changed, ValueError, r"\(3\) does not match the total number of layers in the model \(currently 4\)"),
    "no count": (lambda: cut([0, 0, 1], device_mapping=[0, 1]), ValueError, "has not been set through `set_pipelining"),
    "steps": (
        lambda: cut([0, 0, 1], gradient_accumulation_steps_per_replica=4, steps_per_execution=6),
        RuntimeError,
        r"The pipelined model has been configured.*\(set to 6\) is not divisible by `grad.*_per_replica` \(4\)",
    ),
    "multiple": (
        lambda: cut([0, 0, 1], gradient_accumulation_steps_per_replica=6, steps_per_execution=6),
        tf.errors.FailedPreconditionError,
        "The number of iterations of the pipeline must be a multiple of 4, but it is 6",
    ),
    "IPUs": (
        lambda: cut([0, 1, 2], gradient_accumulation_steps_per_replica=6, steps_per_execution=6),
        ValueError,
        "Current device has 2 IPUs attached, however the current model requires a multiple of 3 IPUs",
    ),
    "one stage": (
        lambda: cut([0, 0, 0], gradient_accumulation_steps_per_replica=6, steps_per_execution=6),
        ValueError,
        "at least two computational stages",
    ),
    "own step": (
        lambda: fitted(own_step(), gradient_accumulation_steps_per_replica=4),
        RuntimeError,
        "The function `train_step` for the model .* has been overridden",
    ),
    "count": (
        lambda: set_options(gradient_accumulation_steps_per_replica=0),
        ValueError,
        "Expected `gradient_accumulation_steps_per_replica` to be a positive integer, but got 0 instead",
    ),
    "mapping": (lambda: set_options(device_mapping=[0.0]), ValueError, "`device_mapping` to be a list of integers"),
    "own name": (
        lambda: set_options(gradient_accumulation_count=4),
        ValueError,
        "Set the `gradient_accumulation_steps_per_replica` argument to `set_pipelining_options` instead",
    ),
    "by Keras": (lambda: set_options(repeat_count=4), ValueError, "`repeat_count` key .* automatically set by Keras"),
    "not in Keras": (
        lambda: set_options(outfeed_loss=True),
        ValueError,
        "`outfeed_loss` key .* not compatible with Keras",
    ),
    "name": (lambda: set_options(shedule=1), TypeError, "unexpected keyword argument 'shedule'; it takes gradient_acc"),
    "method": (
        lambda: set_options(gradient_accumulation_reduction_method="median"),
        ValueError,
        "Cannot parse 'median' as one of GradientAccumulationReductionMethod",
    ),
    "opt": (lambda: set_accumulation(opt=1), ValueError, "Found `opt` key in `gradient_accumulation_optimizer_kwargs`"),
    "mini batches": (
        lambda: set_accumulation(num_mini_batches=1),
        ValueError,
        "Set the `gradient_accumulation_steps_per",
    ),
    "metrics": (
        lambda: sequential().set_replication_options("MEDIAN"),
        ValueError,
        "as one of ReplicatedMetricReductionMethod: NONE, LIST, SUM, MEAN",
    ),
    "queue": (lambda: sequential().set_infeed_queue_options(depth=1), TypeError, "it takes prefetch_depth"),
    "stages": (lambda: pipeline([layers.Dense(2)]), ValueError, "may only contain lists of stages"),
    "no stages": (lambda: ipu.keras.PipelineSequential([], 4), ValueError, "must take a non-empty list of stages"),
    "layers": (lambda: pipeline([[2]]), ValueError, "must contain only Keras Layers, got 2"),
    "zero": (lambda: pipeline(gradient_accumulation_count=0), ValueError, "to be a positive integer, but got 0"),
    "save": (
        lambda: pipeline().save("x.keras"),
        NotImplementedError,
        "do not support the `save` interface; use save_w",
    ),
    "call": (lambda: pipeline()(tf.ones((2, 2))), ValueError, "cannot be called directly"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        call()


def in_a_thread(call):
    """The exception of ``call`` where no scope is around."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).exception()


def test_refused_outside_of_the_scope():
    found = in_a_thread(lambda: Stage(0).__enter__())
    assert isinstance(found, RuntimeError) and "only be used from within an IPUStrategy context" in str(found)
    found = in_a_thread(lambda: sequential().get_pipeline_stage_assignment())
    assert isinstance(found, RuntimeError) and "was made outside of its scope" in str(found)


def test_layers_and_models_without_an_init_of_their_own():
    class Doubled(layers.Layer):
        def call(self, x):
            return x * 2

    class Plain(keras.Model):
        pass

    inputs = keras.Input((4,))
    with Stage(0):
        x = Doubled(name="first")(inputs)
    with Stage(1):
        model = Plain(inputs, Doubled()(x), name="plain")
    assert stages(model) == [0, 1] and model.name == "plain"
    assert model.layers[1].get_config()["name"] == "first"
