"""``scf`` and ``func.call``: blocks of statements, and buffers for what they hand on.

A loop or a branch hands on values, not buffers: whatever is carried or yielded is copied into a buffer that belongs to
the loop or the branch. That is the same for every program in which an update in place is not seen under another name,
which bufferization guarantees. A call is replaced by what it calls.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.program.places import place_of
from ipu_mlir.runtime.translator.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.control import Block, Bound, Branch, ForLoop, WhileLoop, known_rounds
from ipu_mlir.runtime.translator.expression import Apply, Const, Expression, Read, reads
from ipu_mlir.runtime.translator.iota import INDEX
from ipu_mlir.runtime.translator.read_body import Unsupported
from ipu_mlir.runtime.translator.read_memref import BufferView, memref_parts
from ipu_mlir.runtime.translator.read_nest import whole
from ipu_mlir.runtime.translator.statements import Elementwise, Origin, Statement
from ipu_mlir.runtime.translator.types import dtype_of, is_bf16
from ipu_mlir.runtime.translator.walk import children, value_names

if TYPE_CHECKING:
    from ipu_mlir.runtime.translator.read import Reader

Value = BufferView | Expression
BOOL = np.dtype(np.bool_)


def read_for(reader: "Reader", op: ir.Operation) -> None:
    """``scf.for``: the carried values have a buffer each, which the body reads and every iteration replaces."""
    origin = _origin(op)
    operands = list(op.operands)
    unsigned = "unsignedCmp" in op.attributes
    bounds = [_bound(reader, reader.scalars[operand], origin, unsigned) for operand in operands[:3]]
    number, *arguments = list(op.regions[0].blocks[0].arguments)
    inits = [_value(reader, operand) for operand in operands[3:]]
    ops = children(op)
    same = [isinstance(v, BufferView) and n == a for v, n, a in zip(inits, ops[-1].operands, arguments, strict=True)]
    carried = [  # a buffer that is handed on as it is stays what it is: updates in place are seen under all its names
        init if stays else _own(reader, result.type, "carried")
        for init, stays, result in zip(inits, same, op.results, strict=True)
    ]
    _hand_over(reader, carried, inits, origin)
    count = Buffer("count", 1, dtype_of(number.type) or INDEX, Role.TEMPORARY, (), mutable=True, home=reader.path)
    known = known_rounds(*bounds)
    count.bounds = known if known and known[1] <= np.iinfo(count.dtype).max else None
    variable = Access(count, 0, ())
    inside = reader.new_block()
    with reader.block(inside) as body:
        reader.scalars[number] = Read(count.dtype, variable)
        _bind(reader, arguments, carried)
        yielded = _read_block(reader, ops)
        _hand_over(reader, carried, [_value(reader, value) for value in yielded], origin)
    loop = ForLoop((), origin, (inside,), bounds[0], bounds[1], bounds[2], variable, tuple(body), unsigned)
    reader.statements.append(loop)
    _bind(reader, op.results, carried)


def read_while(reader: "Reader", op: ir.Operation) -> None:
    """``scf.while``: what the first region hands to the second is read where it lies, and copied when the loop ends."""
    origin = _origin(op)
    first, second = (list(region.blocks[0].arguments) for region in op.regions)
    carried = [_own(reader, argument.type, "carried") for argument in first]
    _hand_over(reader, carried, [_value(reader, operand) for operand in op.operands], origin)
    results = [_own(reader, result.type, "result") for result in op.results]
    ids = tuple(reader.new_block() for _ in range(3))
    split = _after_first(op, "scf.condition")
    with reader.block(ids[0]) as before:
        _bind(reader, first, carried)
        condition, *forwarded = _read_block(reader, split[0])
        held = _held(reader, reader.scalars[condition], origin)
        handed = [_value(reader, value) for value in forwarded]
    with reader.block(ids[1]) as after:
        _bind(reader, second, handed)
        yielded = _read_block(reader, split[1])
        _hand_over(reader, carried, [_value(reader, value) for value in yielded], origin)
    with reader.block(ids[2]) as leaving:
        _hand_over(reader, results, handed, origin)
    reader.statements.append(WhileLoop((), origin, ids, held, tuple(before), tuple(after), tuple(leaving)))
    _bind(reader, op.results, results)


def read_if(reader: "Reader", op: ir.Operation) -> None:
    """``scf.if``: one of two blocks runs."""
    origin = _origin(op)
    results = [_own(reader, result.type, "result") for result in op.results]
    condition = _held(reader, reader.scalars[op.operands[0]], origin)
    blocks = [region_ops for region_ops in _regions(op) if region_ops is not None]
    blocks += [[]] * (2 - len(blocks))
    reader.statements.append(_branch(reader, condition, blocks, results, origin))
    _bind(reader, op.results, results)


def read_switch(reader: "Reader", op: ir.Operation) -> None:
    """``scf.index_switch``: a branch for each case, in the other arm of the one before."""
    origin = _origin(op)
    results = [_own(reader, result.type, "result") for result in op.results]
    default, *blocks = [region_ops or [] for region_ops in _regions(op)]
    cases = list(ir.DenseI64ArrayAttr(op.attributes["cases"]))
    selector = reader.scalars[op.operands[0]]

    def chosen(remaining: list[tuple[int, list[ir.Operation]]]) -> None:
        """Statements that run the block of the first case that fits."""
        if not remaining:
            _fill_block(reader, default, results, origin)
            return
        (case, ops), *others = remaining
        equal = Apply(BOOL, "equal", (selector, Const.of(case, INDEX)))
        condition = _held(reader, equal, origin)
        ids = reader.new_block(), reader.new_block()
        with reader.block(ids[0]) as yes:
            _fill_block(reader, ops, results, origin)
        with reader.block(ids[1]) as no:
            chosen(others)
        reader.statements.append(Branch((), origin, ids, condition, tuple(yes), tuple(no)))

    chosen(list(zip(cases, blocks, strict=True)))
    _bind(reader, op.results, results)


def read_call(reader: "Reader", op: ir.Operation) -> None:
    """``func.call``: the callee's ops, with the operands for its arguments."""
    name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    callee = reader.functions.get(name)
    if callee is None or not children(callee):
        raise Unsupported(f"@{name} has no body in this module")
    if name in reader.calls:
        raise Unsupported(f"@{name} calls itself; a machine without a stack has no recursion")
    _bind(reader, callee.regions[0].blocks[0].arguments, [_value(reader, operand) for operand in op.operands])
    names, reader.names = reader.names, value_names(callee)
    for _ in callee.regions[0].blocks[0].arguments:
        next(reader.names)
    reader.calls.append(name)
    try:
        returned = _read_block(reader, children(callee))
    finally:
        reader.calls.pop()
        reader.names = names
    _bind(reader, op.results, [_value(reader, value) for value in returned])


