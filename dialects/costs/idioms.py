"""Several scalar operations of a body that the machine has one vertex for, found along their values."""

import math
from collections.abc import Callable, Iterator, Sequence

from ipu_mlir.dialects.analysis.matchers import defining_op, float_of, has_one_use, predicate_of
from ipu_mlir.dialects.support.bindings import ir

Found = tuple[ir.Operation, ...]
"""The operations that are one: the last one first."""


def idioms_in(ops: Sequence[ir.Operation]) -> Iterator[tuple[str, Found]]:
    """The name of each idiom among ``ops`` in the tables of floats, and its operations; no two share one.

    All of its operations but the last one hand their result to another one of them alone.
    """
    taken: set[ir.Operation] = set()
    among = set(ops)
    for op in reversed(ops):  # longer ones end later
        for name, find in _IDIOMS:
            found = None if op in taken else find(op)
            if name in _ALONE and len(ops) != len(found or ()):
                continue
            if found is not None and among.issuperset(found) and taken.isdisjoint(found):
                taken.update(found)
                yield name, found
                break


def _sigmoid(op: ir.Operation) -> Found | None:
    """1 / (1 + exp(-x))."""
    bottom = _inner(op.operands[1], "arith.addf") if op.name == "arith.divf" and _is(op.operands[0], 1) else None
    for one, other in _both_ways(bottom):
        exponential = _inner(other, "math.exp") if _is(one, 1) else None
        negative = _inner(exponential.operands[0], "arith.negf") if exponential is not None else None
        if bottom is not None and exponential is not None and negative is not None:
            return op, bottom, exponential, negative
    return None


def _gelu_erf(op: ir.Operation) -> Found | None:
    """x / 2 * (1 + erf(x / sqrt(2))), with its factors in any order, or with erfc(-x / sqrt(2)) as the last one."""
    if op.name not in ("arith.mulf", "arith.divf"):
        return None
    factors, number, products = _factors(op)
    for position, factor in enumerate(factors):
        others = factors[:position] + factors[position + 1 :]
        found = _one_plus_erf(factor, others[0]) if len(others) == 1 and _close(number, 0.5) else None
        if found is not None:
            return *products, *found
    return None


def _one_plus_erf(value: ir.Value, x: ir.Value) -> Found | None:
    whole = _inner(value, "arith.addf", "math.erfc")
    if whole is None:
        return None
    if whole.name == "math.erfc":
        inside = _scaled(whole.operands[0], x, -math.sqrt(0.5))
        return None if inside is None else (whole, *inside)
    for one, other in _both_ways(whole):
        erf = _inner(other, "math.erf") if _is(one, 1) else None
        inside = None if erf is None else _scaled(erf.operands[0], x, math.sqrt(0.5))
        if erf is not None and inside is not None:
            return whole, erf, *inside
    return None


def _scaled(value: ir.Value, x: ir.Value, by: float) -> Found | None:
    """The operations that compute ``value`` as ``x`` times ``by``."""
    op = _inner(value, "arith.mulf", "arith.divf", "arith.negf")
    if op is None:
        return None
    factors, number, products = _factors(op)
    return tuple(products) if factors == [x] and _close(number, by) else None


def _factors(op: ir.Operation) -> tuple[list[ir.Value], float, list[ir.Operation]]:
    """The values that the product ``op`` is made of, the constants among them as one number, and its operations."""
    values: list[ir.Value] = []
    number = -1.0 if op.name == "arith.negf" else 1.0
    products = [op]
    for position, value in enumerate(op.operands):
        constant = float_of(value)
        is_below = op.name == "arith.divf" and position == 1
        inner = None if is_below else _inner(value, "arith.mulf", "arith.divf", "arith.negf")
        if constant is not None and not (is_below and constant == 0):
            number *= 1 / constant if is_below else constant
        elif inner is not None:
            inner_values, inner_number, inner_products = _factors(inner)
            values += inner_values
            number *= inner_number
            products += inner_products
        else:
            values.append(value)
            if is_below:
                number = math.nan  # no product
    return values, number, products


def _relu(op: ir.Operation) -> Found | None:
    """max(x, 0), or x where it is above 0, and else 0."""
    if op.name in ("arith.maximumf", "arith.maxnumf"):
        return (op,) if any(_is(value, 0) for value in op.operands) else None
    if op.name != "arith.select" or not _is(op.operands[2], 0):
        return None
    compared = _inner(op.operands[0], "arith.cmpf")
    if compared is None or predicate_of(compared) not in ("ogt", "oge", "ugt", "uge"):
        return None
    return (op, compared) if compared.operands[0] == op.operands[1] and _is(compared.operands[1], 0) else None


def _inverse(op: ir.Operation) -> Found | None:
    """1 / x."""
    return (op,) if op.name == "arith.divf" and _is(op.operands[0], 1) else None


def _square(op: ir.Operation) -> Found | None:
    """x * x."""
    return (op,) if op.name == "arith.mulf" and op.operands[0] == op.operands[1] else None


def _scaled_add(op: ir.Operation) -> Found | None:
    """a + s * b, or a difference of both, where s is one number for all elements."""
    if op.name not in ("arith.addf", "arith.subf"):
        return None
    for value in op.operands:
        product = _inner(value, "arith.mulf")
        if product is not None and any(_is_for_all(factor, product) for factor in product.operands):
            return op, product
    return None


def _is_for_all(value: ir.Value, user: ir.Operation) -> bool:
    """True of a constant, and of what is computed outside of the body."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return owner != user.block
    return owner.name == "arith.constant" or owner.operation.block != user.block


_IDIOMS: tuple[tuple[str, Callable[[ir.Operation], Found | None]], ...] = (
    ("sigmoid", _sigmoid),
    ("gelu_erf", _gelu_erf),
    ("relu", _relu),
    ("inverse", _inverse),
    ("square", _square),
    ("scaled_add", _scaled_add),
)
"""By name, longer ones first."""

_ALONE = ("scaled_add",)
"""Those that are vertices of a library: a body that does more is compiled, and has no such loop."""


def _inner(value: ir.Value, *names: str) -> ir.Operation | None:
    """The op of these ``names`` that makes ``value`` for one user alone."""
    while has_one_use(value) and (mode := defining_op(value, "ipu.round", "ipu.saturate")) is not None:
        value = mode.operands[0]
    op = defining_op(value, *names)
    return op if op is not None and has_one_use(value) else None


def _both_ways(op: ir.Operation | None) -> list[tuple[ir.Value, ir.Value]]:
    if op is None:
        return []
    one, other = op.operands
    return [(one, other), (other, one)]


def _is(value: ir.Value, number: float) -> bool:
    return float_of(value) == number


def _close(number: float, wanted: float) -> bool:
    """True if both are one number in a type of 16 bits."""
    return math.isclose(number, wanted, rel_tol=4e-3)
