"""Cycles of the nonlinearities of neural networks, and of pooling.

Source: hardware.md 4.4, read in the cycle estimators of PopLibs.
"""

from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.sizes import Size, ceil_div, larger, per_worker
from ipu_mlir.dialects.support.element_types import element_type

_FORWARD = {
    "relu": ((1, 1), (1, 1)),
    "sigmoid": ((5, 10), (2, 4)),
    "tanh": ((5, 10), (1, 2)),
    "gelu": ((10, 10), (5, 5)),
    "gelu_erf": ((30, 30), (15, 15)),
    "swish": ((6, 11), (3, 5)),
}
"""Cycles of one element and of one vector, in f32 and in f16."""

_GRADIENT = {
    "relu": ((3, 3), (3, 3)),
    "sigmoid": ((3, 3), (3, 3)),
    "tanh": ((3, 3), (3, 3)),
    "gelu": _FORWARD["gelu"],
    "gelu_erf": _FORWARD["gelu_erf"],
    "swish": ((10, 15), (7, 9)),
}


def nonlinearity_cycles(kind: str, n: Size, dtype: str, machine: Machine, gradient: bool = False) -> Size:
    """``NonLinearity1D`` over ``n`` elements; what is left of the last vector is assumed to take one more operation."""
    operation, vector = (_GRADIENT if gradient else _FORWARD)[kind][element_type(dtype).is_narrow]
    width = machine.vector_width(dtype)
    vectors = ceil_div(ceil_div(n, width), machine.workers)
    rest = (n % width != 0) * operation
    return 9 + machine.workers * (20 + (2 + operation + larger(vectors - 1, 0) * vector + 1 + operation) + rest)


def pool_cycles(kind: str, positions: Size, channels: Size, window: Size, dtype: str, machine: Machine) -> Size:
    """Pooling of ``channels`` at ``positions`` points of the output, over ``window`` elements each.

    Args:
        kind: ``max``, ``sum`` or ``max_gradient``.

    That a row of work has one point, and that channels go through in vectors of 64 bits, is assumed.
    """
    first, each = {"max": (3 + 4, 3), "sum": (5, 3), "max_gradient": (7, 5)}[kind]
    vectors = ceil_div(channels, machine.vector_width(dtype))
    share = per_worker(positions, machine)
    return machine.workers * (17 + 13 + share * (20 + vectors * (first + each * window)))


def loss_cycles(n: Size, dtype: str, machine: Machine, softmax: bool) -> Size:
    """The gradient of a loss over ``n`` elements, by one worker."""
    return 20 + (9 if softmax else 4) * ceil_div(n, 2 if element_type(dtype).bytes == 2 else 1)
