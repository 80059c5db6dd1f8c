"""The gradient of a program that JAX has exported without one, differentiated here."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.pipelines import PIPELINES


def differentiated(text: str, by: Sequence[int]) -> str:
    """StableHLO with one entry that gives one float, as linalg with the entry ``main_gradient`` beside it."""
    module = parse_module(text, dialect.context())
    steps = f"ipu-import-stablehlo,ipu-autodiff{{of=main by={','.join(map(str, by))}}}"
    run_steps(module, Registry(PASSES, PIPELINES).resolve(steps))
    return str(module)


def gradient_of_export(
    function: Callable[..., Any], arguments: Sequence[Any], target: ipu.Target
) -> list[np.ndarray[Any, Any]]:
    """The gradients of a function of JAX, in f64, by each argument that is made of floats."""
    import jax

    by = [place for place, each in enumerate(arguments) if each.dtype.kind == "f"]
    with jax.enable_x64(True):
        text = jax.jit(function, keep_unused=True).lower(*arguments).as_text()
    exe = ipu.compile(differentiated(text, by), entry="main_gradient", target=target)
    return exe.run([*arguments, np.ones(())])[-len(by) :]
