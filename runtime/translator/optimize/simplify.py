"""Cheaper bodies with the same bits: constants folded, and the spellings that NumPy runs fastest."""

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeGuard

import numpy as np

from ipu_mlir.runtime import numeric
from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role
from ipu_mlir.runtime.translator.array_ir.control import in_blocks
from ipu_mlir.runtime.translator.array_ir.expression import (
    Accumulator,
    Apply,
    Const,
    Expression,
    Read,
    apply,
    cast,
    is_minus_zero,
    rewrite,
    uses_accumulator,
)
from ipu_mlir.runtime.translator.array_ir.statements import Fold, Program, Statement
from ipu_mlir.runtime.translator.array_ir.transform import with_rewritten_values

BOOL = np.dtype(np.bool_)


def simplified(program: Program) -> Program:
    """Fold constants, and spell bodies as NumPy runs them fastest, with the same bits."""
    no_minus_zero: set[Buffer] = set()

    def block(old_statements: Sequence[Statement]) -> list[Statement]:
        statements = []
        for old in old_statements:
            statement = _simplified(in_blocks(old, block), no_minus_zero)
            if isinstance(statement, Fold) and _is_sum_from_zero(statement):
                no_minus_zero.add(statement.outputs[0].buffer)
            statements.append(statement)
        return statements

    return program.with_statements(block(program.statements))


def _is_sum_from_zero(fold: Fold) -> bool:
    """A sum that begins at +0 cannot end at -0 (and its buffer holds nothing else)."""
    if len(fold.values) != 1 or fold.outputs[0].buffer.mutable:
        return False
    (value,), (init,) = fold.values, fold.inits
    if not isinstance(init, Const) or init.dtype.kind != "f" or init.value != 0 or is_minus_zero(init):
        return False
    return isinstance(value, Apply) and value.call == "add" and any(isinstance(a, Accumulator) for a in value.args)


def _simplified(statement: Statement, no_minus_zero: set[Buffer]) -> Statement:
    def change(node: Expression) -> Expression:
        if isinstance(node, Apply) and node.call == "add" and _adds_zero_to(node, no_minus_zero):
            return node.args[0] if isinstance(node.args[1], Const) else node.args[1]
        found = _change(node)
        if isinstance(found, Apply) and found.call == "absolute" and _is_call(found.args[0], "clip"):
            clipped = found.args[0]  # as of a maximum with +0
            value, low, _ = clipped.args
            has_sign = not _is_never_minus_zero(value, no_minus_zero)
            return found if has_sign or not _is_at_least_zero(low) else clipped
        return found

    return with_rewritten_values(statement, change)


def _is_call(node: Expression, call: str) -> TypeGuard[Apply]:
    return isinstance(node, Apply) and node.call == call


def _is_at_least_zero(node: Expression) -> bool:
    return isinstance(node, Const) and bool(node.value >= 0) and not is_minus_zero(node)


def _adds_zero_to(node: Apply, buffers: set[Buffer]) -> bool:
    """``x + 0`` where ``x`` is known not to be -0."""
    for x, zero in (node.args, node.args[::-1]):
        if isinstance(zero, Const) and zero.value == 0 and isinstance(x, Read) and x.access.buffer in buffers:
            return True
    return False


def simplify(values: tuple[Expression, ...]) -> list[Expression]:
    """``values`` with every node folded or respelled."""
    return rewrite(values, _change)


def _change(node: Expression) -> Expression:
    if not isinstance(node, Apply):
        return node
    if all(isinstance(arg, Const) for arg in node.args):
        return evaluate(node)
    rule = _RULES.get(node.call)
    return node if rule is None else rule(node)


def evaluate(node: Apply) -> Const:
    """The scalar value of ``node``, whose arguments are constants."""
    args = [np.array([arg.value]) for arg in node.args if isinstance(arg, Const)]
    with np.errstate(all="ignore"):
        return Const(node.dtype, call_by_name(node.call, args, node.dtype)[0])


def call_by_name(call: str, args: list[np.ndarray], dtype: np.dtype[Any]) -> np.ndarray:
    """The array that ``call`` gives for arrays ``args``."""
    if call == "cast":
        return args[0].astype(dtype)
    if call == "bits":
        return args[0].view(dtype)
    out = np.empty(np.broadcast_shapes(*(arg.shape for arg in args)), dtype)
    numeric.function(call)(*args, out=out)
    return out


def _cast(node: Apply) -> Expression:
    """A cast of the numbers 0, 1, 2, ... is another constant; a cast of a cast from i1 is one cast."""
    (arg,) = node.args
    if isinstance(arg, Read) and _is_small_constant(arg):
        return Read(node.dtype, replace(arg.access, buffer=_converted(arg.access.buffer, node.dtype)))
    if isinstance(arg, Apply) and arg.call == "cast" and arg.args[0].dtype == BOOL:
        return cast(arg.args[0], node.dtype)
    return node


