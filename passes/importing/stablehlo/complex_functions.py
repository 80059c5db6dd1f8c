"""Functions of complex numbers on their real and imaginary parts, as ops of StableHLO."""

from math import inf

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.importing.stablehlo.builders import full, stablehlo_op

Parts = tuple[ir.Value, ir.Value]


def same(name: str, *operands: ir.Value) -> ir.Value:
    """An op on elements of tensors of one type, of the dialect."""
    return stablehlo_op(f"stablehlo.{name}", operands[0].type, operands)


def compared(first: ir.Value, second: ir.Value, direction: str) -> ir.Value:
    """Where ``first`` stands to ``second`` as ``direction`` says."""
    truths = ir.RankedTensorType.get(list(first.type.shape), ir.IntegerType.get_signless(1))
    attribute = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    return stablehlo_op("stablehlo.compare", truths, [first, second], {"comparison_direction": attribute})


def chosen(condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
    """``yes`` where ``condition`` holds, else ``no``."""
    return stablehlo_op("stablehlo.select", yes.type, [condition, yes, no])


def multiply(x: Parts, y: Parts) -> Parts:
    """As it is defined."""
    (a, b), (c, d) = x, y
    real = same("subtract", same("multiply", a, c), same("multiply", b, d))
    return real, same("add", same("multiply", a, d), same("multiply", b, c))


def divide(x: Parts, y: Parts) -> Parts:
    """Scaled by the larger part of the divisor, so that squares do not overflow."""
    (a, b), (c, d) = x, y
    is_real = compared(same("abs", c), same("abs", d), "GE")
    large, small = chosen(is_real, c, d), chosen(is_real, d, c)
    zero = full(large.type, 0)
    ratio = chosen(compared(large, zero, "EQ"), zero, same("divide", small, large))
    scale = same("add", large, same("multiply", small, ratio))
    one, other = chosen(is_real, a, b), chosen(is_real, b, a)
    real = same("add", one, same("multiply", other, ratio))
    difference = same("subtract", other, same("multiply", one, ratio))
    imaginary = chosen(is_real, difference, same("negate", difference))
    return same("divide", real, scale), same("divide", imaginary, scale)


def length(x: Parts) -> ir.Value:
    """Scaled by the larger part, as ``hypot``."""
    first, second = (same("abs", each) for each in x)
    large, small = same("maximum", first, second), same("minimum", first, second)
    ratio = chosen(compared(large, full(large.type, 0), "EQ"), full(large.type, 0), same("divide", small, large))
    scale = same("sqrt", same("add", full(large.type, 1), same("multiply", ratio, ratio)))
    return chosen(compared(large, full(large.type, inf), "EQ"), large, same("multiply", large, scale))


def exponential(x: Parts) -> Parts:
    """A length and an angle."""
    size = same("exponential", x[0])
    return same("multiply", size, same("cosine", x[1])), same("multiply", size, same("sine", x[1]))


def log(x: Parts) -> Parts:
    """The principal one: of the length, and the angle."""
    return same("log", length(x)), same("atan2", x[1], x[0])


def log_plus_one(x: Parts) -> Parts:
    """Of numbers near 0 as exact as of others: the length of 1 + x is 1 and a little."""
    a, b = x
    one = full(a.type, 1)
    little = same("add", same("multiply", a, same("add", full(a.type, 2), a)), same("multiply", b, b))
    return same("multiply", full(a.type, 0.5), same("log_plus_one", little)), same("atan2", b, same("add", one, a))


def exponential_minus_one(x: Parts) -> Parts:
    """``expm1(a) cos(b) - 2 sin(b / 2)**2``, in which nothing cancels near 0."""
    a, b = x
    of_half = same("sine", same("multiply", b, full(b.type, 0.5)))
    lost = same("multiply", full(b.type, 2), same("multiply", of_half, of_half))
    real = same("subtract", same("multiply", same("exponential_minus_one", a), same("cosine", b)), lost)
    return real, exponential(x)[1]


def sqrt(x: Parts) -> Parts:
    """The one with a positive real part."""
    a, b = x
    half, zero = full(a.type, 0.5), full(a.type, 0)
    large = same("sqrt", same("multiply", half, same("add", same("abs", a), length(x))))
    is_zero = compared(large, zero, "EQ")
    small = chosen(is_zero, zero, same("divide", same("multiply", half, same("abs", b)), large))
    is_right = compared(a, zero, "GE")
    imaginary = chosen(is_right, small, large)
    return chosen(is_right, large, small), chosen(compared(b, zero, "LT"), same("negate", imaginary), imaginary)


def rsqrt(x: Parts) -> Parts:
    """1 over the root."""
    return divide((full(x[0].type, 1), full(x[0].type, 0)), sqrt(x))


def sign(x: Parts) -> Parts:
    """Of length 1; 0 of 0."""
    size, zero = length(x), full(x[0].type, 0)
    is_zero = compared(size, zero, "EQ")
    real, imaginary = (chosen(is_zero, zero, same("divide", part, size)) for part in x)
    return real, imaginary


def power(x: Parts, y: Parts) -> Parts:
    """``exp(y log(x))``; of 0, 1 where the power is 0, and 0 elsewhere."""
    found = exponential(multiply(y, log(x)))
    zero, one = full(x[0].type, 0), full(x[0].type, 1)
    is_zero = compared(length(x), zero, "EQ")
    at_zero = chosen(compared(length(y), zero, "EQ"), one, zero)
    return chosen(is_zero, at_zero, found[0]), chosen(is_zero, zero, found[1])


def sine(x: Parts) -> Parts:
    """``sin(a) cosh(b) + i cos(a) sinh(b)``."""
    hyperbolic_cosine, hyperbolic_sine = _hyperbolic(x[1])
    return same("multiply", same("sine", x[0]), hyperbolic_cosine), same(
        "multiply", same("cosine", x[0]), hyperbolic_sine
    )


def cosine(x: Parts) -> Parts:
    """``cos(a) cosh(b) - i sin(a) sinh(b)``."""
    hyperbolic_cosine, hyperbolic_sine = _hyperbolic(x[1])
    imaginary = same("multiply", same("sine", x[0]), hyperbolic_sine)
    return same("multiply", same("cosine", x[0]), hyperbolic_cosine), same("negate", imaginary)


def tanh(x: Parts) -> Parts:
    """``(t (1 + u u) + i u (1 - t t)) / (1 + t t u u)`` for ``t = tanh(a)`` and ``u = tan(b)``."""
    t, one = same("tanh", x[0]), full(x[0].type, 1)
    u = same("divide", same("sine", x[1]), same("cosine", x[1]))
    u_squared = same("multiply", u, u)
    hyperbolic_cosine, _ = _hyperbolic(x[0])
    rest = same("divide", same("divide", one, hyperbolic_cosine), hyperbolic_cosine)
    below = same("add", one, same("multiply", same("multiply", t, t), u_squared))
    real = same("divide", same("multiply", t, same("add", one, u_squared)), below)
    return real, same("divide", same("multiply", u, rest), below)


def tan(x: Parts) -> Parts:
    """``-i tanh(i x)``."""
    real, imaginary = tanh((same("negate", x[1]), x[0]))
    return imaginary, same("negate", real)


def logistic(x: Parts) -> Parts:
    """``1 / (1 + exp(-x))``."""
    real, imaginary = exponential((same("negate", x[0]), same("negate", x[1])))
    one = full(real.type, 1)
    return divide((one, full(real.type, 0)), (same("add", one, real), imaginary))


def _hyperbolic(x: ir.Value) -> Parts:
    """Cosine and sine, the latter exact near 0, too."""
    half, minus = full(x.type, 0.5), same("negate", x)
    both = [same("exponential", each) for each in (x, minus)]
    less = [same("exponential_minus_one", each) for each in (x, minus)]
    return same("multiply", half, same("add", *both)), same("multiply", half, same("subtract", *less))
