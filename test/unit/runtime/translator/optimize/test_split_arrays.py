"""Small arrays of loops as numbers."""

from itertools import product

import numpy as np
import pytest

from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role
from ipu_mlir.runtime.translator.array_ir.expression import Const
from ipu_mlir.runtime.translator.array_ir.statements import Origin
from ipu_mlir.runtime.translator.codegen.number_texts import is_number_call
from ipu_mlir.runtime.translator.codegen.schedule import COPY, Call, View, template
from ipu_mlir.runtime.translator.optimize.split_arrays import FUNCTIONS, OPERATORS

_F4, _I4, _BOOL = np.dtype("f4"), np.dtype("i4"), np.dtype("?")
_TRUTHS = {"logical_and", "logical_or", "logical_xor", "logical_not"}
_OF_FLOATS = {"divide", *FUNCTIONS}
_OF_INTEGERS = {"bitwise_and", "bitwise_or", "bitwise_xor"}


def _number(dtype: np.dtype) -> View:
    return View(Buffer("x", 1, dtype, Role.TEMPORARY), dtype, 0, (), ())


@pytest.mark.parametrize(("name", "dtype"), list(product(sorted(OPERATORS | FUNCTIONS), [_F4, _I4, _BOOL])))
def test_what_is_done_with_numbers_has_an_expression(name, dtype):
    """Else the numbers of a split array would be arrays of one element, which takes three times as long."""
    if (name in _TRUTHS) != (dtype == _BOOL) and name not in ("select", "select_bool", "equal", "not_equal", "cast"):
        return
    if (dtype == _F4 and name in _OF_INTEGERS) or (dtype == _I4 and name in _OF_FLOATS) or name == "select_bool":
        return
    x = _number(dtype)
    out = x
    if name == "cast":
        call = Call(COPY, (x,), _number(_I4), Origin("", ""))
    elif name == "clip":
        call = Call(template(name, 3), (x, Const.of(0, dtype), Const.of(1, dtype)), out, Origin("", ""))
    elif name == "select":
        call = Call(template(name, 3), (_number(_BOOL), x, x), out, Origin("", ""))
    else:
        count = 1 if name in ("negative", "absolute", "logical_not", *FUNCTIONS) else 2
        out = _number(_BOOL) if "equal" in name or name in ("less", "greater") else x
        call = Call(template(name, count), (x,) * count, out, Origin("", ""))
    assert is_number_call(call), name