def _is_small_constant(read: Read) -> bool:
    buffer = read.access.buffer
    return buffer.value is not None and buffer.elements <= 65536 and buffer.dtype == read.dtype


@lru_cache(maxsize=256)
def _converted(buffer: Buffer, dtype: np.dtype[Any]) -> Buffer:
    """The constant ``buffer`` with its elements converted."""
    assert buffer.value is not None, "only constants are converted ahead of time"
    value = buffer.value.astype(dtype)
    return Buffer(f"{buffer.name}_{dtype.name}", buffer.elements, dtype, Role.CONSTANT, buffer.shape, value)


def _bits(node: Apply) -> Expression:
    (arg,) = node.args
    if isinstance(arg, Read):
        return Read(node.dtype, arg.access)
    if isinstance(arg, Apply) and arg.call == "bits":
        inner = arg.args[0]
        return inner if inner.dtype == node.dtype else Apply(node.dtype, "bits", (inner,))
    return node


def _logical_not(node: Apply) -> Expression:
    (arg,) = node.args
    if isinstance(arg, Apply) and arg.call == "logical_not":
        return arg.args[0]
    swapped = {"equal": "not_equal", "not_equal": "equal"}
    if isinstance(arg, Apply) and arg.call in swapped:
        return Apply(BOOL, swapped[arg.call], arg.args)
    return node


def _select(node: Apply) -> Expression:
    """``c ? 1 : 0`` is a cast, ``c ? k + 1 : k`` adds a cast, a count is a sum, a known condition chooses now."""
    condition, yes, no = node.args
    if isinstance(condition, Const):
        return yes if condition.value else no
    if isinstance(condition, Apply) and condition.call == "logical_not":
        return _select(replace(node, args=(condition.args[0], no, yes)))
    has_minus_zero = is_minus_zero(yes) or is_minus_zero(no)
    if isinstance(yes, Const) and isinstance(no, Const) and node.dtype != BOOL and not has_minus_zero:
        if yes.value == 1 and no.value == 0:
            return cast(condition, node.dtype)
        step = evaluate(Apply(node.dtype, "subtract", (yes, no)))
        exact = evaluate(Apply(node.dtype, "add", (no, step)))
        if step.value == 1 and exact.value == yes.value:
            return apply("add", cast(condition, node.dtype), no)
    if isinstance(no, Accumulator) and node.dtype.kind in "iu" and isinstance(yes, Apply) and yes.call == "add":
        terms = [term for term in yes.args if term is not no]
        if len(terms) == 1:
            zero = Const.of(0, node.dtype)
            return apply("add", no, _select(Apply(node.dtype, "select", (condition, terms[0], zero))))
    return node


def _extreme(limit_is_low: bool) -> Callable[[Apply], Expression]:
    """A maximum with a constant as ``clip``: three times as fast as ``maximum``; the right one of two zeros."""

    def rule(node: Apply) -> Expression:
        if node.dtype == BOOL or node.dtype == np.float16:
            return node
        a, b = node.args
        value, limit = (b, a) if isinstance(a, Const) else (a, b)
        if not isinstance(limit, Const) or (limit.dtype.kind == "f" and np.isnan(limit.value)):
            return _of_two(node, limit_is_low)
        both = _both_limits(value, limit, limit_is_low)
        if both is not None:
            return both
        highest = np.inf if node.dtype.kind == "f" else np.iinfo(node.dtype).max
        lowest = -np.inf if node.dtype.kind == "f" else np.iinfo(node.dtype).min
        is_zero = (
            node.dtype.kind == "f" and limit.value == 0
        )  # where the value equals a limit, ``clip`` gives the value
        if limit_is_low:
            clipped = Apply(node.dtype, "clip", (value, limit, Const.of(highest, node.dtype)))
            has_sign = is_zero and not is_minus_zero(limit) and not _is_never_minus_zero(value)
            return apply("absolute", clipped) if has_sign else clipped
        if is_zero and is_minus_zero(limit):
            return apply("smaller", value, limit)
        return Apply(node.dtype, "clip", (value, Const.of(lowest, node.dtype), limit))

    return rule


def _of_two(node: Apply, is_maximum: bool) -> Apply:
    """The extreme of two floats; of two zeros, NumPy's gives the second one, or +0 as a maximum and -0 as a minimum."""
    a, b = node.args
    if node.dtype.kind != "f" or isinstance(a, Accumulator) or isinstance(b, Accumulator):
        return node
    right, wrong = (b, a) if is_maximum else (a, b)
    if _is_never_minus_zero(right):
        return node
    if _is_never_minus_zero(wrong):
        return apply(node.call, b, a)
    return apply("larger" if is_maximum else "smaller", a, b)


