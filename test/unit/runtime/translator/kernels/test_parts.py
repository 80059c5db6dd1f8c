"""Parts of kernels that do the same elsewhere are one function, whoever has them."""

import re

import numpy as np
import pytest
from support.statement_text import program_of

from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation


def translated(text: str) -> Translation:
    return translate_statements(program_of(text), TranslatorOptions(kernels="always"))


def calls(translation: Translation) -> list[str]:
    """The names of the parts that kernels call, in order."""
    return re.findall(r"llvm\.call @(\w+)", translation.kernels)


def written(translation: Translation) -> dict[str, str]:
    """The attribute of each part, by its name."""
    return dict(re.findall(r"llvm\.func internal @(\w+)\(.*\{(\w+)\}", translation.kernels))


def apart(first: str, second: str) -> str:
    """A program that reads and writes ``%x`` twice, in nests of different lengths between which others are."""
    return f"""program @main(%x) -> (%y[d0] : 40, %z[d0] : 41) {{
  argument %x : float32[256]
  temporary %y : float32[40]
  temporary %z : float32[41] mutable
  elementwise 40 {{
    store {first}, %y[d0]
  }}
  elementwise 41 {{
    store float32(0.0), %z[d0]
  }}
  elementwise 40 {{
    store {second}, %z[d0 + 1]
  }}
}}"""


BODY = "tanh(multiply(%x[d0 + {0}], %x[d0 + {1}]))"


def test_parts_that_differ_in_where_they_begin_are_one_function() -> None:
    found = translated(apart(BODY.format(3, 67), BODY.format(64, 128)))
    first, _, second = calls(found)
    assert first == second
    assert written(found)[first] == "no_inline"
    assert found.kernels.count("math.fma") == translated(apart(BODY.format(3, 67), "%x[d0]")).kernels.count("math.fma")


def test_a_part_that_is_called_once_is_put_where_it_is_called() -> None:
    found = translated(apart(BODY.format(3, 67), "%x[d0]"))
    assert len(set(calls(found))) == 3
    assert set(written(found).values()) == {"always_inline"}


@pytest.mark.parametrize(
    "other",
    [
        BODY.format(64, 129),  # other distances between what is read
        "tanh(multiply(%x[d0 + 64], %x[-1*d0 + 128]))",
        "tanh(multiply(%x[d0 + 64], %x[d0 + 64]))",
        "tanh(add(%x[d0 + 64], %x[d0 + 128]))",
        "tanh(multiply(%x[d0 + 64], float32(0.5)))",
    ],
)
def test_parts_that_do_something_else_are_others(other: str) -> None:
    found = translated(apart(BODY.format(3, 67), other))
    assert len(set(calls(found))) == 3


def test_parts_that_differ_in_a_constant_alone_are_others() -> None:
    first, second = (f"multiply(%x[d0], float32({number}))" for number in (0.0, -0.0))
    found = translated(apart(first, second))
    assert len(set(calls(found))) == 3


def test_what_parts_compute_is_what_numpy_does() -> None:
    x = np.random.default_rng(3).normal(0, 1, 256).astype("f4")
    text = apart("multiply(%x[d0 + 3], %x[d0 + 67])", "multiply(%x[d0 + 64], %x[d0 + 128])")
    y, z = Engine.of(translated(text)).run([x])
    np.testing.assert_array_equal(y, x[3:43] * x[67:107])
    np.testing.assert_array_equal(z, [0, *(x[64:104] * x[128:168])])


def test_a_part_that_is_written_for_one_program_is_right_for_another() -> None:
    """Of the memory that two arrays share, the program says how large it is."""
    x = np.arange(256, dtype="f4")
    for shift in (1, 100, 7):
        text = apart(f"add(%x[d0 + {shift}], float32(1.0))", f"subtract(%x[-1*d0 + {shift + 60}], float32(1.0))")
        y, z = Engine.of(translated(text)).run([x])
        np.testing.assert_array_equal(y, x[shift : shift + 40] + 1)
        np.testing.assert_array_equal(z, [0, *(x[shift + 60 : shift + 20 : -1] - 1)])
