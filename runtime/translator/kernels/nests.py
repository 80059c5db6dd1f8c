"""Loop nests: statements without control flow, one after the other or several in one nest."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd, prod

from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.points import Cut, Points
from ipu_mlir.runtime.translator.kernels.scalar.code import BOOL, LANES, NoKernel, Value
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, row_major
from ipu_mlir.runtime.translator.statements.expression import Expression, Gather, Read, moving_accesses, postorder
from ipu_mlir.runtime.translator.statements.statements import Elementwise
from ipu_mlir.runtime.translator.statements.transform import with_reads

_FEWEST_LANES = 4  # points from which a vector with a mask beats single numbers
_FAR = 17  # elements from one lane to the next, from which each is in a line of its own
_TILE = 64  # points of a loop along which lines are read that wait in the cache
_STAGED_BYTES = 16384  # of the stack, for values that may not be written before all of them are known

Store = tuple[Access, Expression]


@dataclass(frozen=True)
class Nest:
    """Element-wise work over ``extents``: ``groups`` of stores in order, where later ones read what earlier ones wrote.

    ``cut`` is the loop of which a part is done at a time, ``size`` of its points per unit. ``elided`` are buffers that
    nobody reads from memory. ``begin`` is added to the place of what is written, as an i64.
    """

    extents: tuple[int, ...]
    groups: tuple[tuple[Store, ...], ...]
    cut: int | None = None
    size: int = 1
    elided: frozenset[Buffer] = frozenset()
    begin: str | None = None

    @property
    def stores(self) -> list[Store]:
        return [store for group in self.groups for store in group]


def ordered(statement: Elementwise, cut: int | None = None, units: int = 1) -> Nest:
    """``statement`` with its loops in the order of the first result's memory, those of one point left out."""
    out, extents = statement.outputs[0], statement.extents
    loops = [n for n in range(len(extents)) if extents[n] > 1 or n == cut]
    order = sorted(loops, key=lambda n: (-out.strides[n], n != cut, n))

    stores = tuple(zip(statement.outputs, statement.values, strict=True))
    size = 1 if cut is None else extents[cut] // units
    return turned(Nest(extents, (stores,), cut, size), order)


def joined(a: Nest, b: Nest, place: Callable[[Buffer], Buffer]) -> Nest | None:
    """One nest that does ``a`` and then ``b`` at every point; None if a point of ``b`` needs others of ``a``."""
    if (a.extents, a.cut, a.size) != (b.extents, b.cut, b.size):
        return None
    before, after = _touched(a, place), _touched(b, place)
    for at, places in after.items():
        writes = any(is_written for _, is_written in places)
        other = before.get(at, set())
        if (writes or any(is_written for _, is_written in other)) and not _are_apart(places | other, a.extents):
            return None
    return replace(a, groups=(*a.groups, *b.groups))


def _touched(nest: Nest, place: Callable[[Buffer], Buffer]) -> dict[Buffer, set[tuple[object, bool]]]:
    """Where each place is read and written: the same at each point, or somewhere."""
    found: dict[Buffer, set[tuple[object, bool]]] = {}
    for node in postorder([value for _, value in nest.stores]):
        if isinstance(node, Read):
            where: object = (node.access.offset, node.access.strides, node.access.buffer.dtype.itemsize)
        elif isinstance(node, Gather):
            where = object()
        else:
            continue
        found.setdefault(place(node.access.buffer), set()).add((where, False))
    for access, _ in nest.stores:
        where = (access.offset, access.strides, access.buffer.dtype.itemsize) if nest.begin is None else object()
        found.setdefault(place(access.buffer), set()).add((where, True))
    return found


def _are_apart(touched: set[tuple[object, bool]], extents: tuple[int, ...]) -> bool:
    """True if what is written at a point is read or written at no other one, as another part of the same array."""

    def is_apart(one: object, other: object) -> bool:
        if one == other or not isinstance(one, tuple) or not isinstance(other, tuple):
            return one == other
        (begin, strides, size), (other_begin, other_strides, other_size) = one, other
        moduli = {gcd(*strides, *other_strides), *map(abs, (*strides, *other_strides))} - {0, 1}
        places = [
            (_residues(begin, strides, extents, modulus), _residues(other_begin, other_strides, extents, modulus))
            for modulus in moduli
        ]
        return size == other_size and any(map(_are_distinct, places, moduli))

    written = [where for where, is_written in touched if is_written]
    return all(is_apart(one, other) for one in written for other, _ in touched)


