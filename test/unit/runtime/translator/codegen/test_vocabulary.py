"""Source that does what no emitter writes is not run, and names of a program cannot reach what the source calls."""

import ast

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.text import identifier
from ipu_mlir.runtime.engine.program_memory import Memory
from ipu_mlir.runtime.translator.codegen.names import Names
from ipu_mlir.runtime.translator.codegen.vocabulary import FUNCTIONS, code_of
from ipu_mlir.runtime.translator.translation import Translation

_SOURCE = '''\
"""What emitters write."""

from numpy import add, inf
from ipu_mlir.runtime.numeric import require


def build(memory):
    f_inf = memory.scalar(-inf, 'f4')
    x = memory.temporary(0, 'f4', (4,))

    def main(arg0, result0):
        for i in range(0, int(x), 2):
            if not x:
                result0[:, i] = x
        while True:
            break
        add.reduce(arg0, 0, None, result0)
        add(arg0, f_inf, result0.view('i4').T)
        require(x, 'a message')

    return main
'''


def test_what_emitters_write_passes() -> None:
    code_of(_SOURCE)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("__import__('os')", "a call of __import__"),
        ("exec('1')", "a call of exec"),
        ("eval(arg0)", "a call of eval"),
        ("open('file')", "a call of open"),
        ("getattr(arg0, 'ctypes')", "a call of getattr"),
        ("main(arg0, result0)", "a call of main"),
        ("arg0(1)", "a call of arg0"),
        ("add.reduce.__self__", "the attribute __self__"),
        ("arg0.__class__.__bases__", "the attribute __bases__"),
        ("arg0.tofile('x')", "the attribute tofile"),
        ("memory._constants", "the attribute _constants"),
        ("arg0.shape = (1,)", "the attribute shape"),
        ("import os", "a Import"),
        ("from os import system", "an import of system from os"),
        ("from numpy import load", "an import of load from numpy"),
        ("from numpy import add as y", "an import of add from numpy"),
        ("from .numpy import add", "an import of add from numpy"),
        ("from numpy import *", "an import of \\* from numpy"),
        ("(lambda: 1)()", "a Lambda"),
        ("y = lambda: 1", "a Lambda"),
        ("[i for i in arg0]", "a ListComp"),
        ("x = f'{arg0}'", "a JoinedStr"),
        ("global x", "a Global"),
        ("del arg0", "a Delete"),
        ("raise arg0", "a Raise"),
        ("class y: pass", "a ClassDef"),
        ("with arg0: pass", "a With"),
        ("arg0 @ arg0", "a MatMult"),
        ("add = arg0", "the name add, which is taken"),
        ("range = arg0", "the name range, which is taken"),
        ("__builtins__ = arg0", "the name __builtins__, which is taken"),
        ("y = __builtins__", "the name __builtins__, which is nothing"),
        ("add(arg0, system)", "the name system, which is nothing"),
        ("def run(a=print): pass", "a function with more than parameters"),
        ("def run() -> arg0: pass", "a function with more than parameters"),
        ("@memory.scalar\n        def run(): pass", "a function with more than parameters"),
        ("x = )", "unmatched"),
    ],
)
def test_anything_else_is_refused(line: str, found: str) -> None:
    hostile = _SOURCE.replace("        add(arg0", f"        {line}\n        add(arg0")
    assert hostile != _SOURCE
    with pytest.raises(CompileError, match=f"has .*{found}"):
        code_of(hostile)


def test_source_that_is_no_source_is_refused() -> None:
    for source in ("x\0", "(" * 3000, "\ud800"):
        with pytest.raises(CompileError, match="no emitter writes"):
            code_of(source)


def test_source_runs_without_other_builtins() -> None:
    source = "def build(memory):\n    return memory.constant\n"
    build = Translation(source, (), (), 0, {}).compiled()
    assert set(build.__globals__["__builtins__"]) == {"__import__", "int", "range"}
    assert build(Memory(0, {"x": np.array(3)}, 1))("x") == 3


_WISHES = [
    "",
    " ",
    "1",
    "a b; import os",
    "x\ny",
    '"""',
    "'",
    "é",
    "ﬁ",
    "fi",
    "µ",
    "μ",
    "ª",
    "__class__",
    "__",
    "_",
    "None",
    "class",
]
_WISHES += [
    "match",
    "a" * 500,
    "inf",
    "nan",
    "add",
    "memory",
    "run",
    "range",
    "require",
    "\ud800",
    "{}",
    "%s",
    "x-y",
    "x.y",
    "x_y",
]


def test_names_are_identifiers_that_nothing_else_has() -> None:
    names = Names()
    given = [names.fresh(wish) for wish in _WISHES * 3]
    assert len(set(given)) == len(given)
    for name in given:
        assert name.isascii() and name.isidentifier() and len(name) < 70 and not name.startswith("__")
        assert name not in FUNCTIONS
        ast.parse(f"{name} = 1")  # no keyword


def test_a_name_that_is_one_stays() -> None:
    assert [identifier(name) for name in ("x", "arg0", "_w", "weights_2x3")] == ["x", "arg0", "_w", "weights_2x3"]


@pytest.mark.parametrize(
    "wish", [*_WISHES[:-20], *sorted(FUNCTIONS)[::9], "blocks", "block", "arg0", "result0", "i", "alloc"]
)
def test_a_constant_may_have_any_name(wish: str) -> None:
    quoted = "".join(f"\\{byte:02X}" for byte in wish.encode(errors="replace"))
    if not wish:
        return  # MLIR has no symbol without a name
    text = f"""
    memref.global "private" constant @"{quoted}" : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
    func.func @main(%x: memref<4xf32>) -> memref<4xf32> {{
      %c = memref.get_global @"{quoted}" : memref<4xf32>
      %y = memref.alloc() : memref<4xf32>
      linalg.add ins(%x, %c : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
      return %y : memref<4xf32>
    }}
    """
    from ipu_mlir.dialects import ipu as dialect
    from ipu_mlir.dialects.support.parsing import parse_module
    from ipu_mlir.runtime.engine.engine import Engine

    (found,) = Engine(parse_module(text, dialect.context())).run([[0.0, 0.0, 0.0, 1.0]])
    assert found.tolist() == [1.0, 2.0, 3.0, 5.0]


@pytest.mark.parametrize("name", ['"""', "\\", 'm"""\nimport os\n"""', "def build", "{}", "\u202e", "x" * 5000, "main"])
def test_a_function_may_have_any_name(name: str) -> None:
    quoted = "".join(f"\\{byte:02X}" for byte in name.encode())
    text = f'func.func @"{quoted}"(%x: tensor<2xf32>) -> tensor<2xf32> {{\n return %x : tensor<2xf32>\n}}'
    executable = ipu.compile(text, entry=name, target=ipu.Target(tiles_per_ipu=2))
    assert executable.run([[1.0, 2.0]])[0].tolist() == [1.0, 2.0]
    assert len(executable.source()) < 1000
