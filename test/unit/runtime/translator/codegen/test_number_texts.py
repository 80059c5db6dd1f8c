"""Which calls go through a memoryview."""

import numpy as np
import pytest

from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role, row_major
from ipu_mlir.runtime.translator.array_ir.expression import LoopNumber
from ipu_mlir.runtime.translator.array_ir.iota import INDEX
from ipu_mlir.runtime.translator.array_ir.statements import Origin
from ipu_mlir.runtime.translator.codegen.number_texts import number_text, stores_element
from ipu_mlir.runtime.translator.codegen.schedule import Call, View

_I = LoopNumber(INDEX, Buffer("count", 1, INDEX, Role.TEMPORARY))


def _view(dtype: str, *shape: int) -> View:
    buffer = Buffer("x", int(np.prod(shape)), np.dtype(dtype), Role.TEMPORARY, shape)
    return View(buffer, buffer.dtype, 0, shape, row_major(shape))


@pytest.mark.parametrize(
    ("template", "value", "out", "expected"),
    [
        ("{out}[{1}] = {0}", _view("i4"), _view("i4", 5), True),
        ("{out}[{1}, {1} + 1] = {0}", _view("i4"), _view("i4", 5, 6), True),
        ("if 0 <= {1} < 5: {out}[{1}] = {0}", _view("i4"), _view("i4", 5), True),
        ("{out}[{1}] = {0}", _view("i4"), _view("i4", 5, 6), False),  # a whole row
        ("{out}[{1}] = {0}", _view("i4", 6), _view("i4", 5, 6), False),
        ("{out}[{1}:{1} + 2] = {0}", _view("i4"), _view("i4", 5), False),
        ("{out}[{1}] = {0}", _view("f4"), _view("f4", 5), False),
    ],
)
def test_one_integer_is_stored_through_a_memoryview(template, value, out, expected):
    assert stores_element(Call(template, (value, _I), out, Origin("", ""))) is expected


@pytest.mark.parametrize(
    ("template", "source", "expected"),
    [
        ("copyto({out}, {0}[{1}, 2], 'unsafe')", _view("i4", 5, 6), "e[i, 2]"),
        ("copyto({out}, {0}[{1}, 2], 'unsafe')", _view("f4", 5, 6), "x[i, 2]"),
        ("copyto({out}, {0}[{1}], 'unsafe')", _view("i4", 5, 6), None),  # a row is no number
    ],
)
def test_one_element_is_read(template, source, expected):
    out = View(source.buffer, source.dtype, 0, (), ())
    call = Call(template, (source, _I), out, Origin("", ""))
    assert number_text(call, ["x", "i"], elements=lambda _: "e") == expected


@pytest.mark.parametrize("function", ["left_shift", "right_shift"])
@pytest.mark.parametrize("dtype", ["u4", "i4", "i1", "u1"])
def test_shifts_by_amounts_of_run_time_are_those_of_numpy(function, dtype):
    kind = np.dtype(dtype)
    call = Call(f"{function}({{0}}, {{1}}, {{out}})", (_view(dtype), _view(dtype)), _view(dtype), Origin("", ""))
    code = number_text(call, ["x", "amount"])
    assert code is not None
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    amounts = [0, 1, 5, 8 * kind.itemsize - 1, 8 * kind.itemsize, high, *([-1, low] if low else [])]
    for x in (low, -3 if low else 3, 0, 1, 77, high):
        for amount in amounts:
            expected = getattr(np, function)(kind.type(x), kind.type(amount))
            assert eval(code, {"x": x, "amount": amount}) == expected, (x, amount)
