"""``ipu-raise-element-ops``: ops on single elements of tensors, as structured ops."""

import numpy as np

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import defining_op, ops_around
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.elements.update_slice import update_slice
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import constant_index, fill_with, generic, identity_map, loop_index
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class RaiseElementOps(Pass):
    """Write ops on single elements of tensors as structured ops, so that vertices run them.

    Needs:  linalg on tensors.
    Leaves: outside bodies, no ``tensor.insert``, ``tensor.from_elements`` and ``tensor.generate`` of static shape, and
            ``tensor.extract`` only of rank 0 (a scalar that control flow reads).
    """

    name = "ipu-raise-element-ops"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, *_RAISE):
                if not is_in_body(op) and op.parent.name != "tensor.generate":
                    with ir.InsertionPoint(op), op.location:
                        _RAISE[op.name](op)


def is_in_body(op: ir.Operation) -> bool:
    """True if ``op`` stands in the body of a structured op."""
    return any(map(is_structured, ops_around(op.parent.operation)))


def _raise_extract(op: ir.Operation) -> None:
    """extract(t, i, j) becomes extract(gather of t at i, j)."""
    source, *index = op.operands
    if not index:
        return
    tensor = upstream("tensor")
    empty = tensor.EmptyOp([], source.type.element_type).result
    found = generic([], [empty], [identity_map(0)], [], lambda _: [tensor.ExtractOp(source, index).result])
    replace_op(op, [tensor.ExtractOp(found.results[0], []).result])


def _raise_insert(op: ir.Operation) -> None:
    value, dest, *index = op.operands
    for use in list(dest.uses):
        if _may_come_first(use.owner.operation, op):
            use.owner.operation.move_before(op)  # then the element is written in place
    replace_op(op, [_with_element(dest, value, index)])


def _may_come_first(read: ir.Operation, insert: ir.Operation) -> bool:
    """True of an element that is read after ``insert``, and whose place is known before it."""
    if read.name != "tensor.extract" or read.block != insert.block or not insert.is_before_in_block(read):
        return False
    made = [op for each in read.operands if (op := defining_op(each)) is not None and op.block == insert.block]
    return all(op.is_before_in_block(insert) for op in made)


def _raise_from_elements(op: ir.Operation) -> None:
    """from_elements(a, b, ...) becomes a fill with a, into which the others are put."""
    made = op.results[0].type
    first, *others = op.operands
    empty = upstream("tensor").EmptyOp(list(made.shape), made.element_type).result
    result = fill_with(first, empty).results[0]
    for number, value in enumerate(others, start=1):
        if value != first:
            place = map(int, np.unravel_index(number, made.shape))
            result = _with_element(result, value, [*map(constant_index, place)])
    replace_op(op, [result])


def _raise_generate(op: ir.Operation) -> None:
    """The body of ``tensor.generate``, whose arguments are the indices, is that of a structured op."""
    made = op.results[0].type
    if not made.has_static_shape:
        return
    block = op.regions[0].blocks[0]
    *body, terminator = block.operations

    def element(_: list[ir.Value]) -> list[ir.Value]:
        known: Known = {argument: loop_index(number) for number, argument in enumerate(block.arguments)}
        for inner in body:
            clone_into(inner.operation, known)
        yielded = terminator.operands[0]
        return [known.get(yielded, yielded)]

    rank = len(made.shape)
    empty = upstream("tensor").EmptyOp(list(made.shape), made.element_type).result
    replace_op(op, [generic([], [empty], [identity_map(rank)], [True] * rank, element).results[0]])


def _with_element(dest: ir.Value, value: ir.Value, index: list[ir.Value]) -> ir.Value:
    """``dest`` with ``value`` at ``index``."""
    return update_slice(dest, value, index) if index else fill_with(value, dest).results[0]


_RAISE = {
    "tensor.extract": _raise_extract,
    "tensor.insert": _raise_insert,
    "tensor.from_elements": _raise_from_elements,
    "tensor.generate": _raise_generate,
}
