"""``ipu.noise``, ``ipu.round``, ``ipu.saturate``, ``ipu.is_sound``: how the operation that gives a float behaves.

They stand in bodies, behind the operation that they are about. On the machine they are modes of its arithmetic
units, and take no time.
"""

from typing import Any

from ipu_mlir.dialects.analysis.effects import NO_EFFECTS
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier

OVERFLOW = ("infinity", "clip", "nan")
"""What a number beyond the largest of its type becomes."""

EXCEPTIONS = ("inv", "div0", "oflo")
"""An operation that has no result, a division by zero or another pole, and a result that is too large."""


class NoiseOp(Ipu.Operation, name="noise", traits=[ext.Pure]):
    """Random bits for an iteration: those of a key or of another noise, stirred with an index.

        %n = "ipu.noise"(%key, %i) : (i32, index) -> i32

    They are ``x = key + i * 0x9E3779B9`` after ``x ^= x >> 16; x *= 0x7FEB352D; x ^= x >> 15; x *= 0x846CA68B;
    x ^= x >> 16`` in unsigned arithmetic of 32 bits (Wellons, "Prospecting for hash functions", 2018).
    """

    key: ext.Operand[Any]
    index: ext.Operand[Any]
    bits: ext.Result[Any]
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        types = op.key.type, op.index.type, op.bits.type
        expected = "i32", "index", "i32"
        return tuple(map(str, types)) == expected or fail(
            op, f"stirs {types[0]} with {types[1]} to {types[2]}; it takes an i32 and an index, and gives an i32"
        )


class RoundOp(Ipu.Operation, name="round", traits=[ext.Pure]):
    """The number that the operation before gives if it rounds at random, up as often as what is cut off is of a step.

        %y0 = arith.addf %a, %b : f16
        %y = "ipu.round"(%y0, %n) {overflow = "clip"} : (f16, i32) -> f16

    The operation gives its result in f32; the lowest bits of ``%n``, as many as f32 has more, are added to its
    magnitude, and cut off. In subnormal numbers they are as much of a step. A number that is no result of an operation
    in its block stays. ``overflow`` says what is beyond the largest number: ``infinity``, ``clip``, or ``nan``.
    """

    source: ext.Operand[Any]
    noise: ext.Operand[Any]
    rounded: ext.Result[Any]
    overflow: ir.StringAttr
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        if str(op.noise.type) != "i32":
            return fail(op, f"takes noise of type {op.noise.type}; give it the i32 of an ipu.noise")
        return _is_narrow_float(op, op.rounded.type)


class SaturateOp(Ipu.Operation, name="saturate", traits=[ext.Pure]):
    """The number that the operation before gives if what is too large for the type is the largest number, or NaN.

        %y0 = arith.mulf %a, %b : f16
        %y = "ipu.saturate"(%y0) {overflow = "clip"} : (f16) -> f16

    Infinities stay that operands bring along, and those of a pole, such as 1 / 0.
    """

    source: ext.Operand[Any]
    rounded: ext.Result[Any]
    overflow: ir.StringAttr
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        return _is_narrow_float(op, op.rounded.type)


def _is_narrow_float(op: Any, kind: ir.Type) -> bool:
    overflow = ir.StringAttr(op.operation.attributes["overflow"]).value
    if str(kind) not in ("f16", "bf16") or op.source.type != kind:
        return fail(op, f"gives {kind} for {op.source.type}; both are f16, or both bf16")
    return overflow in OVERFLOW or fail(op, f"has overflow = {overflow!r}, expected one of {', '.join(OVERFLOW)}")


class IsSoundOp(Ipu.Operation, name="is_sound", traits=[ext.Pure]):
    """False where the operation that gave the float raises an exception.

        %ok = "ipu.is_sound"(%y) {exception = "oflo"} : (f16) -> i1

    ``inv``: it gives NaN for operands without one. ``div0``: it divides a finite number by 0, or is at another pole.
    ``oflo``: its result for finite operands is too large for the type. A float that no operation of the block gives,
    such as a sum, is sound if it is no NaN for ``inv``, and finite or NaN for ``oflo``.
    """

    source: ext.Operand[Any]
    sound: ext.Result[Any]
    exception: ir.StringAttr
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        exception = ir.StringAttr(op.operation.attributes["exception"]).value
        if not isinstance(op.source.type, ir.FloatType) or str(op.sound.type) != "i1":
            return fail(op, f"gives {op.sound.type} for {op.source.type}; it asks a float and gives an i1")
        return exception in EXCEPTIONS or fail(
            op, f"asks for exception {exception!r}, expected one of {', '.join(EXCEPTIONS)}"
        )
