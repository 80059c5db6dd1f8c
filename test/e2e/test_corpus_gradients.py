"""Training steps that frameworks exported, rebuilt from their forward part: its gradient is that of the framework."""

import numpy as np
import pytest
from support.corpus import Program, programs

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.pipelines import PIPELINES

LEARNING_RATE = 0.01


def gradient_of_the_loss(program: Program) -> tuple[str, dict[int, int]]:
    """The program with the loss for its only result, differentiated; by parameter, the result that updates it."""
    module = parse_module(program.mlir.read_text(), dialect.context())
    with module.context, ir.Location.unknown():
        (function,) = [op for op in module.body.operations if op.operation.name == "func.func"]
        block = function.regions[0].blocks[0]
        end = terminator(block)
        kinds = [argument.type for argument in block.arguments]
        updates: dict[int, int] = {}
        for number, value in enumerate(end.operands):
            free = (place for place, kind in enumerate(kinds) if place not in updates and kind == value.type)
            place = next(free, None)
            if place is not None and ir.RankedTensorType(value.type).rank:
                updates[place] = number
        value = next(each for each in end.operands if str(each.type) == "tensor<f32>")
        with ir.InsertionPoint(end):
            ir.Operation.create("func.return", [], [value])
        end.erase()
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, [value.type]))
        steps = f"ipu-autodiff{{of=main by={','.join(map(str, sorted(updates)))}}}"
        run_steps(module.operation, Registry(PASSES, PIPELINES).resolve(steps))
    return str(module), updates


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pt_mlp_train_onehot_linalg", "tf_keras_mnist_sgd_step", "kerasjax_mnist_sgd_step"])
def test_training_steps_from_their_forward_part(name: str) -> None:
    program = programs()[name]
    text, updates = gradient_of_the_loss(program)
    executable = ipu.compile(text, entry="main_gradient", target=ipu.Target(tiles_per_ipu=16))
    _, *gradients = executable.run([*program.inputs, np.ones((), np.float32)])
    assert len(gradients) == len(updates) >= 6
    for (place, number), found in zip(sorted(updates.items()), gradients, strict=True):
        step = program.inputs[place].astype(np.float64) - program.expected[number]
        largest = np.abs(program.inputs[place]).max(initial=1e-3)
        np.testing.assert_allclose(LEARNING_RATE * found, step, rtol=1e-4, atol=1.2e-7 * largest)
