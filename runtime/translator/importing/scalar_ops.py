"""The scalar ops of arith and math, and the NumPy call that means the same.

``SCALAR_OPS`` is the whole table. An op that is no single call is built from calls in ``scalar_lowerings``.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ScalarOp:
    """The rule by which one op is computed.

    ``call`` is a NumPy ufunc or a function of ``ipu_mlir.runtime.numeric``. ``on_bool`` replaces it for i1, where
    NumPy's arithmetic is logical. ``unsigned`` ops see the bits of their operands as unsigned integers.
    """

    call: str
    on_bool: str | None = None
    unsigned: bool = False


SCALAR_OPS: dict[str, ScalarOp] = {
    # integers: they wrap around, as NumPy's arrays do
    "arith.addi": ScalarOp("add", on_bool="not_equal"),
    "arith.subi": ScalarOp("subtract", on_bool="not_equal"),
    "arith.muli": ScalarOp("multiply", on_bool="logical_and"),
    "arith.divsi": ScalarOp("divide_to_zero", on_bool="logical_and"),
    "arith.divui": ScalarOp("floor_divide", on_bool="logical_and", unsigned=True),
    "arith.floordivsi": ScalarOp("floor_divide", on_bool="logical_and"),
    "arith.ceildivsi": ScalarOp("ceil_divide", on_bool="logical_and"),
    "arith.ceildivui": ScalarOp("ceil_divide", on_bool="logical_and", unsigned=True),
    "arith.andi": ScalarOp("bitwise_and"),
    "arith.ori": ScalarOp("bitwise_or"),
    "arith.xori": ScalarOp("bitwise_xor"),
    "arith.shli": ScalarOp("left_shift", on_bool="greater"),  # one bit is shifted out
    "arith.shrui": ScalarOp("right_shift", on_bool="greater", unsigned=True),
    "arith.maxsi": ScalarOp("maximum", on_bool="logical_and"),  # as a signed number, true is -1
    "arith.minsi": ScalarOp("minimum", on_bool="logical_or"),
    "arith.maxui": ScalarOp("maximum", on_bool="logical_or", unsigned=True),
    "arith.minui": ScalarOp("minimum", on_bool="logical_and", unsigned=True),
    # floats
    "arith.addf": ScalarOp("add"),
    "arith.subf": ScalarOp("subtract"),
    "arith.mulf": ScalarOp("multiply"),
    "arith.divf": ScalarOp("divide"),
    "arith.remf": ScalarOp("fmod"),
    "arith.negf": ScalarOp("negative"),
    "arith.maxnumf": ScalarOp("fmax"),
    "arith.minnumf": ScalarOp("fmin"),
    # choice
    "arith.select": ScalarOp("select", on_bool="select_bool"),
    # math
    "math.absf": ScalarOp("absolute"),
    "math.absi": ScalarOp("absolute", on_bool="positive_bool"),
    "math.acos": ScalarOp("arccos"),
    "math.acosh": ScalarOp("arccosh"),
    "math.asin": ScalarOp("arcsin"),
    "math.asinh": ScalarOp("arcsinh"),
    "math.atan": ScalarOp("arctan"),
    "math.atan2": ScalarOp("arctan2"),
    "math.atanh": ScalarOp("arctanh"),
    "math.cbrt": ScalarOp("cbrt"),
    "math.ceil": ScalarOp("ceil"),
    "math.copysign": ScalarOp("copysign"),
    "math.cos": ScalarOp("cos"),
    "math.cosh": ScalarOp("cosh"),
    "math.ctlz": ScalarOp("count_leading_zeros", on_bool="logical_not", unsigned=True),
    "math.ctpop": ScalarOp("count_ones", on_bool="positive_bool", unsigned=True),
    "math.cttz": ScalarOp("count_trailing_zeros", on_bool="logical_not", unsigned=True),
    "math.erf": ScalarOp("erf"),
    "math.erfc": ScalarOp("erfc"),
    "math.exp": ScalarOp("exp"),
    "math.exp2": ScalarOp("exp2"),
    "math.expm1": ScalarOp("expm1"),
    "math.floor": ScalarOp("floor"),
    "math.ipowi": ScalarOp("integer_power", on_bool="greater_equal"),
    "math.isfinite": ScalarOp("isfinite"),
    "math.isinf": ScalarOp("isinf"),
    "math.isnan": ScalarOp("isnan"),
    "math.isnormal": ScalarOp("is_normal"),
    "math.log": ScalarOp("log"),
    "math.log10": ScalarOp("log10"),
    "math.log1p": ScalarOp("log1p"),
    "math.log2": ScalarOp("log2"),
    "math.powf": ScalarOp("power"),
    "math.round": ScalarOp("round_half_away"),
    "math.roundeven": ScalarOp("rint"),
    "math.sin": ScalarOp("sin"),
    "math.sinh": ScalarOp("sinh"),
    "math.sqrt": ScalarOp("sqrt"),
    "math.tan": ScalarOp("tan"),
    "math.tanh": ScalarOp("tanh"),
    "math.trunc": ScalarOp("trunc"),
}