CONTROL_OPS: dict[str, Callable[["Reader", ir.Operation], None]] = {
    "scf.for": read_for,
    "scf.while": read_while,
    "scf.if": read_if,
    "scf.index_switch": read_switch,
    "func.call": read_call,
}

_TERMINATORS = ("scf.yield", "scf.condition", "func.return")


def _branch(
    reader: "Reader", condition: Access, arms: list[list[ir.Operation]], results: Sequence[Value], origin: Origin
) -> Branch:
    ids = reader.new_block(), reader.new_block()
    blocks: list[Block] = []
    for number, ops in zip(ids, arms, strict=True):
        with reader.block(number) as block:
            _fill_block(reader, ops, results, origin)
        blocks.append(tuple(block))
    return Branch((), origin, ids, condition, blocks[0], blocks[1])


def _fill_block(reader: "Reader", ops: list[ir.Operation], results: Sequence[Value], origin: Origin) -> None:
    yielded = _read_block(reader, ops)
    _hand_over(reader, results, [_value(reader, value) for value in yielded], origin)


def _read_block(reader: "Reader", ops: list[ir.Operation]) -> list[ir.Value]:
    """Read ``ops``; the operands of the terminator are what the block hands on."""
    for op in ops:
        if op.name in _TERMINATORS:
            for value in op.operands:
                if value in reader.unknown:
                    raise Unsupported("it needs an op inside that the runtime cannot run")
            return list(op.operands)
        reader.read(op)
    return []


def _regions(op: ir.Operation) -> list[list[ir.Operation] | None]:
    """The ops of each region; None for a region without blocks."""
    ops, found = children(op), []
    for region in op.regions:
        if len(region.blocks) == 0:
            found.append(None)
            continue
        end = 1 + next(i for i, inner in enumerate(ops) if inner.name == "scf.yield")
        found.append(ops[:end])
        ops = ops[end:]
    return found


def _after_first(op: ir.Operation, terminator: str) -> tuple[list[ir.Operation], list[ir.Operation]]:
    ops = children(op)
    end = 1 + next(i for i, inner in enumerate(ops) if inner.name == terminator)
    return ops[:end], ops[end:]


