"""Each call of a kernel beside the function of NumPy, or ours, that generated source would call."""

from functools import partial

import numpy as np
import pytest

from ipu_mlir.runtime.engine import engine
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.engine.native import machine_code
from ipu_mlir.runtime.numeric import function
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements.expression import Apply, Read
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Origin, Program
from ipu_mlir.runtime.translator.translate import translate_statements

INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
FLOATS = ("f4", "f8")
ARITHMETIC = ("add", "subtract", "multiply", "maximum", "minimum")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
OF_INTEGERS = ("floor_divide", "ceil_divide", "divide_to_zero", "fmod", "remainder", "left_shift", "right_shift")
OF_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
OF_BOOLS = ("logical_and", "logical_or", "logical_xor")
OF_FLOATS = ("divide", "fmax", "fmin", "larger", "smaller", "copysign")
ROUNDINGS = ("floor", "ceil", "trunc", "rint", "round_half_away", "sqrt", "negative", "absolute")
TESTS = ("isnan", "isinf", "isfinite")

KINDS = [
    *((call, kind, kind) for call in ARITHMETIC for kind in (*INTEGERS, *FLOATS)),
    *((call, kind, "?") for call in COMPARISONS for kind in (*INTEGERS, *FLOATS, "?")),
    *((call, kind, kind) for call in OF_INTEGERS for kind in INTEGERS),
    *((call, kind, kind) for call in OF_BITS for kind in (*INTEGERS, "?")),
    *((call, "?", "?") for call in OF_BOOLS),
    *((call, kind, kind) for call in OF_FLOATS for kind in FLOATS),
    *((call, kind, kind) for call in ROUNDINGS for kind in FLOATS),
    *((call, kind, "?") for call in TESTS for kind in FLOATS),
    *(("saturated_integer", kind, to) for kind in FLOATS for to in INTEGERS),
    *(("absolute", kind, kind) for kind in INTEGERS),
    *(("negative", kind, kind) for kind in INTEGERS),
    *(("invert", kind, kind) for kind in (*INTEGERS, "?")),
    ("logical_not", "?", "?"),
    ("round_to_f16", "f4", "f4"),
    ("round_to_bf16", "f4", "f4"),
    ("f16_of_bits", "i2", "f4"),
    ("bf16_of_bits", "i2", "f4"),
]
SIGNED_ZEROS = {"larger", "smaller", "copysign", *ROUNDINGS}
UNARY = {*ROUNDINGS, *TESTS, "saturated_integer", "absolute", "negative", "invert", "logical_not"}
UNARY |= {"round_to_f16", "round_to_bf16", "f16_of_bits", "bf16_of_bits"}


def edges(dtype: np.dtype) -> np.ndarray:
    """Numbers at which calls go wrong."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        found = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 1, -1, 127.9, 128, 255.5, -129, 65504, 65519, 65520]
        found += [np.inf, -np.inf, np.nan, limits.max, limits.tiny, -limits.tiny / 4, 2.0**31, -(2.0**31), 2.0**63, 3e9]
        found += [2.0**-25, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 2.0**-15, 1e-40]
        return np.array(found, dtype)
    limits = np.iinfo(dtype)
    return np.array([0, 1, 2, 3, 5, 7, 8, 15, 31, 63, limits.max, limits.max - 1, limits.min, limits.min + 1], dtype)


Case = tuple[str, list[np.ndarray], str]


def computed(cases: list[Case]) -> list[np.ndarray]:
    """Calls of arrays by a kernel, each once on vectors and once on single numbers, with the same bits."""
    arguments, statements, results, inputs = [], [], [], []
    for call, arrays, to in cases:
        count, dtype = len(arrays[0]), np.dtype(to)
        names = [Buffer(f"a{len(inputs) + i}", count, a.dtype, Role.ARGUMENT, (count,)) for i, a in enumerate(arrays)]
        arguments += names
        inputs += arrays
        for stride in (1, 2):  # what is stored apart is no vector
            out = Buffer(f"out{len(results)}", stride * count, dtype, Role.TEMPORARY, (stride * count,), mutable=True)
            value = Apply(dtype, call, tuple(Read(b.dtype, Access(b, 0, (1,))) for b in names))
            statements.append(Elementwise((count,), Origin("test", ""), (Access(out, 0, (stride,)),), (value,)))
            results.append(Access(out, 0, (1,)))
    shapes = tuple((access.buffer.elements,) for access in results)
    program = Program("main", tuple(arguments), tuple(statements), tuple(results), shapes)
    translation = translate_statements(program, TranslatorOptions(kernels="always"))
    assert translation.source.count(".run(") == 1, "one kernel takes them all"
    found = Engine.of(translation).run(inputs)
    for vectors, numbers in zip(found[::2], found[1::2], strict=True):
        bits = f"u{vectors.itemsize}"
        np.testing.assert_array_equal(vectors.view(bits), numbers[::2].view(bits))
    return found[::2]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("call", dict.fromkeys(call for call, _, _ in KINDS))
def test_as_numpy(call: str) -> None:
    cases, wanted = [], []
    for kind, to in ((kind, to) for name, kind, to in KINDS if name == call):
        some = edges(np.dtype(kind))
        arrays = [some] if call in UNARY else [each.ravel() for each in np.meshgrid(some, some)]
        if call in ("left_shift", "right_shift") and kind[0] == "i":
            arrays[1] = arrays[1] & 127  # NumPy does not say what a negative one does
        with np.errstate(all="ignore"):
            want = np.empty(arrays[0].shape, to)
            function(call)(*arrays, out=want)
        cases.append((call, arrays, to))
        wanted.append(want)
    for got, want in zip(computed(cases), wanted, strict=True):
        np.testing.assert_array_equal(got, want)
        if want.dtype.kind == "f" and call in SIGNED_ZEROS:
            numbers = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])


@pytest.mark.parametrize("level", [0, 2, 3])
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(call, marks=() if call in ("saturated_integer", "round_to_f16", "larger") else pytest.mark.slow)
        for call in dict.fromkeys(call for call, _, _ in KINDS)
    ],
)
def test_llvm_takes_each_call_at_every_level(call: str, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "machine_code", partial(machine_code, level=level))
    test_as_numpy(call)


@pytest.mark.parametrize("call", ["bits_of_f16", "bits_of_bf16"])
def test_bits_of_narrow_numbers(call: str) -> None:
    numbers = np.arange(-(2**15), 2**15, 7).astype(np.int16)
    number = np.empty(numbers.shape, np.float32)
    function(call.removeprefix("bits_of_") + "_of_bits")(numbers, number)
    is_number = ~np.isnan(number)
    np.testing.assert_array_equal(computed([(call, [number[is_number]], "i2")])[0], numbers[is_number])


def test_integers_as_other_numbers() -> None:
    cases: list[Case] = [
        ("cast", [edges(np.dtype(kind))], to) for kind in INTEGERS for to in (*FLOATS, *INTEGERS) if kind != to
    ]
    for (_, (some,), to), got in zip(cases, computed(cases), strict=True):
        np.testing.assert_array_equal(got, some.astype(to))


def test_bounds_that_are_zeros_of_either_sign() -> None:
    some = np.float32([0.0, -0.0, 1, -1, np.nan, np.inf])
    arrays = [each.ravel() for each in np.meshgrid(some, np.float32([0.0, -0.0, 0.5]), np.float32([0.0, 1]))]
    with np.errstate(all="ignore"):
        want = function("clip")(*arrays)
    np.testing.assert_array_equal(computed([("clip", arrays, "f4")])[0], want)