def _is_never_minus_zero(node: Expression, sums: Set[Buffer] = frozenset()) -> bool:
    """True if that can be seen of ``node`` itself, and of ``sums`` that begin at +0."""
    if isinstance(node, Read):
        return node.access.buffer in sums
    if not isinstance(node, Apply):
        return isinstance(node, Const) and not is_minus_zero(node)
    if node.call == "add":
        return any(_is_never_minus_zero(arg, sums) for arg in node.args)
    if node.call == "multiply":
        return node.args[0] is node.args[1]
    return node.call in ("absolute", "exp", "exp2", "cosh") or (node.call == "cast" and node.args[0].dtype.kind != "f")


def _both_limits(value: Expression, limit: Const, limit_is_low: bool) -> Expression | None:
    """One ``clip`` for a limit on the other side of one that there is already."""
    if not isinstance(value, Apply) or value.call != "clip":
        return None
    inner, low, high = value.args
    if not isinstance(low, Const) or not isinstance(high, Const) or high.dtype.kind not in "iu":
        return None
    limits = np.iinfo(value.dtype)
    if limit_is_low and low.value == limits.min and limit.value <= high.value:
        return replace(value, args=(inner, limit, high))
    if not limit_is_low and high.value == limits.max and low.value <= limit.value:
        return replace(value, args=(inner, low, limit))
    return None


def _saturated_integer(node: Apply) -> Expression:
    """Of floats between limits that fit the type, as quantised numbers are, only a NaN does not."""
    low, high = _bounds(node.args[0])
    limits = np.iinfo(node.dtype)
    return replace(node, call="bounded_integer") if limits.min <= low and high <= limits.max else node


def _bounds(node: Expression) -> tuple[float, float]:
    """From where to where floats are kept by ``clip``, before they are rounded or after."""
    if isinstance(node, Apply) and node.call in ("rint", "floor", "ceil", "trunc"):
        low, high = (getattr(np, node.call)(bound) for bound in _bounds(node.args[0]))
        return float(low), float(high)
    if isinstance(node, Apply) and node.call == "absolute" and _bounds(node.args[0])[0] >= 0:
        return _bounds(node.args[0])
    if isinstance(node, Apply) and node.call == "clip":
        inner, *limits = node.args
        if all(isinstance(limit, Const) for limit in limits):
            low, high = (float(limit.value) for limit in limits if isinstance(limit, Const))
            least, most = _bounds(inner)
            return min(max(least, low), high), min(max(most, low), high)
    return -np.inf, np.inf


def _and(node: Apply) -> Expression:
    """Truth values: ``x and true`` is ``x``, ``x and false`` is false."""
    for here in (0, 1):
        known = node.args[here]
        if node.dtype == BOOL and isinstance(known, Const):
            return node.args[1 - here] if known.value else known
    return node


def _neutral(position: int, value: int) -> Callable[[Apply], Expression]:
    """``x - 0``, ``x * 1`` and ``x / 1`` are ``x``, bit for bit. (``x + 0`` is not: -0 + 0 is +0.)"""

    def rule(node: Apply) -> Expression:
        for here in range(position, 2):
            limit = node.args[here]
            if isinstance(limit, Const) and limit.value == value and node.dtype != BOOL and not is_minus_zero(limit):
                return node.args[1 - here]
        return node

    return rule


def _subtract(node: Apply) -> Expression:
    """``total - x`` of a reduction is the sum of all ``-x``, bit for bit; a product is negated in its first factor."""
    total, x = node.args
    if not isinstance(total, Accumulator) or node.dtype == BOOL or uses_accumulator(x):
        return _neutral(1, 0)(node)
    if isinstance(x, Apply) and x.call == "multiply":
        return apply("add", total, replace(x, args=(_negative(x.args[0]), x.args[1])))
    return apply("add", total, _negative(x))


def _negative(value: Expression) -> Expression:
    return _change(apply("negative", value))


def _add(node: Apply) -> Expression:
    """``x + (-0)`` is ``x``, and so is ``x + 0`` for integers."""
    for here in (0, 1):
        limit = node.args[here]
        if isinstance(limit, Const) and limit.value == 0 and (limit.dtype.kind != "f" or is_minus_zero(limit)):
            return node.args[1 - here]
    return node


_RULES: dict[str, Callable[[Apply], Expression]] = {
    "cast": _cast,
    "bits": _bits,
    "bitwise_and": _and,
    "logical_and": _and,
    "logical_not": _logical_not,
    "saturated_integer": _saturated_integer,
    "select": _select,
    "maximum": _extreme(True),
    "minimum": _extreme(False),
    "subtract": _subtract,
    "multiply": _neutral(0, 1),
    "divide": _neutral(1, 1),
    "add": _add,
}