def _residues(begin: int, strides: tuple[int, ...], extents: tuple[int, ...], modulus: int) -> range:
    """Numbers that have, with others, the remainders of all places by ``modulus``.

    >>> _residues(135, (132, -1), (10, 2), 132)
    range(134, 136)
    """
    steps = [(n - 1) * stride for n, stride in zip(extents, strides, strict=True) if stride % modulus]
    return range(begin + sum(min(each, 0) for each in steps), begin + sum(max(each, 0) for each in steps) + 1)


def _are_distinct(places: tuple[range, range], modulus: int) -> bool:
    one, other = places
    return (other.start - one.start) % modulus >= len(one) and (one.start - other.start) % modulus >= len(other)


def reads_elsewhere(nest: Nest, place: Callable[[Buffer], Buffer]) -> bool:
    """True if a point of ``nest`` reads what another one writes: all are computed before any is written."""
    if prod(nest.extents) == 1:
        return False
    for touched in _touched(nest, place).values():
        if not all(is_written for _, is_written in touched) and not _are_apart(touched, nest.extents):
            return True
    return False


def write_nest(function: Function, nest: Nest, part: Cut | None = None) -> None:
    """Append the loops of ``nest``; ``part`` says which part of them."""
    if 0 in nest.extents:
        return
    if reads_elsewhere(nest, function.place):
        if part is not None:
            raise NoKernel("a point reads what another one writes")
        _write_staged(function, nest)
        return
    across = reads_across(nest)
    if across is not None:
        order = [*(n for n in range(len(nest.extents)) if n not in across), *across]
        nest, part = turned(nest, order), part and replace(part, loop=order.index(part.loop))
    accesses = [access for out, value in nest.stores for access in (out, *moving_accesses([value]))]
    points = Points.over(function, nest.extents, accesses, cut=part)
    points.begin = nest.begin
    last = len(points.axes) - 1
    if last >= 0 and points.known_count(last) >= _FEWEST_LANES:
        pairs = _pairs(points, [out for out, _ in nest.stores], last)
        paired = {*pairs, *pairs.values()}
        side_by_side = all(points.stride(out, last) == 1 or out in paired for out, _ in nest.stores)
        points.vector_axis = last if side_by_side else None
    is_tiled = across is not None and points.vector_axis == last and last > 0
    _write_levels(Body(points, nest), 0, {}, last - 1 if is_tiled else None)


def reads_across(nest: Nest) -> tuple[int, int] | None:
    """The loop along which something is read side by side, and the innermost, along which it is far apart."""
    last = len(nest.extents) - 1
    for access in moving_accesses([value for _, value in nest.stores]):
        for loop, stride in enumerate(access.strides[:last]):
            is_across = abs(stride) == 1 and abs(access.strides[last]) >= _FAR
            if is_across and min(nest.extents[loop], nest.extents[last]) >= LANES:
                return loop, last
    return None


def _pairs(points: Points, outs: Sequence[Access], axis: int) -> dict[Access, Access]:
    """Of those that write every other element along ``axis``, as real parts, the one that writes what is between."""
    found: dict[Access, Access] = {}
    places = {(points.function.place(out.buffer), out.buffer.dtype, out.strides, out.offset): out for out in outs}
    for (place, dtype, strides, offset), out in sorted(places.items(), key=lambda each: each[1].offset):
        other = places.get((place, dtype, strides, offset + 1))
        if other is not None and dtype.itemsize >= 4 and points.step(out, axis) == 2 and out not in found.values():
            found[out] = other
    return found


