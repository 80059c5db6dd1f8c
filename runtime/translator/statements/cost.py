"""Rough times of statements on one core, in microseconds: enough to tell what is worth a block loop."""

from math import prod

from ipu_mlir.runtime.numeric.narrow_floats import NAMES, bits_of, of_bits, round_to
from ipu_mlir.runtime.translator.statements.access import merged_loops
from ipu_mlir.runtime.translator.statements.expression import Apply, Gather, Read, arguments, moving_accesses, postorder
from ipu_mlir.runtime.translator.statements.statements import (
    Dot,
    Elementwise,
    LibraryCall,
    Reduce,
    Statement,
    expressions_of,
)

# Microseconds per 64K elements in the second-level cache, one ufunc call (NumPy 2.4, AVX-512).
_CALL_US = {
    "exp": 30, "expm1": 60, "log": 25, "log1p": 60, "tanh": 24, "sin": 34, "cos": 34, "tan": 200, "sqrt": 23,
    "power": 76, "erf": 380, "erfc": 2000, "arctan": 200, "arctan2": 500, "cbrt": 500, "arccos": 200, "arcsin": 200,
    "arccosh": 500, "arcsinh": 500, "arctanh": 500, "sinh": 300, "cosh": 300, "select": 17, "fmod": 300,
    "larger": 40, "smaller": 40, "remainder": 108, "floor_divide": 17, "divide_to_zero": 400,
    **{round_to(name): 80 for name in NAMES},
    **{bits_of(name): 40 for name in NAMES},
    **{of_bits(name): 30 for name in NAMES},
}  # fmt: skip
_OTHER_US = 8.5
_OWN_US = 0.5  # a call itself, however few elements it has
_ROW_US = 0.008  # each time that it begins a row: 100,000 rows of 3 times one row of 3 took 1.0 ms, in a kernel 0.2
_LONG_ROW = 64  # elements, beside which beginning it takes no time
_PER_ELEMENTS = 65536
_GEMM_FLOPS_PER_US = 100e3


def call_us(call: str) -> float:
    """Time of ``call`` on 64K elements."""
    return 0.0 if call == "bits" else _CALL_US.get(call, _OTHER_US)


def take_us(entries: int) -> float:
    """Time to take 64K elements from a table of ``entries``."""
    return 40.0 if entries <= 4096 else 55.0


def gemm_us(statement: Statement) -> float:
    """Time in BLAS."""
    return 2.0 * prod(statement.extents) / _GEMM_FLOPS_PER_US if isinstance(statement, Dot) else 0.0


def elementwise_us(statement: Statement) -> float:
    """Time outside of BLAS."""
    match statement:
        case Elementwise():
            total = 0.0
            loops: dict[int, frozenset[int]] = {}
            for node in postorder(statement.values):
                if arguments(node):
                    mine = frozenset().union(*(loops[id(arg)] for arg in arguments(node)))
                    call = node.call if isinstance(node, Apply) else "take"
                    if isinstance(node, Gather):
                        mine |= node.access.loops()
                    total += call_us(call) * prod(statement.extents[loop] for loop in mine)
                else:
                    mine = node.access.loops() if isinstance(node, Read) else frozenset()
                loops[id(node)] = mine
            if statement.copied() is not None or statement.filled() is not None:
                total += _OTHER_US * prod(statement.extents)
            return total / _PER_ELEMENTS
        case Reduce():
            return _OTHER_US * prod(statement.extents) / _PER_ELEMENTS
    return 0.0


def saved_us(statement: Statement) -> float:
    """Microseconds saved if one pass over memory does what ``statement`` does, not a call for each operation."""
    calls = sum(isinstance(node, Apply | Gather) for node in postorder(expressions_of(statement))) or 1
    one_pass = pass_us(statement)
    rows = _short_rows(statement) if isinstance(statement, Elementwise) else 0
    return max(0.0, elementwise_us(statement) - one_pass) + calls * (_OWN_US + rows * _ROW_US)


def pass_us(statement: Statement) -> float:
    """Time to go over the points of ``statement`` once."""
    return _OTHER_US * prod(statement.extents) / _PER_ELEMENTS


def _short_rows(statement: Elementwise) -> int:
    """The number of rows that a call of NumPy has, each as long as loops are that act as one; 0 if these are long."""
    out, extents = statement.outputs[0], statement.extents
    order = sorted(range(len(extents)), key=lambda loop: -out.strides[loop])
    accesses = [*statement.outputs, *moving_accesses(statement.values)]
    strides = [[access.strides[loop] for loop in order] for access in accesses]
    runs = merged_loops([extents[loop] for loop in order], strides, [0] * len(order))
    row = prod(extents[order[loop]] for loop in runs[-1]) if runs else 1
    return prod(extents) // row if row <= _LONG_ROW else 0


def largest_array(statement: Statement) -> int:
    """Elements of the largest operand that the loops run over; a codelet has none."""
    if isinstance(statement, LibraryCall):
        return 0
    return max(
        (
            prod(n for n, s in zip(statement.extents, access.strides, strict=True) if s)
            for access in (*statement.sources(), *statement.dests())
        ),
        default=0,
    )
