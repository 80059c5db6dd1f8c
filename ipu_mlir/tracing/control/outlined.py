"""``outlined``: functions whose code stands in the program once."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.tracing.control.bodies import Tree, is_weak, spec_of_leaf, tree, values_of
from ipu_mlir.tracing.control.private_functions import private_function
from ipu_mlir.tracing.graph import current_trace
from ipu_mlir.tracing.structure import Branch

func = upstream("func")


def outlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, whose code stands in the program once for all calls with tensors of the same shapes and types.

        @ipu.outlined
        def layer(x, w):
            return ipu.nn.relu(x @ w)

    On arrays it is ``function`` itself. So it is where it uses queues, remote buffers or fifos: each call has state of
    its own then. Traced tensors that it takes from around it, and variables, are arguments as well.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        if trace is None:
            return function(*args, **kwargs)
        taken = tree((args, kwargs), "arguments")
        moving = [place for place, leaf in enumerate(taken.leaves) if not is_weak(leaf)]
        given = [taken.leaves[place] for place in moving]
        specs = [spec_of_leaf(leaf) for leaf in given]
        result = Tree(Branch(tuple, (), ()), ())

        def give(symbols: list[Any]) -> Sequence[Any]:
            nonlocal result
            leaves = list(taken.leaves)
            for place, symbol in zip(moving, symbols, strict=True):
                leaves[place] = symbol
            inner_args, inner_kwargs = taken.nested(leaves)
            result = tree(function(*inner_args, **inner_kwargs), "result")
            return result.leaves

        made = private_function(trace, getattr(function, "__name__", "outlined"), specs, give)
        operands = [*values_of(trace, given, specs), *made.captured]
        with trace.emit(getattr(function, "__name__", "outlined")):
            call_op = func.CallOp(made.types, made.name, operands)
            call_op.operation.attributes[OUTLINED] = ir.UnitAttr.get()
            wrapped = [
                trace.wrap(value, spec.shape, spec.dtype)
                for value, spec in zip(call_op.operation.results, made.specs, strict=True)
            ]
        return result.nested(wrapped)

    return call


def checkpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, of which a gradient keeps the arguments alone, and computes the rest again.

        h = ipu.checkpoint(layer)(x, w)

    It is outlined: the forward code stands in the program once, and in its gradient once more.
    """
    return outlined(function)
