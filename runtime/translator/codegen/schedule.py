"""NumPy calls in order, on views of buffers: what the emitters make and what becomes source."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

import numpy as np

from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements.expression import Const, LoopNumber
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Origin


@dataclass(frozen=True)
class View:
    """A strided window onto ``buffer``; offset and strides in elements.

    Inside a block loop ``block_axis`` is the axis that a block takes a slice of, ``block_step`` rows per unit. Inside a
    Python loop the first ``indexed`` axes are indexed by the variables of the loop.
    """

    buffer: Buffer
    dtype: np.dtype[Any]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block_axis: int | None = None
    block_step: int = 1
    indexed: int = 0

    @property
    def elements(self) -> int:
        return prod(self.shape)


Operand = View | Const | LoopNumber


@dataclass(frozen=True)
class Call:
    """One line of source: ``template`` with ``{0}``, ``{1}``, ... for operands and ``{out}`` for the result.

    ``kernel`` names the function of machine code that ``{kernel}`` stands for, ``function`` that of the program which
    ``{function}`` does; ``{host}`` is what that gets of the host. A kernel ``does`` the work of several ops.
    """

    template: str
    operands: tuple[Operand, ...]
    out: View
    origin: Origin
    kernel: str = ""
    function: str = ""
    does: tuple[Origin, ...] = ()


@dataclass(frozen=True)
class Loop:
    """Nested Python loops over ``counts``; an ``indexed`` view has one leading axis per loop, for its variable."""

    counts: tuple[int, ...]
    calls: tuple[Call, ...]
    origin: Origin


@dataclass(frozen=True)
class BlockLoop:
    """``calls`` done for blocks of ``block`` out of ``units`` units. ``scratch`` has the places that each thread has of
    its own, with their bytes for one block."""

    units: int
    block: int
    calls: tuple[Call, ...]
    scratch: tuple[tuple[Buffer, int], ...]
    origin: Origin


MOST_NESTED = 8
"""Loops and branches inside each other in one function; Python takes 20 loops and 100 levels of indentation."""


@dataclass(frozen=True)
class ControlStep:
    """``blocks`` of steps under ``for``, ``while`` or ``if``; ``scalars`` decide: the bounds, or the condition.

    The variable of a ``for`` is also written to the array ``variable``, if there is one; as a number it stands for
    ``number``. A ``while`` has three blocks: up to the condition, the rest of a round, and what is done when the loop
    ends.
    """

    kind: Literal["for", "while", "if"]
    scalars: tuple["int | View", ...]
    variable: View | None
    blocks: tuple[tuple["Step", ...], ...]
    ids: tuple[int, ...]
    origin: Origin
    number: Buffer | None = None


Step = Call | Loop | BlockLoop | ControlStep

COPY = "copyto({out}, {0}, 'unsafe')"
"""Copies or converts; ``unsafe`` is what C does."""

_KEYWORD_ONLY = frozenset(["maximum", "minimum"])  # NumPy deprecates a third positional argument for these two


def template(function: str, operands: int) -> str:
    """The template of a call: operands, then the result. By position: ``out=`` costs 35 ns more per call."""
    slots = "".join(f"{{{position}}}, " for position in range(operands))
    return f"{function}({slots}{'out=' if function in _KEYWORD_ONLY else ''}{{out}})"


@dataclass
class Schedule:
    """The steps that emitters append to. ``places`` maps a buffer to the representative of those that share its memory.

    Inside a block loop, ``block_loop`` is the loop of the statement at hand that is cut; a block has ``block_size`` of
    its ``block_units``. ``product`` gives the call that does a product in place of BLAS, if there is one.
    """

    options: TranslatorOptions
    places: dict[Buffer, Buffer] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    block_loop: int | None = None
    block_units: int = 0
    block_size: int = 0
    product: Callable[[View, View, View, Origin], Call | None] | None = None

    def place(self, buffer: Buffer) -> Buffer:
        """The representative of the buffers that share memory with ``buffer``."""
        return self.places.get(buffer, buffer)

    def same_place(self, a: Buffer, b: Buffer) -> bool:
        """True if the two buffers may share memory."""
        return self.place(a) is self.place(b)

    def scratch(self, name: str, elements: int, dtype: np.dtype[Any]) -> Buffer:
        """Memory that only the statement at hand uses."""
        return Buffer(name, elements, dtype, Role.TEMPORARY)

    def call(self, template: str, operands: tuple[Operand, ...], out: View, origin: Origin) -> None:
        """Append a call."""
        self.steps.append(Call(template, operands, out, origin))


@dataclass(frozen=True)
class Axes:
    """The axes that arrays of a statement have: each a run of loops that act as one, outermost first.

    ``block`` is the loop that a block loop cuts, if any; it is always the first of its axis.
    """

    extents: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    block: int | None = None
    block_units: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(prod(self.extents[loop] for loop in group) for group in self.groups)

    def block_of(self, present: tuple[int, ...]) -> tuple[int | None, int]:
        """The position of ``present`` that a block cuts, and the rows of it that one unit has.

        ``present`` are indices of groups, or -1 for an axis that is none.
        """
        for position, index in enumerate(present):
            if self.block is not None and index >= 0 and self.groups[index][0] == self.block:
                return position, self.shape[index] // self.block_units
        return None, 1

    def strides(self, access: Access) -> tuple[int, ...]:
        """One stride per axis; that of its innermost loop."""
        return tuple(access.strides[group[-1]] for group in self.groups)

    def view(self, access: Access, dtype: np.dtype[Any] | None = None) -> View:
        """The array that broadcasts over these axes: extent 1 where the stride is 0, no leading 1s."""
        strides = self.strides(access)
        first = next((i for i, s in enumerate(strides) if s), len(strides))
        present = tuple(range(first, len(strides)))
        shape = tuple(n if s else 1 for n, s in zip(self.shape, strides, strict=True))[first:]
        axis, step = self.block_of(present)
        if axis is not None and strides[present[axis]] == 0:
            axis, step = None, 1
        return View(access.buffer, dtype or access.buffer.dtype, access.offset, shape, strides[first:], axis, step)

    def full_view(self, access: Access, dtype: np.dtype[Any] | None = None) -> View:
        """The array with every axis at full extent; stride 0 where the stride is 0."""
        axis, step = self.block_of(tuple(range(len(self.groups))))
        return View(
            access.buffer, dtype or access.buffer.dtype, access.offset, self.shape, self.strides(access), axis, step
        )
