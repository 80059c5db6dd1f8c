"""``ipu-pad-bounded-sizes``: tensors of a size that depends on data have the largest one, beside the number in use."""

import re
from typing import Any

from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir, passmanager
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.importing.bounded.counts import I32, Counts, Padded, constant, dynamic_dimensions, padded_type
from ipu_mlir.passes.importing.bounded.rules import RULES, SIZES
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_WAY_OUT = (
    "a size that depends on data; the sizes of a program are fixed when it is compiled: keep the whole tensor, with "
    "values without effect in place of those left out, as by tf.where(condition, x, 0)"
)


_LINE = re.compile(r'":\d+:\d+')
"""What the location of a line of a file has."""
_RESULT = f"gives a result of {_WAY_OUT}"


class PadBoundedSizes(Pass):
    """Let tensors with bounds have their largest sizes.

    Needs:  StableHLO, as it comes in.
    Leaves: no ``#stablehlo.bounds``, and no ``set_dimension_size`` to a size that depends on data: what is beyond a
            size is padding, which reductions, products and scatters leave out. Refused are ops that cannot work so, and
            results of such sizes whose function does not give the sizes as well (``get_dimension_size``).
    """

    name = "ipu-pad-bounded-sizes"

    def run(self, module: ir.Operation) -> None:
        if not list_ops(module, *SIZES):
            return
        with module.context, Refusals() as refuse:
            passmanager.PassManager.parse("builtin.module(inline,symbol-dce)", context=module.context).run(module)
            for function in list_ops(module, "func.func"):
                for block in function.regions[0].blocks:
                    if not _pad_block(block, {}, refuse):
                        break


def _pad_block(block: Any, known: dict[ir.Value, Counts], refuse: Refusals) -> bool:
    """Pad what is in ``block``; False if an op was refused, after which nothing is known."""
    for each in list(block.operations):
        op = each.operation
        counts = [known.get(operand, {}) for operand in op.operands]
        if not any(counts) and op.name not in SIZES:
            inside = (own for region in op.regions for own in region.blocks)
            if not all(_pad_block(own, known, refuse) for own in inside):
                return False
            if op.name in ("stablehlo.if", "stablehlo.case") and any(
                dynamic_dimensions(result.type) for result in op.results
            ):
                known.update(_with_counts(op, known))
            continue
        if op.name == "stablehlo.return" and op.operation.parent.name in ("stablehlo.if", "stablehlo.case"):
            continue
        dynamic = [dynamic_dimensions(result.type) for result in op.results]
        with ir.InsertionPoint(op), op.location:
            rule = RULES.get(op.name)
            found = None if rule is None else rule(op, counts)
        if found is None or any(not dims <= own.keys() for dims, (_, own) in zip(dynamic, found, strict=True)):
            if op.name == "func.return":
                refuse(_placed(next(value for value, own in zip(op.operands, counts, strict=True) if own)), _RESULT)
            else:
                refuse(op, f"{'takes a tensor of' if any(counts) else 'gives'} {_WAY_OUT}")
            return False
        if [value for value, _ in found] != list(op.results):
            replace_op(op, [value for value, _ in found])
        known.update(found)
    return True


def _placed(value: ir.Value) -> ir.Operation:
    """The op that makes ``value``, or the nearest before it that knows its place in the program of the user."""
    found = op = defining_op(value)
    while op is not None and not _LINE.search(str(op.location)) and len(op.operands):
        op = defining_op(op.operands[0])
    result = found if op is None else op
    assert result is not None, "arguments have fixed sizes"
    return result


def _with_counts(op: ir.Operation, known: dict[ir.Value, Counts]) -> list[Padded]:
    """A conditional whose branches give counts as well, in place of ``op``."""
    wanted = [sorted(dynamic_dimensions(result.type)) for result in op.results]
    for region in op.regions:
        end = terminator(region.blocks[0])
        more = []
        with ir.InsertionPoint(end), op.location:
            for value, axes in zip(end.operands, wanted, strict=True):
                more += [known.get(value, {}).get(axis) or constant(value.type.shape[axis]) for axis in axes]
            ir.Operation.create("stablehlo.return", [], [*end.operands, *more])
        end.erase()
    kinds = [padded_type(result.type) for result in op.results] + [ir.Type.parse(I32)] * sum(map(len, wanted))
    with ir.InsertionPoint(op), op.location:
        made = ir.Operation.create(op.name, kinds, list(op.operands), dict(op.attributes), regions=len(op.regions))
    for region, other in zip(op.regions, made.regions, strict=True):
        region.blocks[0].append_to(other)
    rest = iter(list(made.results)[len(wanted) :])
    found = [(value, {axis: next(rest) for axis in axes}) for value, axes in zip(made.results, wanted, strict=False)]
    replace_op(op, [value for value, _ in found])
    return found
