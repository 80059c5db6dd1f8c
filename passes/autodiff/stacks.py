"""Stacks of matrices: their products, transposes and triangles, as structured ops."""

from collections.abc import Callable, Sequence

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute
from ipu_mlir.passes.autodiff.backward import elementwise, total, zeros
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import fill_with, generic, identity_map, loop_index, zero

arith, tensor = upstream("arith"), upstream("tensor")

Values = Sequence[ir.Value]
CodeletRule = Callable[[ir.Operation, Values, Values], Sequence[ir.Value | None]]
"""From a call, its operands without results, and the cotangents of its results, to those of the operands, if any."""

Element = Callable[[ir.Value, ir.Value, ir.Value], ir.Value]
"""From an element and its indices of row and column to another element."""


def contracted(text: str, *operands: ir.Value) -> ir.Value:
    """Products of elements, summed as in an ``einsum`` of the last dimensions; those before are of the stack.

    ``contracted("ij,kj->ik", a, b)`` is each ``a`` times the transpose of ``b``.
    """
    given, result = text.split("->")
    names = given.split(",")
    letters = list(dict.fromkeys(result + given.replace(",", "")))
    shape = list(operands[0].type.shape)
    stack = len(shape) - len(names[0])
    sizes = {
        letter: size
        for own, value in zip(names, operands, strict=True)
        for letter, size in zip(own, list(value.type.shape)[stack:], strict=True)
    }
    loops = stack + len(letters)
    places = [[*range(stack), *(stack + letters.index(each) for each in own)] for own in (*names, result)]
    maps = [ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(loop) for loop in own]) for own in places]
    kind = ir.RankedTensorType.get([*shape[:stack], *(sizes[each] for each in result)], operands[0].type.element_type)
    parallel = [loop in places[-1] for loop in range(loops)]
    start = tensor.EmptyOp(list(kind.shape), kind.element_type).result if all(parallel) else zeros(kind)

    def body(values: list[ir.Value]) -> list[ir.Value]:
        *factors, so_far = values
        product = factors[0]
        for each in factors[1:]:
            product = arith.mulf(product, each)
        return [product if all(parallel) else arith.addf(so_far, product)]

    return generic(list(operands), [start], maps, parallel, body).results[0]


def transposed(matrices: ir.Value) -> ir.Value:
    """The transpose of each matrix."""
    return contracted("ij->ji", matrices)


def by_place(matrices: ir.Value, element: Element) -> ir.Value:
    """``element`` of every element of matrices, which knows its row and column."""
    shape = list(matrices.type.shape)
    empty = tensor.EmptyOp(shape, matrices.type.element_type).result
    rank = len(shape)

    def body(values: list[ir.Value]) -> list[ir.Value]:
        return [element(values[0], loop_index(rank - 2), loop_index(rank - 1))]

    return generic([matrices], [empty], [identity_map(rank)] * 2, [True] * rank, body).results[0]


def lower_triangle(matrices: ir.Value, strict: bool = False) -> ir.Value:
    """The matrices with zeros above the diagonal; on it as well, if ``strict``."""
    order = arith.CmpIPredicate.ugt if strict else arith.CmpIPredicate.uge
    return by_place(matrices, lambda x, i, j: arith.SelectOp(arith.cmpi(order, i, j), x, zero(x.type)).result)


def upper_triangle(matrices: ir.Value, strict: bool = False) -> ir.Value:
    """The matrices with zeros below the diagonal; on it as well, if ``strict``."""
    order = arith.CmpIPredicate.ult if strict else arith.CmpIPredicate.ule
    return by_place(matrices, lambda x, i, j: arith.SelectOp(arith.cmpi(order, i, j), x, zero(x.type)).result)


def on_diagonal(numbers: ir.Value, size: int) -> ir.Value:
    """Each number of a stack times the unit matrix of ``size``."""
    shape = [*numbers.type.shape, size, size]
    rank, element = len(shape), numbers.type.element_type
    empty = tensor.EmptyOp(shape, element).result
    read = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(loop) for loop in range(rank - 2)])

    def body(values: list[ir.Value]) -> list[ir.Value]:
        is_there = arith.cmpi(arith.CmpIPredicate.eq, loop_index(rank - 2), loop_index(rank - 1))
        return [arith.SelectOp(is_there, values[0], zero(element)).result]

    return generic([numbers], [empty], [read, identity_map(rank)], [True] * rank, body).results[0]


def diagonal(numbers: ir.Value) -> ir.Value:
    """Matrices with these numbers, a row of them for each, on the diagonal, and zeros beside it."""
    *stack, size = numbers.type.shape
    kind = ir.RankedTensorType.get([*stack, size, size], numbers.type.element_type)
    one = fill_with(number(1, kind.element_type), zeros(kind)).results[0]
    rows = contracted("i,ij->ij", numbers, one)
    return by_place(rows, _zero_beside_the_diagonal)


