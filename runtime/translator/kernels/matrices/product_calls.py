"""The products of matrices that kernels do in place of BLAS, and the calls of them."""

from math import prod

import numpy as np

from ipu_mlir.runtime.translator.codegen.schedule import Call, View
from ipu_mlir.runtime.translator.kernels.matrices.product_text import packed_elements, product_parts, product_text
from ipu_mlir.runtime.translator.kernels.module import KernelText, KernelTexts
from ipu_mlir.runtime.translator.statements.access import Buffer, Role
from ipu_mlir.runtime.translator.statements.contraction import loop_kinds
from ipu_mlir.runtime.translator.statements.statements import Dot, Origin, Statement

_TYPES = (np.dtype(np.float32), np.dtype(np.float64))
_FEWEST_ROWS = _FEWEST_TERMS = 8  # 512 x 10 times 10 x 128 took 9 us, one thread of BLAS with 256 bits 17
_FEWEST_COLUMNS = 24  # of 32 that are computed: 512 x 128 times 128 x 16 took 20 us, BLAS 22
_FEWEST_PRODUCTS = 1 << 15  # 32 x 32 x 32 took 0.9 us, BLAS 1.3


def is_of_matrices(statement: Statement) -> bool:
    """True for a product that kernels do faster than a BLAS which leaves half of each vector unused."""
    if not isinstance(statement, Dot) or statement.out.buffer.dtype not in _TYPES:
        return False
    kinds = loop_kinds(statement)
    rows, columns, terms = (
        prod(statement.extents[n] for n in each) for each in (kinds.rows, kinds.columns, kinds.summed)
    )
    return _is_large_enough(min(rows, columns), max(rows, columns), terms)


def matrix_call(texts: KernelTexts, always: bool, a: View, b: View, out: View, origin: Origin) -> Call | None:
    """The call of the kernel for ``out <- a b``, stacks of matrices; None where BLAS is better, but for ``always``.

    The kernel is added to ``texts``.
    """
    ranks = [len(view.shape) for view in (a, b, out)]
    if out.dtype not in _TYPES or min(ranks) < 2 or max(ranks) > ranks[2]:
        return None
    rows, columns, terms = out.shape[-2], out.shape[-1], a.shape[-1]
    if not (min(rows, columns, terms) > 1 if always else _is_large_enough(rows, columns, terms)):
        return None
    if any(1 not in view.strides[-2:] for view in (a, b)) or out.strides[-1] != 1:
        return None
    batch = [tuple(_axis(view, axis - ranks[2]) for view in (a, b, out)) for axis in range(ranks[2] - 2)]
    name = f"product{len(texts)}"
    text = product_text(name, out.dtype, ranks, batch)
    does = "product", text.replace(f"@{name}(", "", 1)
    if does not in texts:
        texts[does] = KernelText(name, 0, 4, text, product_parts(out.dtype))
    needed = packed_elements(columns, terms, out.dtype)
    packed = View(Buffer("packed", needed, out.dtype, Role.TEMPORARY), out.dtype, 0, (needed,), (1,))
    return Call("{kernel}.run({0}, {1}, {2}, {3})", (a, b, out, packed), out, origin, kernel=texts[does].name)


def _is_large_enough(rows: int, columns: int, terms: int) -> bool:
    return (
        rows >= _FEWEST_ROWS
        and columns >= _FEWEST_COLUMNS
        and terms >= _FEWEST_TERMS
        and rows * columns * terms >= _FEWEST_PRODUCTS
    )


def _axis(view: View, from_behind: int) -> int | None:
    """The axis that lies so far before the end; None if ``view`` does not move along it."""
    axis = from_behind + len(view.shape)
    return axis if axis >= 0 and view.shape[axis] > 1 else None
