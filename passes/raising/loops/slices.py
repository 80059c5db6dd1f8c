"""Updates of slices in a loop, as loops over their elements."""

from dataclasses import dataclass

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loop_nest, reads_operand
from ipu_mlir.dialects.analysis.matchers import defining_op, has_one_use, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import as_index, constant_index, index_sum
from ipu_mlir.passes.support.rewriting import has_uses, replace_op
from ipu_mlir.passes.support.tensor_views import DYNAMIC, slice_dimensions, slice_offsets


@dataclass(frozen=True)
class _Piece:
    """Where the elements of a tensor are: ``base[offsets + position]``.

    Attributes:
        base: the tensor that is not a slice of another.
        offsets: per dimension of ``base``.
        dimensions: per dimension of ``base``, that of the piece, or None where the piece has none.
    """

    base: ir.Value
    offsets: tuple[ir.Value | int, ...]
    dimensions: tuple[int | None, ...]


def write_by_elements(insert: ir.Operation) -> bool:
    """Replace ``insert_slice(generic(slices), t)`` at a run-time place by loops that insert one element each.

    Answers whether it did: the source must be an element-wise op on slices with steps of 1. At a place that is known
    each iteration writes the same elements, and the insertion is one copy already. A loop that carries a state besides
    stays one, whose iterations update slices.
    """
    source, dest = insert.operands[0], insert.operands[1]
    op = defining_op(source, "linalg.generic")
    if op is None or not has_one_use(source) or _carries_a_state(insert.parent):
        return False
    nest = loop_nest(op)
    target = _piece(insert, dest, source.type)
    if nest is None or target is None or all(isinstance(each, int) for each in target.offsets):
        return False
    if not all(nest.parallel) or len(op.results) != 1 or nest.loads:
        return False
    pieces = [_piece_of(value) for value in op.operands]
    if not _is_safe(op, nest, pieces, target):
        return False
    with ir.InsertionPoint(insert), insert.location:
        result = _loop(op, nest, pieces, target, dest, [])
    replace_op(insert, [result])
    _erase_dead(op)
    return True


def _carries_a_state(loop: ir.Operation) -> bool:
    """True if ``loop`` carries a tensor that it does not fill, element by element or slice by slice."""
    yielded = terminator(loop.regions[0].blocks[0]).operands
    tensors = [value for value in yielded if isinstance(value.type, ir.RankedTensorType)]
    return any(
        defining_op(value, "tensor.insert_slice", "tensor.insert", "scf.for", "scf.if") is None for value in tensors
    )


def _erase_dead(op: ir.Operation) -> None:
    """Erase ``op``, which nobody uses, and the slices and empty tensors that nobody uses without it."""
    operands = list(op.operands)
    op.erase()
    made = [defining_op(value, "tensor.extract_slice", "tensor.empty") for value in dict.fromkeys(operands)]
    for owner in made:
        if owner is not None and not has_uses(owner):
            _erase_dead(owner)


def _is_safe(op: ir.Operation, nest: LoopNest, pieces: list[_Piece | None], target: _Piece) -> bool:
    """True if no element is read after another iteration has written it, and every element can be reached."""
    for number, (value, piece, indices) in enumerate(zip(op.operands, pieces, nest.indices, strict=True)):
        if not isinstance(value.type, ir.RankedTensorType) or not reads_operand(op, number):
            continue
        if piece is None or not all(index.linear for index in indices):
            return False
        same_place = piece.offsets == target.offsets and piece.dimensions == target.dimensions
        if piece.base == target.base and not (same_place and indices == nest.outputs[0]):
            return False
    return all(index.plain_loop is not None for index in nest.outputs[0])


def _loop(
    op: ir.Operation, nest: LoopNest, pieces: list[_Piece | None], target: _Piece, carried: ir.Value, at: list[ir.Value]
) -> ir.Value:
    """The loops from number ``len(at)`` on; gives what they leave of ``carried``."""
    if len(at) == len(nest.extents):
        return _element(op, nest, pieces, target, carried, at)
    bounds = [constant_index(value) for value in (0, nest.extents[len(at)], 1)]
    loop = upstream("scf").ForOp(*bounds, [carried])
    with ir.InsertionPoint(loop.body):
        inner = _loop(op, nest, pieces, target, loop.inner_iter_args[0], [*at, loop.induction_variable])
        upstream("scf").YieldOp([inner])
    return loop.results[0]


def _element(
    op: ir.Operation, nest: LoopNest, pieces: list[_Piece | None], target: _Piece, carried: ir.Value, at: list[ir.Value]
) -> ir.Value:
    """Compute one element and insert it into ``carried``."""
    tensor = upstream("tensor")
    block = op.regions[0].blocks[0]
    known: Known = {}
    for number, (value, argument) in enumerate(zip(op.operands, block.arguments, strict=True)):
        piece = pieces[number]
        if not isinstance(value.type, ir.RankedTensorType):
            known[argument] = value
        elif reads_operand(op, number):
            assert piece is not None, "checked before anything was changed"
            base = carried if piece.base == target.base else piece.base
            known[argument] = tensor.ExtractOp(base, _place(piece, nest.indices[number], at)).result
    *body, terminator = block.operations
    for inner in body:
        if inner.operation.name == "linalg.index":
            known[inner.operation.results[0]] = at[ir.IntegerAttr(inner.operation.attributes["dim"]).value]
        else:
            clone_into(inner.operation, known)
    yielded = terminator.operands[0]
    return tensor.InsertOp(known.get(yielded, yielded), carried, _place(target, nest.outputs[0], at)).result


def _place(piece: _Piece, indices: tuple[Index, ...], at: list[ir.Value]) -> list[ir.Value]:
    """The index into the base of a piece for one iteration."""
    return [
        index_sum(offset, None if dimension is None else _index(indices[dimension], at))
        for offset, dimension in zip(piece.offsets, piece.dimensions, strict=True)
    ]


def _index(index: Index, at: list[ir.Value]) -> ir.Value:
    arith = upstream("arith")
    total: ir.Value | int = index.constant
    for loop, coefficient in enumerate(index.coefficients):
        if coefficient:
            term = at[loop] if coefficient == 1 else arith.MulIOp(at[loop], as_index(coefficient)).result
            total = index_sum(total, term)
    return as_index(total)


def _piece_of(value: ir.Value) -> _Piece | None:
    """``value`` as a piece of the tensor that it is a slice of."""
    if not isinstance(value.type, ir.RankedTensorType):
        return None
    slice_ = defining_op(value, "tensor.extract_slice")
    if slice_ is None:
        rank = len(value.type.shape)
        return _Piece(value, (0,) * rank, tuple(range(rank)))
    return _piece(slice_, slice_.operands[0], value.type)


def _piece(op: ir.Operation, base: ir.Value, small: ir.Type) -> _Piece | None:
    """The slice that ``op`` speaks of; None for steps other than 1 or sizes that are not known."""
    sizes = list(op.attributes["static_sizes"])
    if any(step != 1 for step in op.attributes["static_strides"]) or DYNAMIC in sizes:
        return None
    return _Piece(base, tuple(slice_offsets(op)), tuple(slice_dimensions(sizes, small.shape)))
