"""Training steps that frameworks export, rebuilt from their loss: weights move against its gradient, computed here."""

import numpy as np
import pytest
from support.corpus import load_programs

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.pipelines import PIPELINES
from ipu_mlir.passes.support.value_attributes import set_function_type

PROGRAMS = load_programs()
STEPS = ("tf_keras_mnist_sgd_step", "kerasjax_mnist_sgd_step", "pt_mlp_train_onehot_linalg")


def gradient_of_the_loss(text: str, result: int, by: list[int]) -> str:
    """The program with ``main_gradient``, after all but one of its results are gone and what computes them."""
    module = parse_module(text, dialect.context())
    with module.context, ir.Location.unknown():
        main = next(op for op in module.body.operations if op.name.value == "main").operation
        end = terminator(main.regions[0].blocks[0])
        with ir.InsertionPoint(end):
            upstream("func").ReturnOp([end.operands[result]])
        end.erase()
        if "res_attrs" in main.attributes:
            del main.attributes["res_attrs"]
        set_function_type(main)
    numbers = ",".join(map(str, by))
    steps = f"canonicalize,ipu-autodiff{{of=main by={numbers}}}"
    run_steps(module, Registry(PASSES, PIPELINES).resolve(steps))
    return str(module)


@pytest.mark.parametrize("name", STEPS)
def test_weights_move_against_the_gradient_of_the_loss(name):
    program = PROGRAMS[name]
    inputs, expected = program.inputs, program.expected
    losses = [place for place, each in enumerate(expected) if each.shape == () and each.dtype.kind == "f"]
    pairs = moved_weights(inputs, expected)
    assert len(pairs) >= 4
    text = gradient_of_the_loss(program.mlir.read_text(), losses[0], [place for place, _ in pairs])
    exe = ipu.compile(text, entry="main_gradient", target=ipu.Target(tiles_per_ipu=64))
    loss, *slopes = exe.run([*inputs, np.ones((), expected[losses[0]].dtype)])
    np.testing.assert_allclose(loss, expected[losses[0]], rtol=1e-4)
    steps = [inputs[place] - expected[result] for place, result in pairs]
    rate = sum((step * slope).sum() for step, slope in zip(steps, slopes, strict=True)) / sum(
        (each**2).sum() for each in slopes
    )
    assert rate > 0
    for (_, result), step, slope in zip(pairs, steps, slopes, strict=True):
        np.testing.assert_allclose(step, rate * slope, rtol=1e-3, atol=2 * program.atol[result])


def moved_weights(inputs: list[np.ndarray], expected: list[np.ndarray]) -> list[tuple[int, int]]:
    """Arguments that results are like, but for a small step: in each program, in one order."""
    pairs, first = [], 0
    for result, new in enumerate(expected):
        for place in range(first, len(inputs)):
            old = inputs[place]
            if old.shape == new.shape and old.ndim and old.dtype == new.dtype and 0 < np.abs(old - new).max() < 0.1:
                pairs.append((place, result))
                first = place + 1
                break
    return pairs
