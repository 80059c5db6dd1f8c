"""The bytes of its operands that a kernel may read and those that it writes, as the statements say that it computes.

Nothing here looks at how a kernel is written: a kernel that touches anything else is wrong.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from ipu_mlir.runtime.translator.statements.access import Access, Buffer
from ipu_mlir.runtime.translator.statements.control import Control, ForLoop, read_by
from ipu_mlir.runtime.translator.statements.expression import gathers
from ipu_mlir.runtime.translator.statements.statements import (
    LibraryCall,
    Scan,
    SliceUpdate,
    Statement,
    expressions_of,
)

Extents = tuple[int, ...]


@dataclass(frozen=True)
class Box:
    """Elements that a statement touches; offset, strides and ``itemsize`` in bytes.

    Of axis ``cut`` a block has ``per_unit`` points for each of its units. ``is_scratch`` holds where the memory has the
    units of one block only.
    """

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    cut: int | None = None
    per_unit: int = 1
    is_scratch: bool = False

    def mark(self, marked: np.ndarray, grain: int, lo: int, hi: int) -> None:
        """Set what units ``lo`` to ``hi`` have in ``marked``, one truth value for each ``grain`` bytes."""
        shape, offset = list(self.shape), self.offset
        if self.cut is not None:
            shape[self.cut] = (hi - lo) * self.per_unit
            offset += 0 if self.is_scratch else lo * self.per_unit * self.strides[self.cut]
        end = offset + self.itemsize + sum((n - 1) * s for n, s in zip(shape, self.strides, strict=True) if s > 0)
        if 0 in shape or end > marked.size * grain:  # of a buffer that stays in registers and needs no memory
            return
        strides = tuple(stride // grain for stride in self.strides)
        np.ndarray((*shape, self.itemsize // grain), np.bool_, marked, offset // grain, (*strides, 1))[...] = True


@dataclass(frozen=True)
class Touch:
    """A use of an operand: a write that ``is_certain`` leaves nothing of the elements that were there."""

    box: Box
    is_write: bool
    is_certain: bool = True


@dataclass(frozen=True)
class Operand:
    """The uses of one operand, in order; without any, it is memory for the kernel's own work.

    Attributes:
        grain: bytes, of which each use has a multiple.
        whole_bytes: bytes of the largest buffer that is in this memory, also where only a block of it is.
    """

    touches: tuple[Touch, ...]
    grain: int
    whole_bytes: int

    def marks(self, size: int, lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
        """The parts of ``size`` grains that units ``lo`` to ``hi`` find something in, and those that they write."""
        readable, certain, written = (np.zeros(size, np.bool_) for _ in range(3))
        for touch in self.touches:
            if touch.is_write:
                touch.box.mark(written, self.grain, lo, hi)
                if touch.is_certain:
                    touch.box.mark(certain, self.grain, lo, hi)
            else:
                here = np.zeros(size, np.bool_)
                touch.box.mark(here, self.grain, lo, hi)
                readable |= here & ~certain
        return readable, written


Declared = tuple[Operand, ...]
"""The operands of a kernel, in the order of its arrays."""


@dataclass(frozen=True)
class Blocks:
    """The units that a kernel is called for: ``size`` of ``units`` at a time, along ``loops`` of the statements.

    ``scratch`` are the places that have the units of one block only.
    """

    units: int
    size: int
    loops: Mapping[int, int]
    scratch: Set[Buffer]


def declared(
    parameters: Mapping[Buffer, Buffer],
    places: Mapping[Buffer, Buffer],
    statements: Sequence[Statement],
    blocks: Blocks | None = None,
) -> Declared:
    """The uses that ``statements`` make of ``parameters``: places, with their largest buffers."""
    is_certain = not any(isinstance(each, Control) for each in statements)
    touches: dict[Buffer, list[Touch]] = {place: [] for place in parameters}
    sizes = {place: [buffer.elements * buffer.dtype.itemsize] for place, buffer in parameters.items()}
    for statement in statements:
        for access, extents, is_write in _uses(statement):
            place = places.get(access.buffer, access.buffer)
            if place in touches:
                box = _box(access, extents, statement, place, blocks)
                touches[place].append(Touch(box, is_write, is_certain and not isinstance(statement, LibraryCall)))
                sizes[place].append(access.buffer.elements * access.buffer.dtype.itemsize)
    return tuple(
        Operand(
            tuple(dict.fromkeys(touches[place])),
            min([buffer.dtype.itemsize, *(touch.box.itemsize for touch in touches[place])]),
            max(sizes[place]),
        )
        for place, buffer in parameters.items()
    )


def _uses(statement: Statement) -> Iterator[tuple[Access, Extents | None, bool]]:
    """The accesses of ``statement`` itself, those that write last: its extents there, None for anywhere in the buffer,
    and True where it writes."""
    extents = None if isinstance(statement, LibraryCall | Control) else statement.extents
    moved = {gather.access for gather in gathers(expressions_of(statement))}
    for access in {*read_by(statement), *moved}:
        is_slice = isinstance(statement, SliceUpdate) and access != statement.old
        yield access, None if access in moved else statement.box() if is_slice else extents, False
    written = [] if isinstance(statement, Control) else statement.dests()
    for access in written if isinstance(statement, Scan) else []:
        yield access, extents, False
    for access in written:
        yield access, extents, True
    if isinstance(statement, ForLoop) and statement.variable is not None:
        yield statement.variable, None, True


def _box(access: Access, extents: Extents | None, statement: Statement, place: Buffer, blocks: Blocks | None) -> Box:
    size = access.buffer.dtype.itemsize
    if extents is None:
        return Box(0, (access.buffer.elements,), (size,), size)
    cut = None if blocks is None else blocks.loops[id(statement)]
    offset, strides = access.offset, list(access.strides)
    if blocks is None or cut is None or 0 in extents:
        return Box(offset * size, extents, tuple(stride * size for stride in strides), size)
    per_unit = extents[cut] // blocks.units
    turn = blocks.units * per_unit * strides[cut]
    is_scratch = place in blocks.scratch and turn != 0
    if is_scratch:  # what is a multiple of all units is one of the units of a block
        turn_in_block = blocks.size * per_unit * strides[cut]
        offset = offset // turn * turn_in_block + offset % turn
        for loop, stride in enumerate(strides):
            if loop != cut and stride % turn == 0:
                strides[loop] = stride // turn * turn_in_block
    scaled = tuple(stride * size for stride in strides)
    return Box(offset * size, extents, scaled, size, cut, per_unit, is_scratch)
