"""Structured linalg ops as loop nests: extents, one access per operand, one scalar value per output."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.loop_nest import indexing_maps
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.translator.importing.indexing_maps import FloorDiv, LinearForm, NotLinear, linear_forms
from ipu_mlir.runtime.translator.importing.read_body import Unsupported
from ipu_mlir.runtime.translator.importing.read_memref import BufferView
from ipu_mlir.runtime.translator.importing.read_region import BodyValues, RegionReader
from ipu_mlir.runtime.translator.importing.walk import children
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.expression import Accumulator, Expression, Read
from ipu_mlir.runtime.translator.statements.intervals import Ranges
from ipu_mlir.runtime.translator.statements.iota import INDEX, numbers


@dataclass(frozen=True)
class Nest:
    """A structured op with its maps applied: outputs are updated with ``values`` at every point of the loops."""

    extents: tuple[int, ...]
    reduced: tuple[bool, ...]
    outputs: tuple[Access, ...]
    values: tuple[Expression, ...]
    checks: tuple[tuple[Expression, str], ...] = ()


@dataclass(frozen=True)
class _Box:
    """Part of an op's iteration space, with loops of its own that add up to the op's loops."""

    extents: tuple[int, ...]
    loop_of: tuple[int, ...]  # the op's loop that a new loop belongs to
    weight_of: tuple[int, ...]  # how far one step of a new loop moves in the op's loop
    starts: tuple[int, ...]  # one per loop of the op


def nests_of(
    op: ir.Operation, views: Mapping[ir.Value, BufferView], scalars: Mapping[ir.Value, Expression]
) -> Iterator[Nest]:
    """The loop nests of a linalg op; several only where a ``floordiv`` does not divide its loop evenly.

    Raises:
        Unsupported: maps, types or body ops that the runtime does not know.
    """
    operands, outs = _operands(op, views, scalars)
    forms = _forms(op, operands)
    extents = _extents(forms, operands, views)
    _require_one_loop_each(forms[len(operands) - outs :], extents)
    out_forms = [f for form in forms[len(operands) - outs :] for f in form]
    parallel = {loop for f in out_forms for loop, c in enumerate(f.coefficients) if c}
    for box in _boxes(extents, [d for form in forms for f in form for d in f.divisions]):
        accesses = [
            _access(views[value], form, box) if value in views else None
            for value, form in zip(operands, forms, strict=True)
        ]
        box_reduced = tuple(
            loop not in parallel and not _moves_block(loop, weight, out_forms)
            for loop, weight in zip(box.loop_of, box.weight_of, strict=True)
        )
        index = [_index(loop, box, extents) for loop in range(len(extents))]
        reader = RegionReader(BodyValues(scalars, len(box.extents)), views, index, Ranges(box.extents))
        values = _body(op, operands, accesses, outs, any(box_reduced), reader)
        outputs = tuple(access for access in accesses[len(accesses) - outs :] if access is not None)
        yield Nest(box.extents, box_reduced, outputs, values, tuple(reader.checks))


def _operands(op: ir.Operation, views: Mapping, scalars: Mapping) -> tuple[list[ir.Value], int]:
    """All operands in order, and how many of the last are outputs."""
    operands = list(op.operands)
    if "operandSegmentSizes" in op.attributes:
        outs = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[1]
    else:
        outs = 1  # map, reduce, transpose, broadcast: the inits come last
        if op.name == "linalg.reduce":
            outs = len(operands) // 2
    for value in operands:
        if value not in views and value not in scalars:
            raise Unsupported(f"an operand of type {value.type} is neither a buffer nor a scalar")
    return operands, outs


def _forms(op: ir.Operation, operands: list[ir.Value]) -> list[tuple[LinearForm, ...]]:
    maps = indexing_maps(op)
    if maps is None or len(maps) != len(operands):
        raise Unsupported("it has no indexing maps")
    try:
        return [linear_forms(m) for m in maps]
    except NotLinear as error:
        raise Unsupported(str(error)) from error


def _require_one_loop_each(outputs: list[tuple[LinearForm, ...]], extents: tuple[int, ...]) -> None:
    """NumPy updates an element once per call, and all outputs at the same points."""
    named = []
    for form in outputs:
        loops = [
            {loop for loop, c in enumerate(f.coefficients) if c and extents[loop] > 1} | {d.loop for d in f.divisions}
            for f in form
        ]
        if any(len(each) > 1 for each in loops):
            raise Unsupported("an index of a result is not one loop; run ipu-normalize-indices while it is on tensors")
        named.append({loop for each in loops for loop in each if extents[loop] > 1})
    if any(loops != named[0] for loops in named):
        raise Unsupported("its results lie over different loops; run ipu-normalize-indices while it is on tensors")


def _moves_block(loop: int, weight: int, forms: list[LinearForm]) -> bool:
    """True if a step of ``weight`` in ``loop`` leads to another block of a ``floordiv``."""
    return any(d.loop == loop and weight >= d.divisor for f in forms for d in f.divisions)


def _extents(forms: list[tuple[LinearForm, ...]], operands: list[ir.Value], views: Mapping) -> tuple[int, ...]:
    count = next((len(f.coefficients) for form in forms for f in form), 0)
    extents: dict[int, int] = {}
    for value, form in zip(operands, forms, strict=True):
        if value in views:
            for size, f in zip(views[value].shape, form, strict=True):
                dim = f.plain_dim()
                if dim is not None:
                    extents[dim] = size
    if len(extents) != count:
        raise Unsupported("the extent of a loop does not follow from any operand")
    return tuple(extents[loop] for loop in range(count))


def _boxes(extents: tuple[int, ...], divisions: list[FloorDiv]) -> Iterator[_Box]:
    """The iteration space in boxes on which every ``floordiv`` is linear: full blocks, then a ragged rest."""
    divisors: dict[int, int] = {}
    for d in divisions:
        if divisors.setdefault(d.loop, d.divisor) != d.divisor:
            raise Unsupported(f"loop {d.loop} is divided by both {divisors[d.loop]} and {d.divisor}")
    boxes = [_Box((), (), (), ())]
    for loop, extent in enumerate(extents):
        block = divisors.get(loop)
        pieces: list[tuple[int, list[tuple[int, int]]]] = [(0, [(extent, 1)])]
        if block is not None:
            blocks, rest = divmod(extent, block)
            pieces = [(0, [(blocks, block), (block, 1)])] if blocks else []
            if rest:
                pieces.append((blocks * block, [(rest, 1)]))
        boxes = [_extended(box, loop, start, parts) for box in boxes for start, parts in pieces]
    yield from boxes


def _extended(box: _Box, loop: int, start: int, parts: list[tuple[int, int]]) -> _Box:
    return _Box(
        box.extents + tuple(extent for extent, _ in parts),
        box.loop_of + (loop,) * len(parts),
        box.weight_of + tuple(weight for _, weight in parts),
        (*box.starts, start),
    )


def _access(view: BufferView, form: tuple[LinearForm, ...], box: _Box) -> Access:
    offset, strides = view.offset, [0] * len(box.extents)
    for f, stride in zip(form, view.strides, strict=True):
        offset += stride * f.constant
        for loop, coefficient in enumerate(f.coefficients):
            offset += stride * coefficient * box.starts[loop]
        for d in f.divisions:
            offset += stride * d.factor * (box.starts[d.loop] // d.divisor)
        for new, (loop, weight) in enumerate(zip(box.loop_of, box.weight_of, strict=True)):
            strides[new] += stride * f.coefficients[loop] * weight
            strides[new] += sum(stride * d.factor * (weight // d.divisor) for d in f.divisions if d.loop == loop)
    return Access(view.buffer, offset, tuple(strides))


def _body(
    op: ir.Operation,
    operands: list[ir.Value],
    accesses: list[Access | None],
    outs: int,
    reducing: bool,
    reader: RegionReader,
) -> tuple[Expression, ...]:
    """The values that the body yields, its block arguments standing for the operands' elements."""
    first_out = len(operands) - outs
    for position, argument in enumerate(op.regions[0].blocks[0].arguments):
        value, access = operands[position], accesses[position]
        if access is None:
            reader.values[argument] = reader.values[value]
        elif position >= first_out and reducing:
            reader.values[argument] = Accumulator(access.buffer.dtype, position - first_out)
        else:
            reader.values[argument] = Read(access.buffer.dtype, access)
    return reader.yielded(children(op))


def _index(loop: int, box: _Box, extents: tuple[int, ...]) -> Read:
    """``linalg.index``: a read of the numbers 0, 1, 2, ... along the loop."""
    strides = tuple(weight if of == loop else 0 for of, weight in zip(box.loop_of, box.weight_of, strict=True))
    return Read(INDEX, Access(numbers(extents[loop]), box.starts[loop], strides))
