"""``ipu-inline-scalar-ops``: structured ops on scalars wrapped in tensors become scalar ops."""

from collections.abc import Sequence
from math import prod

from ipu_mlir.dialects.analysis.control_flow import enclosing_loop
from ipu_mlir.dialects.analysis.loop_nest import loop_nest, num_outputs, reads_operand
from ipu_mlir.dialects.analysis.matchers import defining_op, integer_of, is_made_inside
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import as_index, constant_index, index_sum
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import DYNAMIC, slice_dimensions, slice_offsets


class InlineScalarOps(Pass):
    """Run ops on rank-0 tensors that only wrap scalars on the scalars themselves.

    Loops that were scalar before a front end wrapped their values are recognised as such again
    (``ipu-raise-loops``). In a loop, so are integers that are elements of slices, or of small tensors that are put
    together there, as the index into several dimensions is.

    Needs:  linalg on tensors.
    Leaves: no ``linalg.generic`` without loops whose operands are all ``tensor.from_elements`` or scalars, of one
            element each; its results are ``tensor.from_elements``, which ``canonicalize`` folds into
            ``tensor.extract``.
    """

    name = "ipu-inline-scalar-ops"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "linalg.generic"):
                if not len(op.attributes["iterator_types"]) and "library_call" not in op.attributes:
                    _inline(op)
            for op in list_ops(module, "tensor.extract"):
                _look_up(op)


def _inline(op: ir.Operation) -> None:
    inputs = len(op.operands) - num_outputs(op)
    scalars = [_scalar_in(value, op) for value in list(op.operands)[:inputs]]
    outputs_matter = any(reads_operand(op, number) for number in range(inputs, len(op.operands)))
    is_larger = any(prod(result.type.shape) != 1 for result in op.results)  # and only one element of it is written
    if not scalars or outputs_matter or is_larger or any(scalar is None for scalar in scalars):
        return
    block = op.regions[0].blocks[0]
    known = dict(zip(list(block.arguments)[:inputs], scalars, strict=True))
    with ir.InsertionPoint(op), op.location:
        *body, terminator = block.operations
        for inner in body:
            clone_into(inner.operation, known)
        for result, value in zip(op.results, terminator.operands, strict=True):
            wrapped = upstream("tensor").FromElementsOp(result.type, [known.get(value, value)]).result
            result.replace_all_uses_with(wrapped)
    op.erase()


def _scalar_in(value: ir.Value, user: ir.Operation) -> ir.Value | None:
    """The scalar that ``value`` is or wraps; None for a tensor of several elements, of which one is read."""
    if not isinstance(value.type, ir.ShapedType):
        return value
    made = defining_op(value, "tensor.from_elements")
    if made is not None:
        return made.operands[0] if len(made.operands) == 1 else None
    if not _is_integer(value) or prod(value.type.shape) != 1 or not _is_of_iteration(value, user):
        return None
    with ir.InsertionPoint(user), user.location:
        return _element(value, [0] * len(value.type.shape))


def _look_up(load: ir.Operation) -> None:
    """Let the users of ``load`` have the scalar that the iteration has put there."""
    source, *indices = load.operands
    at = [integer_of(index) for index in indices]
    known = [index for index in at if index is not None]
    inside = all(0 <= index < size for index, size in zip(known, source.type.shape, strict=False))
    if len(known) < len(at) or not inside or not _is_of_iteration(source, load):
        return
    with ir.InsertionPoint(load), load.location:
        found = _element(source, known)
    if found is not None:
        load.results[0].replace_all_uses_with(found)
        load.erase()


def _is_of_iteration(value: ir.Value, user: ir.Operation) -> bool:
    """True if ``value`` is made in the loop that ``user`` is in."""
    loop = enclosing_loop(user)
    return loop is not None and defining_op(value) is not None and is_made_inside(value, loop)


def _is_integer(value: ir.Value) -> bool:
    return isinstance(value.type.element_type, ir.IntegerType | ir.IndexType)


def _element(value: ir.Value, at: Sequence[int]) -> ir.Value | None:
    """The element of ``value`` at ``at``, made at the current insertion point; None where that takes more than a load
    or a few operations on integers.
    """
    op = defining_op(value)
    if op is None:
        return None
    if op.name == "tensor.from_elements" and len(op.operands) == 1:
        return op.operands[0]
    if op.name in ("tensor.expand_shape", "tensor.collapse_shape") and prod(value.type.shape) == 1:
        return _element_or_load(op.operands[0], [0] * len(op.operands[0].type.shape))
    if op.name in ("tensor.extract_slice", "tensor.insert_slice"):
        sizes = list(op.attributes["static_sizes"])
        if any(step != 1 for step in op.attributes["static_strides"]) or DYNAMIC in sizes:
            return None
        return _sliced(op, sizes, at) if op.name == "tensor.extract_slice" else _assembled(op, sizes, at)
    return _computed(op, at) if op.name == "linalg.generic" and _is_integer(value) else None


def _element_or_load(value: ir.Value, at: Sequence[ir.Value | int]) -> ir.Value:
    numbers = [index for index in at if isinstance(index, int)]
    found = _element(value, numbers) if len(numbers) == len(at) else None
    return upstream("tensor").ExtractOp(value, [as_index(index) for index in at]).result if found is None else found


def _sliced(op: ir.Operation, sizes: list[int], at: Sequence[int]) -> ir.Value:
    """An element of a slice, of the tensor that it is cut from."""
    dimensions = slice_dimensions(sizes, op.results[0].type.shape)
    place = [
        offset if dimension is None or not at[dimension] else index_sum(offset, constant_index(at[dimension]))
        for offset, dimension in zip(slice_offsets(op), dimensions, strict=True)
    ]
    return _element_or_load(op.operands[0], place)


def _assembled(op: ir.Operation, sizes: list[int], at: Sequence[int]) -> ir.Value | None:
    """An element of a tensor into which a slice was inserted: of that, or of the tensor before."""
    offsets = slice_offsets(op)
    inside = [index - offset for index, offset in zip(at, offsets, strict=True) if isinstance(offset, int)]
    if len(inside) < len(at):
        return None
    if not all(0 <= index < size for index, size in zip(inside, sizes, strict=True)):
        return _element(op.operands[1], at)
    dimensions = slice_dimensions(sizes, op.operands[0].type.shape)
    own = [index for index, dimension in zip(inside, dimensions, strict=True) if dimension is not None]
    return _element_or_load(op.operands[0], own)


def _computed(op: ir.Operation, at: Sequence[int]) -> ir.Value | None:
    """An element of what an element-wise op computes."""
    nest, block, out = loop_nest(op), op.regions[0].blocks[0], len(op.operands) - 1
    if nest is None or "library_call" in op.attributes or len(op.results) != 1 or not all(nest.parallel):
        return None
    loops = [[index.plain_loop for index in indices] for indices in nest.indices]
    if loops[out] != [*range(len(at))] or any(None in each for each in loops) or reads_operand(op, out):
        return None
    known: Known = {}
    for value, own, argument in zip(list(op.operands)[:out], loops, block.arguments, strict=False):
        is_tensor = isinstance(value.type, ir.ShapedType)
        known[argument] = (
            _element_or_load(value, [at[loop] for loop in own if loop is not None]) if is_tensor else value
        )
    *body, end = (inner.operation for inner in block.operations)
    for inner in body:
        if inner.name == "linalg.index":
            known[inner.results[0]] = constant_index(at[ir.IntegerAttr(inner.attributes["dim"]).value])
        else:
            clone_into(inner, known)
    return known.get(end.operands[0], end.operands[0])
