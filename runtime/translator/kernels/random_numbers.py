"""Random numbers: words of the generator, then what their codelet makes of them, a few hundred at a time."""

from dataclasses import dataclass, field
from math import prod

import numpy as np

from ipu_mlir.dialects.codelets.random_numbers import (
    END,
    END_BEGINS,
    LEAST,
    LN2,
    LOGARITHM,
    MIDDLE,
    MIDDLE_BEGINS,
    MULTIPLIERS,
    NEAR,
    NEAR_ENDS,
    RANDOM_NUMBERS,
    ROOT_BITS,
    ROUNDS,
    STEPS,
)
from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import vectors
from ipu_mlir.runtime.translator.kernels.scalar.arithmetic import F32, F64, Arithmetic
from ipu_mlir.runtime.translator.kernels.scalar.code import I32, I64, LANES, NoKernel, Value
from ipu_mlir.runtime.translator.kernels.scalar.wide_functions import any_lane
from ipu_mlir.runtime.translator.statements.statements import LibraryCall, Statement

_NAMES = {codelet.name.removeprefix("random_"): codelet.name for codelet in RANDOM_NUMBERS}
_BITS, _UNIFORM, _TRUNCATED = _NAMES["bits"], _NAMES["uniform"], _NAMES["truncated_normal"]

_AT_ONCE = 512  # places of a unit: what is held of them stays in the innermost cache
_CALL_US = 15.0  # of NumPy's generator, which is made anew
NUMBER_US = {_BITS: 0.004, _UNIFORM: 0.004, _NAMES["normal"]: 0.02, _TRUNCATED: 0.02}
"""What a kernel saves of the time of a number."""
_FEWEST_SHARED = 1 << 16
"""Numbers from which several threads share them: half a millisecond."""

Terms = tuple[float, ...]


def random_us(call: LibraryCall) -> float:
    """What a kernel saves of the time of ``call``."""
    return _CALL_US + NUMBER_US[call.codelet] * prod(call.shapes[-1])