def _origin(op: ir.Operation) -> Origin:
    return Origin(op.name, place_of(op.location))


def _value(reader: "Reader", value: ir.Value) -> Value:
    return reader.views[value] if value in reader.views else reader.scalars[value]


def _bind(reader: "Reader", names: Sequence[ir.Value], values: Sequence[Value]) -> None:
    for name, value in zip(names, values, strict=True):
        if isinstance(value, BufferView):
            reader.views[name] = value
        else:
            reader.scalars[name] = value


def _own(reader: "Reader", mlir_type: ir.Type, name: str) -> Value:
    """A buffer for values of ``mlir_type`` that are handed over; ``mutable``, as several copies write it."""
    if isinstance(mlir_type, ir.MemRefType):
        parts = memref_parts(mlir_type)
        reach = 1 + parts.offset + sum((n - 1) * s for n, s in zip(parts.shape, parts.strides, strict=True))
        elements = reach if parts.elements else 0
        buffer = Buffer(name, elements, parts.dtype, Role.TEMPORARY, parts.shape, mutable=True, home=reader.path)
        buffer.is_bf16 = is_bf16(mlir_type)
        return BufferView(buffer, parts.shape, parts.strides, parts.offset)
    dtype = dtype_of(mlir_type)
    if dtype is None:
        raise Unsupported(f"values of type {mlir_type} are not supported")
    buffer = Buffer(name, 1, dtype, Role.TEMPORARY, (), mutable=True, home=reader.path)
    return Read(dtype, Access(buffer, 0, ()))


def _hand_over(reader: "Reader", targets: Sequence[Value], values: Sequence[Value], origin: Origin) -> None:
    """Copy all ``values`` into ``targets`` at once: a value that lies in one of the targets is set aside first."""
    owned = {_buffers(target)[0] for target in targets}
    pairs = [(target, value) for target, value in zip(targets, values, strict=True) if not _same(target, value)]
    late: list[tuple[Value, Value]] = []
    for target, value in pairs:
        if len(pairs) > 1 and owned.intersection(_buffers(value)):
            aside = _aside(reader, value)
            reader.statements.append(_copy(aside, value, origin))
            value = aside
        late.append((target, value))
    reader.statements.extend(_copy(target, value, origin) for target, value in late)


def _same(target: Value, value: Value) -> bool:
    if isinstance(target, Read) and isinstance(value, Read):
        return target.access == value.access
    return target == value


def _buffers(value: Value) -> list[Buffer]:
    if isinstance(value, BufferView):
        return [value.buffer]
    return [access.buffer for access in reads([value])]


def _aside(reader: "Reader", value: Value) -> Value:
    if isinstance(value, BufferView):
        strides, stride = [], 1
        for extent in reversed(value.shape):
            strides.append(stride)
            stride *= extent
        dtype = value.buffer.dtype
        buffer = Buffer("aside", stride, dtype, Role.TEMPORARY, value.shape, home=reader.path)
        return BufferView(buffer, value.shape, tuple(reversed(strides)), 0)
    buffer = Buffer("aside", 1, value.dtype, Role.TEMPORARY, (), home=reader.path)
    return Read(value.dtype, Access(buffer, 0, ()))


def _copy(target: Value, value: Value, origin: Origin) -> Statement:
    if isinstance(target, BufferView):
        assert isinstance(value, BufferView), "a buffer is handed over to a buffer"
        return Elementwise(value.shape, origin, (whole(target),), (Read(value.buffer.dtype, whole(value)),))
    assert isinstance(target, Read) and isinstance(value, Expression), "a scalar is handed over to a scalar"
    return Elementwise((), origin, (target.access,), (value,))


def _held(reader: "Reader", value: Expression, origin: Origin) -> Access:
    """``value`` in memory."""
    if isinstance(value, Read) and not value.access.buffer.mutable and value.access.buffer.elements == 1:
        return value.access
    held = Access(Buffer("scalar", 1, value.dtype, Role.TEMPORARY, (), home=reader.path), 0, ())
    reader.statements.append(Elementwise((), origin, (held,), (value,)))
    return held


def _bound(reader: "Reader", value: Expression, origin: Origin, unsigned: bool) -> Bound:
    if isinstance(value, Const):
        return int(value.value) % 2 ** (8 * value.dtype.itemsize) if unsigned else int(value.value)
    return _held(reader, value, origin)
