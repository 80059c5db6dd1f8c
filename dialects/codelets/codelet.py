"""Codelets: the name, the meaning and the cost of one vertex."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ipu_mlir.dialects.codelets.signature import Shapes, Signature
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size
from ipu_mlir.dialects.mapping.loops import IntArray

Loops: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class LibraryCodelet:
    """Vertex code that is not a loop nest over scalars, such as a sort.

    In IR it is a ``linalg.generic`` whose ``library_call`` is the codelet's name: loops and indexing maps say what each
    vertex reads and writes; the reduction loops are those that one vertex needs whole. The body is not executed. It
    uses the block argument of an output if the codelet updates what that output held, which then is a last operand.

    This is all that there is of a codelet: verifier, planner, costs, memory, profile and both executors ask it. What a
    vertex takes are pure functions of a call and of the iterations of its loops, shape ``(..., loops)``.

    Attributes:
        name: the ``library_call``, without the element type: ``sort``.
        per_tile: operands of one vertex (arrays in the shape of the operand's box) to its outputs; the definition.
        vectorised: whole operands to whole results, all vertices at once; the fast form. It may update an operand that
            is an output in place, and then returns it. None where the fast executor writes the source itself.
        cycles: of a vertex.
        code_bytes: of the code that its workers run, which a tile holds once; assumed.
        source: where the meaning comes from.
        needs: which operands it takes, in words.
        takes: whether it takes operands of these shapes: the inputs, then the outputs.
        takes_types: whether it takes operands with elements of these types: the inputs, then the outputs.
        signature: the dimensions of its operands by name, where they are stacks; their loops are those of the stack,
            then those of the signature, in its order.
        scratch_bytes: of a vertex besides its operands while it runs; assumed.
        flops: floating-point operations of a vertex.
        knows_places: whether ``per_tile`` takes, before the operands, which indices the vertex has of each input and
            each output: an array per dimension.
        fills_outputs: whether ``vectorised`` takes the arrays of the outputs after the operands, fills them and gives
            them back; otherwise what it gives is copied there.
        in_steps: whether it may run over blocks of its outermost reduction loop, one after another, each on what the
            last one left.
        rounds: whether results may be numbers between those of a float type of few bits, which are rounded then; false
            for a codelet that only chooses among its operands, or counts.
        alone: instructions of one worker that does it among other work; None where all do it together even then.
    """

    name: str
    per_tile: Callable[..., tuple[np.ndarray[Any, Any], ...]]
    vectorised: Callable[..., tuple[np.ndarray[Any, Any], ...]] | None
    cycles: Callable[["CodeletCall", IntArray, Machine], Size]
    code_bytes: int
    source: str
    needs: str
    takes: Callable[[Shapes, Shapes], bool]
    takes_types: Callable[[tuple[str, ...], tuple[str, ...]], bool] = lambda inputs, outputs: True
    signature: Signature | None = None
    scratch_bytes: Callable[["CodeletCall", IntArray, Machine], Size] = lambda call, sizes, machine: 0
    flops: Callable[["CodeletCall", IntArray], Size] = lambda call, sizes: 0
    knows_places: bool = False
    fills_outputs: bool = False
    in_steps: bool = False
    rounds: bool = True
    alone: Callable[["CodeletCall", IntArray], Size] | None = None

    def __repr__(self) -> str:
        return f"codelet {self.name}"


@dataclass(frozen=True)
class CodeletCall:
    """An op that calls a library codelet, as far as its costs go: operands in order, the outputs last.

    Attributes:
        codelet: which one.
        dtypes: the type of each operand's elements.
        shapes: of each operand, over all vertices.
        loops: the loops that each operand's elements depend on.
        kept: the loops that vertices share.
        reduced: those that each vertex runs whole.
    """

    codelet: LibraryCodelet
    dtypes: tuple[str, ...]
    shapes: Shapes
    loops: tuple[Loops, ...]
    kept: Loops
    reduced: Loops