def units_of(call: LibraryCall) -> int:
    """The pieces of rows that may be drawn in any order."""
    return prod(call.shapes[-1][:-1]) * -(-call.shapes[-1][-1] // _AT_ONCE)


def is_shared(statement: Statement) -> bool:
    """True if it is worth it to wake threads."""
    is_random = isinstance(statement, LibraryCall) and statement.codelet in NUMBER_US
    return is_random and prod(statement.shapes[-1]) >= _FEWEST_SHARED


def write_random(function: Function, call: LibraryCall, low: int | str = 0, high: int | str | None = None) -> None:
    """Append the loop over the units of ``call`` from ``low`` to below ``high``, or over all."""
    (key,), (out,) = call.inputs, call.outputs
    if out.strides[-1] != 1 and call.shapes[-1][-1] > 1:
        raise NoKernel("random numbers do not lie side by side")
    if function.place(key.buffer) is function.place(out.buffer):
        raise NoKernel("a key lies where the numbers go")
    _Draw(function, call).write(low, units_of(call) if high is None else high)


@dataclass
class _Draw:
    """The loop of ``call``; ``words`` are what the generator gives for the places of a unit."""

    function: Function
    call: LibraryCall
    words: str = field(init=False)
    pieces: int = field(init=False)

    def __post_init__(self) -> None:
        self.code, self.ops = self.function.code, self.function.ops
        self.shape = self.call.shapes[-1]
        self.most = -(-min(self.shape[-1], _AT_ONCE) // LANES) * LANES
        self.pieces = -(-self.shape[-1] // _AT_ONCE)
        self.words = self.code.alloca(8 * self.most)

    def write(self, low: int | str, high: int | str) -> None:
        code, function = self.code, self.function
        with function.loop(high, 1, low) as unit:
            row = code.value(f"arith.divui {unit}, {code.index(self.pieces)} : i64")
            piece = code.value(f"arith.subi {unit}, {function.times(row, self.pieces) or code.index(0)} : i64")
            first = code.value(f"arith.muli {piece}, {code.index(_AT_ONCE)} : i64")
            left = code.value(f"arith.subi {code.index(self.shape[-1])}, {first} : i64")
            count = code.value(f"arith.minsi {left}, {code.index(_AT_ONCE)} : i64")
            key_at, out_at = self._begins(row)
            self._generate(key_at, first, count)
            begin = function.plus(out_at, first) or code.index(0)
            name = self.call.codelet
            if name in (_BITS, _UNIFORM):
                for number, mask in vectors(function, count):
                    self._store(begin, number, self._of_word(function.load(self.words, number, I64, LANES)), mask)
            else:
                self._normal(begin, count)

    def _begins(self, row: str) -> tuple[str | None, str | None]:
        """The elements at which the key and the numbers of a row begin."""
        key, out = self.call.inputs[0], self.call.outputs[0]
        begins: list[str | None] = [self.code.index(access.offset) for access in (key, out)]
        for dimension in reversed(range(len(self.shape) - 1)):
            size = self.code.index(self.shape[dimension])
            outer = self.code.value(f"arith.divui {row}, {size} : i64")
            inner = self.code.value(f"arith.muli {outer}, {size} : i64")
            at = self.code.value(f"arith.subi {row}, {inner} : i64")
            for number, access in enumerate((key, out)):
                begins[number] = self.function.plus(begins[number], self.function.times(at, access.strides[dimension]))
            row = outer
        return begins[0], begins[1]

    def _store(self, begin: str, number: str, value: Value, mask: Value | None = None) -> None:
        out = self.call.outputs[0].buffer
        place = self.function.plus(begin, number) or self.code.index(0)
        self.function.store(self.function.pointer(out), place, value, mask)

    # -- the generator

    def _generate(self, key_at: str | None, first: str, count: str) -> None:
        """The words of ``count`` places from ``first`` on, in whole blocks of four."""
        code, function = self.code, self.function
        key, stream = (self._key_word(key_at, part) for part in (0, 2))
        keys = [(key, code.index(0))]
        for _ in range(ROUNDS - 1):
            moved = [code.value(f"arith.addi {a}, {self._word(b)} : i64") for a, b in zip(keys[-1], STEPS, strict=True)]
            keys.append((moved[0], moved[1]))
        with function.loop(count, 4) as number:
            place = code.value(f"arith.addi {first}, {number} : i64")
            block = code.value(f"arith.shrui {place}, {code.index(2)} : i64")
            lanes = [code.value(f"arith.addi {block}, {code.index(1)} : i64"), stream, code.index(0), code.index(0)]
            for pair in keys:
                first_low, first_high = self._product(lanes[0], MULTIPLIERS[0])
                second_low, second_high = self._product(lanes[2], MULTIPLIERS[1])
                lanes = [self._xor(second_high, lanes[1], pair[0]), second_low,
                         self._xor(first_high, lanes[3], pair[1]), first_low]  # fmt: skip
            for lane, name in enumerate(lanes):
                at = function.plus(number, code.index(lane)) or number
                function.store(self.words, at, Value(name, I64))

    def _key_word(self, key_at: str | None, part: int) -> str:
        """Two integers of the key, the lower one first."""
        access, halves = self.call.inputs[0], []
        for number in (part, part + 1):
            at = self.function.plus(key_at, self.code.index(number * access.strides[-1])) or self.code.index(0)
            half = self.function.load(self.function.pointer(access.buffer), at, I32)
            halves.append(self.ops.convert("arith.extui", half, I64))
        high = self.ops.op("arith.shli", halves[1], self.ops.constant(32, halves[1]))
        return self.ops.op("arith.ori", halves[0], high).name

    def _word(self, number: int) -> str:
        return self.code.index(int(np.uint64(number).view(np.int64)))

    def _product(self, a: str, factor: int) -> tuple[str, str]:
        """The lower and the upper word of a product."""
        low, high = self.code.fresh(), self.code.fresh()
        self.code.line(f"{low}, {high} = arith.mului_extended {a}, {self._word(factor)} : i64")
        return low, high

    def _xor(self, a: str, b: str, c: str) -> str:
        both = self.code.value(f"arith.xori {a}, {b} : i64")
        return self.code.value(f"arith.xori {both}, {c} : i64")

    # -- numbers of words

    def _of_word(self, word: Value) -> Value:
        """Bits and uniform numbers."""
        ops, is_bits = self.ops, self.call.codelet == _BITS
        upper = ops.op("arith.shrui", word, ops.constant(32 if is_bits else 40, word))
        bits = ops.convert("arith.trunci", upper, I32)
        if is_bits:
            return bits
        number = ops.convert("arith.sitofp", bits, F32)
        return ops.op("arith.mulf", number, ops.constant(2.0**-24, number))

    def _share(self, word: Value) -> Value:
        """52 bits behind the point of a number from 1 to 2; each step is exact."""
        ops = self.ops
        bits = ops.op("arith.shrui", word, ops.constant(12, word))
        one = ops.constant(int(np.float64(1).view(np.int64)), word)
        number = ops.bits(ops.op("arith.ori", bits, one), F64)
        share = ops.op("arith.subf", number, ops.constant(1 - 2.0**-53, number))
        if self.call.codelet == _TRUNCATED:
            scaled = ops.op("arith.mulf", share, ops.constant(1 - 2 * LEAST, share))
            share = ops.op("arith.addf", ops.constant(LEAST, share), scaled)
        return share

    def _normal(self, begin: str, count: str) -> None:
        """Near zero for all, then again for the few that are far from it, side by side."""
        code, ops, function = self.code, self.ops, self.function
        shares = code.alloca(8 * self.most)
        for number, mask in vectors(function, count):
            share = self._share(function.load(self.words, number, I64, LANES))
            function.store(shares, number, share)
            centred = ops.op("arith.subf", share, ops.constant(0.5, share))
            value = ops.op("arith.mulf", _ratio(ops, _inner(ops, centred), NEAR), centred)
            self._store(begin, number, ops.convert("arith.truncf", value, F32), mask)
        places, far = code.alloca(8 * self.most), code.alloca(8)
        none = code.constant(0, I64)
        function.write(far, none)
        with function.loop(count) as number:
            known = function.read(far, none)
            function.store(places, known.name, Value(number, I64))
            share = function.load(shares, number, F64)
            inner = _inner(ops, ops.op("arith.subf", share, ops.constant(0.5, share)))
            is_far = ops.convert("arith.extui", ops.compare("olt", inner, ops.constant(0, inner)), I64)
            function.write(far, ops.op("arith.addi", known, is_far))
        found, total = code.alloca(4 * self.most), function.read(far, none).name
        with function.loop(total, LANES) as number:
            where = function.load(places, number, I64, LANES)
            value = self._far(function.gather(shares, where, F64, None, function.code.index(0)))
            function.store(found, number, ops.convert("arith.truncf", value, F32))
        with function.loop(total) as number:
            value = function.load(found, number, F32)
            self._store(begin, function.load(places, number, I64).name, value)

    def _far(self, share: Value) -> Value:
        """Of shares that are far from one half."""
        ops, function = self.ops, self.function
        half, one = ops.constant(0.5, share), ops.constant(1, share)
        side = ops.op("arith.subf", share, half)
        is_low = ops.compare("olt", side, ops.constant(0, share))
        rest = ops.select(is_low, share, ops.op("arith.subf", one, share))
        tail = ops.op("math.sqrt", ops.op("arith.negf", _logarithm(ops, rest)))
        value = _ratio(ops, ops.op("arith.subf", tail, ops.constant(MIDDLE_BEGINS, tail)), MIDDLE)
        held = function.held(value)
        at_end = ops.compare("ogt", tail, ops.constant(END_BEGINS, tail))
        with function.branch(any_lane(ops, at_end)):
            other = _ratio(ops, ops.op("arith.subf", tail, ops.constant(END_BEGINS, tail)), END)
            function.write(held, ops.select(at_end, other, value))
        return ops.op("math.copysign", function.read(held, value), side)


def _inner(ops: Arithmetic, centred: Value) -> Value:
    square = ops.op("arith.mulf", centred, centred)
    return ops.op("arith.subf", ops.constant(NEAR_ENDS, square), square)


def _ratio(ops: Arithmetic, x: Value, factors: tuple[Terms, Terms]) -> Value:
    return ops.op("arith.divf", *(_polynomial(ops, x, each[::-1]) for each in factors))


def _polynomial(ops: Arithmetic, x: Value, factors: Terms) -> Value:
    """The highest power first; each product is rounded, as NumPy has it."""
    total = ops.op("arith.mulf", x, ops.constant(factors[0], x))
    for each in factors[1:-1]:
        total = ops.op("arith.mulf", ops.op("arith.addf", total, ops.constant(each, x)), x)
    return ops.op("arith.addf", total, ops.constant(factors[-1], x))


def _logarithm(ops: Arithmetic, x: Value) -> Value:
    """Of normal positive numbers, as the codelet has it."""
    bits = ops.bits(x, I64)
    moved = ops.op("arith.subi", bits, ops.constant(ROOT_BITS, bits))
    power = ops.op("arith.shrsi", moved, ops.constant(52, bits))
    left = ops.op("arith.subi", bits, ops.op("arith.shli", power, ops.constant(52, bits)))
    near = ops.op("arith.subf", ops.bits(left, F64), ops.constant(1, x))
    s = ops.op("arith.divf", near, ops.op("arith.addf", near, ops.constant(2, x)))
    square = ops.op("arith.mulf", s, s)
    more = ops.op("arith.mulf", _polynomial(ops, square, LOGARITHM), square)
    half = ops.op("arith.mulf", ops.op("arith.mulf", near, near), ops.constant(0.5, x))
    whole = ops.convert("arith.sitofp", power, F64)
    low = ops.op("arith.addf", ops.op("arith.mulf", s, ops.op("arith.addf", half, more)),
                 ops.op("arith.mulf", whole, ops.constant(LN2[1], x)))  # fmt: skip
    rest = ops.op("arith.subf", ops.op("arith.subf", half, low), near)
    return ops.op("arith.subf", ops.op("arith.mulf", whole, ops.constant(LN2[0], x)), rest)
