"""The work of the vertices of a structured op, as far as their cost goes: plain values that name loops by number.

``classify`` finds the work of an op; ``cycles_of`` in ``family`` says what it costs for a part of given sizes.
"""

from dataclasses import dataclass
from typing import TypeAlias

from ipu_mlir.dialects.codelets.codelet import CodeletCall, Loops
from ipu_mlir.dialects.costs.elementwise import ScalarOp


@dataclass(frozen=True)
class Preparation:
    """Scalar operations on one factor of a product before it is multiplied, over the loops that the factor has."""

    ops: tuple[ScalarOp, ...]
    loops: Loops


@dataclass(frozen=True)
class Contraction:
    """A sum of products: matmul, convolution, depthwise convolution.

    Attributes:
        dtype: the type of the first factor.
        groups: loops of both factors and the result.
        field: parallel loops of the first factor alone: rows of a matmul, pixels of a convolution.
        out_channels: parallel loops of the second factor alone.
        in_channels: reduced loops of both factors.
        kernel: reduced loops that move a window over the first factor.
        prepared: what is done to the factors first.
        slides: whether the last loop of the window moves it by one element at a time.
        weights: ``field`` or ``out_channels``, the loops of the factor that AMP keeps as weights because it is much the
            larger one; empty where either may be.
    """

    dtype: str
    groups: Loops
    field: Loops
    out_channels: Loops
    in_channels: Loops
    kernel: Loops
    prepared: tuple[Preparation, ...] = ()
    slides: bool = False
    weights: str = ""


@dataclass(frozen=True)
class Elementwise:
    """Scalar operations on each element.

    Attributes:
        broadcast: of a single operation with an operand that not all loops go over: ``scalar`` or ``vector``.
        in_place: whether the result lies where an input does.
        operands: the number of tensors that are read or written.
    """

    ops: tuple[ScalarOp, ...]
    broadcast: str = ""
    in_place: bool = False
    operands: int = 0


@dataclass(frozen=True)
class Reduction:
    """Elements combined to fewer.

    Attributes:
        dtype, to_dtype: the types of the elements and of the results.
        kept, reduced: the parallel and the other loops, the innermost last.
        continuous: whether the elements of one result lie in a row.
        before: what is done to each element before it is combined.
        combine: the operation that combines, if there are fast vertices for it; otherwise it stands in ``before``.
        run: the reduced loops that go over neighbouring dimensions, so that their elements on a tile are one run; if
            there are several.
        operands: the number of tensors that are read.
    """

    dtype: str
    to_dtype: str
    kept: Loops
    reduced: Loops
    continuous: bool
    before: tuple[ScalarOp, ...]
    combine: ScalarOp | None
    run: Loops = ()
    operands: int = 1


@dataclass(frozen=True)
class Window:
    """Pooling: elements of a moving window combined, ``kind`` being ``max`` or ``sum``."""

    dtype: str
    kind: str
    positions: Loops
    channels: Loops
    window: Loops


@dataclass(frozen=True)
class Gather:
    """Rows loaded from where indices say, and operations on them.

    Attributes:
        slices: per load, the loops along which the elements of one row lie; the other loops go over the rows.
    """

    dtype: str
    loops: Loops
    slices: tuple[Loops, ...]
    ops: tuple[ScalarOp, ...]


@dataclass(frozen=True)
class Move:
    """Elements set (``fill``), copied (``copy``) or reordered (``transpose``)."""

    kind: str
    dtype: str
    loops: Loops


Work: TypeAlias = Contraction | Elementwise | Reduction | Window | Gather | CodeletCall | Move
