"""What a codelet is: the name, the meaning and the cost of one vertex."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class LibraryCodelet:
    """Vertex code that is not a loop nest over scalars, such as a sort.

    In IR it is a ``linalg.generic`` whose ``library_call`` is the codelet's name: loops and indexing maps say what each
    vertex reads and writes; the reduction loops are those that one vertex needs whole. The body is not executed. It
    uses the block argument of an output if the codelet updates what that output held, which then is a last operand.

    Attributes:
        name: the ``library_call``, without the element type: ``sort``.
        per_tile: operands of one vertex (arrays in the shape of the operand's box) to its outputs; the definition.
        vectorised: whole operands to whole results, all vertices at once; the fast form. It may update an operand that
            is an output in place, and then returns it.
        scratch_bytes: bytes one vertex needs besides its operands, from the shapes of its input boxes and the
            element size.
        source: where the meaning comes from.
        needs: which operands it takes, in words.
        takes: whether it takes operands of these shapes: the inputs, then the outputs.
        fills_outputs: whether ``vectorised`` takes the arrays of the outputs after the operands, fills them and gives
            them back; otherwise what it gives is copied there.
        in_steps: whether it may run over blocks of its outermost reduction loop, one after another, each on what the
            last one left.
        rounds: whether results may be numbers between those of a float type of few bits, which are rounded then; false
            for a codelet that only chooses among its operands, or counts.
    """

    name: str
    per_tile: Callable[..., tuple[np.ndarray[Any, Any], ...]]
    vectorised: Callable[..., tuple[np.ndarray[Any, Any], ...]]
    scratch_bytes: Callable[[tuple[tuple[int, ...], ...], int], int]
    source: str
    needs: str
    takes: Callable[[Shapes, Shapes], bool]
    fills_outputs: bool = False
    in_steps: bool = False
    rounds: bool = True
