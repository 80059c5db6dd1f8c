"""The step of a reduction as one ufunc of the running value and a term, which has a neutral element."""

import numpy as np

from ipu_mlir.runtime.translator.statements.expression import (
    Accumulator,
    Apply,
    Const,
    Expression,
    Read,
    apply,
    uses_accumulator,
)

# The ufuncs that may run over a whole axis at once, and the name under which NumPy reduces them.
COMBINERS = {
    "add": "add",
    "multiply": "multiply",
    "maximum": "maximum",
    "minimum": "minimum",
    "fmax": "fmax",
    "fmin": "fmin",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "not_equal": "logical_xor",
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
}


def combiner_of(value: Expression) -> tuple[str, bool, Expression] | None:
    """(ufunc, unsigned, what is folded in) if ``value`` is one ufunc of the running value and something without it."""
    unsigned = False
    if isinstance(value, Apply) and value.call == "bits":
        if value.dtype.kind not in "iu" or value.args[0].dtype.kind != "u":
            return None  # the bits of floats
        (value,) = value.args
        unsigned = True
    if not isinstance(value, Apply):
        return None
    if value.call == "subtract" and isinstance(value.args[0], Accumulator) and not uses_accumulator(value.args[1]):
        return "add", unsigned, _negative(value.args[1])
    if value.call == "select" and value.dtype.kind in "iu" and isinstance(value.args[2], Accumulator):
        condition, more, _ = value.args  # a count: what is not counted adds 0
        found = combiner_of(more)
        if found is None or found[0] != "add" or uses_accumulator(condition):
            return None
        return "add", unsigned, Apply(value.dtype, "select", (condition, found[2], Const.of(0, value.dtype)))
    if value.call not in COMBINERS or len(value.args) != 2:
        return None
    for running, other in (value.args, value.args[::-1]):
        if unsigned:
            if not (isinstance(running, Apply) and running.call == "bits"):
                continue
            running = running.args[0]
        if isinstance(running, Accumulator) and not uses_accumulator(other):
            if unsigned:
                other = Apply(running.dtype, "bits", (other,))
                if isinstance(other.args[0], Apply) and other.args[0].call == "bits":
                    other = other.args[0].args[0]
                elif isinstance(other.args[0], Read):
                    other = Read(running.dtype, other.args[0].access)
            return value.call, unsigned, other
    return None


def _negative(term: Expression) -> Expression:
    """Minus ``term``; a product is negated in its first factor."""
    if isinstance(term, Apply) and term.call == "multiply":
        return apply("multiply", apply("negative", term.args[0]), term.args[1])
    return apply("negative", term)


def is_neutral(call: str, unsigned: bool, init: Expression) -> bool:
    """True if combining with the constant ``init`` changes nothing (for a sum, -0 is as good as +0)."""
    if not isinstance(init, Const):
        return False
    dtype = init.dtype
    if dtype.kind == "f" and call in ("fmax", "fmin"):
        return bool(np.isnan(init.value))
    if dtype.kind == "f":
        neutral = {"add": 0, "multiply": 1, "maximum": -np.inf, "minimum": np.inf}.get(call)
        return neutral is not None and init.value == neutral
    if dtype.kind == "b":
        return bool(init.value) == (call in ("logical_and", "bitwise_and", "minimum"))
    limits = np.iinfo(f"u{dtype.itemsize}" if unsigned else dtype)
    value = int(np.array([init.value]).view(limits.dtype)[0])
    neutral = {
        "add": 0,
        "multiply": 1,
        "maximum": limits.min,
        "minimum": limits.max,
        "bitwise_or": 0,
        "bitwise_xor": 0,
        "bitwise_and": limits.max if unsigned else -1,
    }
    return value == neutral.get(call)
