"""Sums of products of which one factor is invariant in some summed loops: matrix products that are summed afterwards.

``ipu-factor-sums`` adds up that factor first, where the machine is done earlier so. What it leaves are sums with few
products each, as with a vector, where BLAS is as fast with all of them: it saves NumPy a temporary of all products.
"""

from math import prod

from ipu_mlir.runtime.translator.array_ir.access import Access, temporary
from ipu_mlir.runtime.translator.array_ir.combiner import COMBINERS
from ipu_mlir.runtime.translator.array_ir.statements import Dot, Fold, Reduce


def loops_alone(fold: Fold, a: frozenset[int], b: frozenset[int]) -> list[int]:
    """The summed loops that belong to one factor only; the factors depend on loops ``a`` and ``b``."""
    return [loop for loop, n in enumerate(fold.extents) if n > 1 and fold.reduced[loop] and loop not in a & b]


def summed_products(fold: Fold, a: Access, b: Access, target: Access) -> tuple[Dot, Reduce] | None:
    """``target <- sum of a * b`` as a product over the loops that both share, and the sum of its entries over the rest.

    None if multiplying everything out is as good: the factors share no summed loop, or the product would be of a
    vector and matrices that lie interleaved (256 rows of 64 matrices so: 55 us multiplied out, 982 us as a product).
    """
    many = [loop for loop, n in enumerate(fold.extents) if n > 1]
    alone = loops_alone(fold, a.loops(), b.loops())
    shared = [loop for loop in many if fold.reduced[loop] and loop not in alone]
    kept = [loop for loop in many if loop not in shared]
    # rows that begin with what is summed afterwards, so that whole planes are added
    kept.sort(key=lambda loop: (loop not in alone, -target.strides[loop]))
    batch = [loop for loop in kept if a.strides[loop] and b.strides[loop]]
    sides = [[loop for loop in kept if loop not in batch and factor.strides[loop]] for factor in (a, b)]
    if prod(fold.extents[loop] for loop in shared) == 1 or (not all(sides) and _interleaved(batch, many, a, b)):
        return None
    rows, columns = sorted(sides, key=lambda side: not set(side) & set(alone))
    products = temporary(f"{target.buffer.name}_products", target.buffer.dtype, fold.extents, [*batch, *rows, *columns])
    extents = tuple(1 if loop in shared else n for loop, n in enumerate(fold.extents))
    dot = Dot(fold.extents, fold.origin, a, b, products)
    return dot, Reduce(extents, fold.origin, fold.reduced, COMBINERS["add"], products, target)


def _interleaved(batch: list[int], many: list[int], *factors: Access) -> bool:
    """True if neighbours in the memory of a factor belong to different matrices."""
    for factor in factors:
        innermost = min((loop for loop in many if factor.strides[loop]), key=lambda loop: abs(factor.strides[loop]))
        if innermost in batch:
            return True
    return False
