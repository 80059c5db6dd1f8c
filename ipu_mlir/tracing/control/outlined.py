"""``outlined``: functions whose code stands in the program once."""

import functools
from collections.abc import Callable
from itertools import count
from typing import Any

from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED
from ipu_mlir.dialects.support.bindings import ADVANCE, ir, upstream
from ipu_mlir.dialects.support.text import identifier
from ipu_mlir.tracing.control.bodies import Body, is_weak, spec_of_leaf, tree, values_of
from ipu_mlir.tracing.graph import current_trace

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
        body = Body(trace, "outlined", specs)
        with body.traced() as symbols:
            leaves = list(taken.leaves)
            for place, symbol in zip(moving, symbols, strict=True):
                leaves[place] = symbol
            inner_args, inner_kwargs = taken.nested(leaves)
            result = tree(function(*inner_args, **inner_kwargs), "result")
        result_specs = [spec_of_leaf(leaf) for leaf in result.leaves]
        body.end(func.ReturnOp, result.leaves, result_specs)
        operands = [*values_of(trace, given, specs), *captured_by(body)]
        with trace.emit(getattr(function, "__name__", "outlined")):
            types = [trace.tensor_type(spec.shape, spec.dtype) for spec in result_specs]
            name = new_name(trace.module, getattr(function, "__name__", "outlined"))
            with ir.InsertionPoint(trace.module.body):
                made = func.FuncOp(name, ([value.type for value in operands], types), visibility="private")
            body.move_to(made.regions[0])
            call_op = func.CallOp(types, name, operands)
            call_op.operation.attributes[OUTLINED] = ir.UnitAttr.get()
            wrapped = [
                trace.wrap(value, spec.shape, spec.dtype)
                for value, spec in zip(call_op.operation.results, result_specs, strict=True)
            ]
        return result.nested(wrapped)

    return call


def checkpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, of which a gradient keeps the arguments alone, and computes the rest again.

        h = ipu.checkpoint(layer)(x, w)

    It is outlined: the forward code stands in the program once, and in its gradient once more.
    """
    return outlined(function)


def captured_by(body: Body) -> list[ir.Value]:
    """The values that ``body`` uses of what is around it: each becomes one more argument, constants are made anew."""
    inside = {body.block}
    uses: list[tuple[ir.Operation, int]] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        inside.update(block for region in op.regions for block in region.blocks)
        uses.extend((op, number) for number in range(len(op.operands)))
        return ADVANCE

    for op in body.block.operations:
        op.operation.walk(visit)
    found: dict[ir.Value, ir.Value] = {}
    for op, number in uses:
        value = op.operands[number]
        owner = value.owner
        if (owner if isinstance(owner, ir.Block) else owner.operation.block) in inside:
            continue
        if value not in found and not isinstance(owner, ir.Block) and owner.operation.name == "arith.constant":
            with ir.InsertionPoint.at_block_begin(body.block):
                found[value] = owner.operation.clone().results[0]
        elif value not in found:
            found[value] = body.add_argument(value.type)
        op.operands[number] = found[value]
    return [value for value, inner in found.items() if isinstance(inner.owner, ir.Block)]


def new_name(module: ir.Module, wanted: str) -> str:
    """``wanted``, or with a number what no function of ``module`` is called."""
    symbols = [op.operation.attributes.get("sym_name", None) for op in module.body.operations]
    taken = {ir.StringAttr(each).value for each in symbols if each is not None}
    base = identifier(wanted) or "outlined"
    return next(name for number in count() if (name := f"{base}_{number}" if number else base) not in taken)