def _write_staged(function: Function, nest: Nest) -> None:
    """Compute all values, then store them; what a group before has computed is read from where it is held."""
    points, strides = prod(nest.extents), row_major(nest.extents)
    groups, copies, held_at = [], [], dict[tuple[Buffer, int, tuple[int, ...]], Access]()

    def change(access: Access) -> Access:
        held = held_at.get((function.place(access.buffer), access.offset, access.strides), access)
        if held.buffer.dtype != access.buffer.dtype:
            raise NoKernel("what is held is read as another type")
        return held

    for group in nest.groups:
        stages = []
        for (out, _), value in zip(group, with_reads(tuple(value for _, value in group), change), strict=True):
            held = Buffer(f"{out.buffer.name}_staged", points, value.dtype, out.buffer.role, nest.extents)
            if points * value.dtype.itemsize > _STAGED_BYTES:
                raise NoKernel("too much would have to be held before it is written")
            function.hold(held, points * value.dtype.itemsize)
            stages.append((Access(held, 0, strides), value))
            copies.append((out, Read(value.dtype, Access(held, 0, strides))))
        groups.append(tuple(stages))
        held_at |= {
            (function.place(out.buffer), out.offset, out.strides): at
            for (out, _), (at, _) in zip(group, stages, strict=True)
        }
    write_nest(function, replace(nest, groups=tuple(groups), begin=None))
    write_nest(function, replace(nest, groups=(tuple(copies),)))


@dataclass
class Body:
    """The values of a nest at the points of loops, each as soon as all axes are known along which it changes.

    ``wanted`` are known at each point as well, as they are after all stores.
    """

    points: Points
    nest: Nest
    wanted: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        self.nodes = postorder([*(value for _, value in self.nest.stores), *self.wanted])
        self.depths: dict[int, int] = {}
        function = self.points.function
        written = {function.place(out.buffer) for out, _ in self.nest.stores}
        deepest = len(self.points.axes)
        for node in self.nodes:
            depth = self.points.depth(node, self.depths)
            if isinstance(node, Read | Gather) and function.place(node.access.buffer) in written:
                depth = deepest
            self.depths[id(node)] = depth

    def known(self, depth: int, values: dict[int, Value]) -> dict[int, Value]:
        """``values``, and what is computed as soon as ``depth`` axes are known; at all axes, the stores too."""
        values = dict(values)
        if depth == len(self.points.axes):
            self._innermost(values)
            return values
        for node in self.nodes:
            if self.depths[id(node)] == depth:
                values[id(node)] = self.points.value(node, values)
        return values

    def _innermost(self, values: dict[int, Value]) -> None:
        """The stores in order, each before what reads it from where it was written."""
        points = self.points
        forwarded: dict[tuple[object, int, tuple[int, ...]], Value] = {}
        place = points.function.place
        ready: dict[tuple[object, int, tuple[int, ...]], tuple[Access, Value]] = {}
        for group in (*self.nest.groups, tuple((None, root) for root in self.wanted)):
            for node in postorder([root for _, root in group]):
                if id(node) in values:
                    continue
                held = None
                if isinstance(node, Read):
                    held = forwarded.get((place(node.access.buffer), node.access.offset, node.access.strides))
                values[id(node)] = (
                    points.value(node, values) if held is None else points.function.ops.bits(held, node.dtype)
                )
            for out, root in group:
                if out is not None:
                    at = place(out.buffer), out.offset, out.strides
                    forwarded[at] = values[id(root)]
                    ready[at] = out, values[id(root)]  # what is written over is not written
        values_of = {out: value for out, value in ready.values() if out.buffer not in self.nest.elided}
        axis = points.vector_axis
        pairs = {} if axis is None else _pairs(points, list(values_of), axis)
        for out, value in values_of.items():
            if out not in pairs.values():
                points.store(out, value, values_of[pairs[out]] if out in pairs else None)


def _write_levels(body: Body, depth: int, known: dict[int, Value], tiled: int | None = None) -> None:
    """What is computed at ``depth`` axes, and the loops inside; from axis ``tiled`` on, tile by tile."""
    points, function = body.points, body.points.function
    values = body.known(depth, known)
    if depth == len(points.axes):
        return
    if depth == tiled:
        _write_tiles(body, depth, values)
    elif depth != points.vector_axis:
        with function.loop(points.count(depth)) as number:
            points.at[depth] = number
            _write_levels(body, depth + 1, values, tiled)
    else:
        for number, mask in vectors(function, points.count(depth)):
            points.at[depth], points.mask = number, mask
            _write_levels(body, depth + 1, values)
    points.at.pop(depth, None)
    points.mask = None