def _zero_beside_the_diagonal(x: ir.Value, i: ir.Value, j: ir.Value) -> ir.Value:
    return arith.SelectOp(arith.cmpi(arith.CmpIPredicate.eq, i, j), x, zero(x.type)).result


def folded(matrices: ir.Value) -> ir.Value:
    """The lower triangle, and half of the diagonal."""

    def element(x: ir.Value, i: ir.Value, j: ir.Value) -> ir.Value:
        half = arith.mulf(x, number(0.5, x.type))
        return arith.SelectOp(arith.cmpi(arith.CmpIPredicate.eq, i, j), half, x).result

    return by_place(lower_triangle(matrices), element)


def one_on_diagonal(matrices: ir.Value) -> ir.Value:
    """The matrices with ones on the diagonal."""

    def element(x: ir.Value, i: ir.Value, j: ir.Value) -> ir.Value:
        return arith.SelectOp(arith.cmpi(arith.CmpIPredicate.eq, i, j), number(1, x.type), x).result

    return by_place(matrices, element)


def over_gaps(matrices: ir.Value, values: ir.Value) -> ir.Value:
    """Elements divided by the differences of the values of column and row; 0 on the diagonal."""
    one = fill_with(number(1, values.type.element_type), zeros(matrices.type)).results[0]
    apart = total(contracted("ij,j->ij", one, values), negative(contracted("ij,i->ij", one, values)))
    found = elementwise([matrices, one_on_diagonal(apart)], matrices.type, lambda each: arith.divf(*each))
    return total(lower_triangle(found, strict=True), upper_triangle(found, strict=True))


def part_of(matrices: ir.Value, rows: tuple[int, int], columns: tuple[int, int]) -> ir.Value:
    """The rows and the columns from the first number to the second one."""
    offsets, sizes = _window(matrices, rows, columns)
    kind = ir.RankedTensorType.get(sizes, matrices.type.element_type)
    return tensor.ExtractSliceOp(kind, matrices, [], [], [], offsets, sizes, [1] * len(sizes)).result


def placed(part: ir.Value, whole: ir.Value, row: int = 0, column: int = 0) -> ir.Value:
    """The matrices ``whole`` with ``part`` in the place that begins at that row and column."""
    *_, rows, columns = part.type.shape
    offsets, sizes = _window(whole, (row, row + rows), (column, column + columns))
    return tensor.InsertSliceOp(part, whole, [], [], [], offsets, sizes, [1] * len(sizes)).result


def _window(matrices: ir.Value, *ranges: tuple[int, int]) -> tuple[list[int], list[int]]:
    """The offsets and the sizes of ranges of the last dimensions."""
    stack = list(matrices.type.shape)[: -len(ranges)]
    return [0] * len(stack) + [start for start, _ in ranges], [*stack, *(end - start for start, end in ranges)]


def stack_of(like: ir.Value, rows: int, columns: int) -> ir.RankedTensorType:
    """The type of matrices of other sizes, as many as those of ``like``."""
    return ir.RankedTensorType.get([*list(like.type.shape)[:-2], rows, columns], like.type.element_type)


def negative(value: ir.Value) -> ir.Value:
    """Minus each element."""
    return elementwise([value], value.type, lambda values: arith.negf(values[0]))


def number(constant: float, kind: ir.Type) -> ir.Value:
    """A constant of the type ``kind``."""
    return arith.ConstantOp(kind, scalar_attribute(kind, constant)).result


def called(name: str, operands: Values, kind: ir.RankedTensorType) -> ir.Value:
    """The one result, of the type ``kind``, of a library codelet."""
    return call_codelet(name, operands, [kind.shape], [kind.element_type])[0]


def rows_put_back(rows: ir.Value, order: ir.Value) -> ir.Value:
    """The matrices whose rows ``order`` has taken ``rows`` from: row ``order[i]`` is ``rows[i]``."""
    shape = list(rows.type.shape)
    stack, element = len(shape) - 2, rows.type.element_type
    dims = [ir.AffineExpr.get_dim(loop) for loop in range(stack + 3)]  # of the stack, then row, column, row before
    read = [ir.AffineMap.get(stack + 3, 0, [*dims[:stack], *own]) for own in ([dims[-1], dims[-2]], [dims[-1]])]
    output = ir.AffineMap.get(stack + 3, 0, dims[:-1])

    def body(values: list[ir.Value]) -> list[ir.Value]:
        row, target, so_far = values
        there = arith.IndexCastOp(target.type, loop_index(stack)).result
        is_row = arith.cmpi(arith.CmpIPredicate.eq, target, there)
        return [arith.addf(so_far, arith.SelectOp(is_row, row, zero(element)).result)]

    parallel = [True] * (stack + 2) + [False]
    return generic([rows, order], [zeros(rows.type)], [*read, output], parallel, body).results[0]
