"""How many IPUs a program takes, where that is up to the compiler: numbers are tried, and the fastest one is taken."""

from collections.abc import Callable

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.placement.partition.function_parts import fewest_ipus
from ipu_mlir.passes.placement.planner.on_ipus import numbers_of_ipus
from ipu_mlir.passes.support.rewriting import list_ops

Tried = dict[int, tuple[bool, int]]
"""By the number of IPUs that were tried: whether the program is refused there, and the cycles it takes."""

_WORTH = 0.98  # of the cycles of fewer IPUs, what more must take at most: estimates are off by about as much
_IN_VAIN = 3  # numbers of IPUs in a row that are slower than a smaller one, after which more are not tried


def estimates(module: ir.Operation, target: Target, estimated: Callable[[int, int | None], tuple[bool, int]]) -> Tried:
    """What ``estimated`` gives for the numbers of IPUs of ``target`` that may be best for ``module``, the least first.

    Args:
        estimated: told the number, and cycles above which it need not be exact.
    """
    functions = [op for op in list_ops(module, "func.func") if len(op.regions[0].blocks)]
    least = max((fewest_ipus(function, target) for function in functions), default=1)
    found: Tried = {}
    for count in numbers_of_ipus(least, target.ipus):
        best = best_of(found)
        found[count] = estimated(count, None if best is None or found[best][0] else found[best][1])
        if list(found).index(best_of(found) or count) + _IN_VAIN < len(found):
            break
    return found


def best_of(found: Tried) -> int | None:
    """The number of IPUs that the program should take; of more only where that is worth it. None where none is known.

    >>> best_of({1: (False, 100), 2: (False, 99), 4: (False, 90), 8: (True, 50)})
    4
    """
    best: int | None = None
    for count, (refused, cycles) in sorted(found.items()):
        if best is None or (refused, cycles / _WORTH) < found[best]:
            best = count
    return best