def _write_tiles(body: Body, depth: int, values: dict[int, Value]) -> None:
    """The last two axes by tiles: what lies side by side along the first of them is in the cache for a whole tile.

    Squares of as many rows as lanes are read along the rows, and turned in registers.
    """
    points, function = body.points, body.points.function
    code, count = function.code, points.count(depth)

    def write_row(row: str, values: dict[int, Value]) -> None:
        points.at[depth] = row
        body.known(depth + 2, body.known(depth + 1, values))

    with function.loop(count, _TILE) as start:
        after = code.value(f"arith.addi {start}, {code.index(_TILE)} : i64")
        count = code.index(count) if isinstance(count, int) else count
        end = code.value(f"arith.minsi {after}, {count} : i64")
        for number, mask in vectors(function, points.count(depth + 1)):
            points.at[depth + 1], points.mask = number, mask
            begin, across = start, [] if mask else _reads_across_rows(body, depth)
            if across:
                rest = code.value(f"arith.andi {end}, {code.index(LANES - 1)} : i64")
                begin = code.value(f"arith.subi {end}, {rest} : i64")
                with function.loop(begin, LANES, start) as first:
                    squares = {id(node): _turned_square(points, node, depth, first) for node in across}
                    with function.loop(LANES) as lane:
                        place = function.times(lane, LANES) or lane
                        read = {id(node): function.load(squares[id(node)], place, node.dtype, LANES) for node in across}
                        write_row(function.plus(first, lane) or first, values | read)
            with function.loop(end, 1, begin) as row:
                write_row(row, values)
    points.at.pop(depth + 1)


def _reads_across_rows(body: Body, depth: int) -> list[Read]:
    """What is read side by side along axis ``depth``, and apart along the next one, the vectors'."""
    points, place = body.points, body.points.function.place
    written = {place(out.buffer) for out, _ in body.nest.stores}
    return [
        node
        for node in body.nodes
        if isinstance(node, Read) and node.dtype != BOOL and place(node.access.buffer) not in written
        if abs(points.step(node.access, depth)) == 1 and abs(points.step(node.access, depth + 1)) > 1
    ]


def _turned_square(points: Points, node: Read, depth: int, first: str) -> str:
    """The address of what ``node`` reads in rows from ``first`` on of axis ``depth``, as many as a vector has lanes."""
    function, is_backwards = points.function, points.step(node.access, depth) < 0
    code, pointer, step = function.code, function.pointer(node.access.buffer), points.step(node.access, depth + 1)
    points.at[depth] = (function.plus(first, code.index(LANES - 1)) if is_backwards else first) or first
    begin = points.place(node.access)
    places = [function.plus(begin, code.index(lane * step)) or code.index(0) for lane in range(LANES)]
    rows = function.ops.turned([function.load(pointer, place, node.dtype, LANES) for place in places])
    square = code.alloca(LANES * LANES * node.dtype.itemsize)
    for number, row in enumerate(reversed(rows) if is_backwards else rows):
        function.store(square, code.index(number * LANES), row)
    return square


def turned(nest: Nest, order: Sequence[int]) -> Nest:
    """``nest`` with its loops in another ``order``."""

    def change(access: Access) -> Access:
        return replace(access, strides=tuple(access.strides[n] for n in order))

    values = iter(with_reads(tuple(value for _, value in nest.stores), change))
    groups = tuple(tuple((change(out), next(values)) for out, _ in group) for group in nest.groups)
    cut = None if nest.cut is None else list(order).index(nest.cut)
    return replace(nest, extents=tuple(nest.extents[n] for n in order), groups=groups, cut=cut)


def vectors(function: Function, count: int | str, start: int | str = 0) -> Iterator[tuple[str, Value | None]]:
    """The first lane of each vector of ``count`` points, and which lanes have one; what is written goes inside.

    First come all that are full, in a loop, then the rest. ``start`` are whole vectors that are done elsewhere.
    """
    code = function.code
    if isinstance(count, int) and isinstance(start, int):
        full = count // LANES * LANES
        if full > start:
            with function.loop(full, LANES, start) as number:
                yield number, None
        if count > full:
            yield code.index(full), function.lanes_below(code.index(count - full))
        return
    rest = code.value(f"arith.andi {count}, {code.index(LANES - 1)} : i64")
    full_count = code.value(f"arith.subi {count}, {rest} : i64")
    with function.loop(full_count, LANES, start) as number:
        yield number, None
    some = code.value(f"arith.cmpi ne, {rest}, {code.index(0)} : i64")
    with function.branch(some):
        yield full_count, function.lanes_below(rest)
