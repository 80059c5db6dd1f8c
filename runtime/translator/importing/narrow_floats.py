"""Floats of 16 and 8 bits in expressions: numbers in f32, rounded after each operation."""

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.runtime.numeric.narrow_floats import is_rounding
from ipu_mlir.runtime.translator.statements.expression import Apply, Expression


def _names(dialect: str, names: str) -> frozenset[str]:
    return frozenset(f"{dialect}.{name}" for name in names.split())


_CHOOSE = _names("arith", "constant select maximumf minimumf maxnumf minnumf")
_EXACT = _CHOOSE | _names("arith", "negf") | _names("math", "absf copysign ceil floor trunc round roundeven")


def needs_rounding(op: ir.Operation, name: str) -> bool:
    """True if what f32 gives for ``op`` may be no number of its result's type, called ``name``.

    Some types lack numbers of f32 that are not near any rounding: -0, infinities, all negative ones.
    """
    return op.name not in (_EXACT if element_type(name).is_ieee else _CHOOSE)


def not_rounded(value: Expression) -> tuple[Expression, str | None]:
    """``value`` before it is rounded to 16 or 8 bits, and the call that rounds it, or None."""
    if isinstance(value, Apply) and is_rounding(value.call):
        return value.args[0], value.call
    return value, None
