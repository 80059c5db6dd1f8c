"""Names that are there take the arguments that the guide gives them; the page says which are there."""

import ast
import importlib
import inspect
import re
import runpy
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from ipu_mlir.tensorflow import ipu
from ipu_mlir.tensorflow.guide.later import is_later
from ipu_mlir.tensorflow.guide.paths import ROOT as ROOT_NAME
from ipu_mlir.tensorflow.guide.paths import name_in_guide

pytest.importorskip("tensorflow")
ROOT = Path(__file__).parents[4]
WRITER = runpy.run_path(str(ROOT / "scripts" / "write_tensorflow_page.py"))
ROWS, FOUND = WRITER["rows"](), WRITER["found"]


def test_every_name_is_there():
    assert [row.name for row in ROWS if FOUND(row) is None] == []


def test_every_name_of_one_host_works():
    """All but classes that strategies of several hosts are made of."""
    later = [row.name for row in ROWS if row.section not in ("21.9", "21.10") and is_later(FOUND(row))]
    assert later == []


def test_what_comes_later_says_so():
    with pytest.raises(NotImplementedError, match=r"\.IPUMirroredVariable is not there yet; run one process"):
        ipu.ipu_multi_worker_strategy.IPUMirroredVariable()
    assert ipu.ops.pipelining_ops is ipu.pipelining_ops
    strategies = ipu.distributed.ipu_horovod_strategy
    assert ipu.horovod.ipu_horovod_strategy.IPUHorovodStrategy is strategies.IPUHorovodStrategy
    for home in (ipu, ipu.ops, ipu.keras, ipu.optimizers, ipu.serving):
        with pytest.raises(AttributeError, match="has no attribute 'pipelines'"):
            _ = home.pipelines


MODULES = sorted(
    {f"ops.{row.name.split('.')[0]}" for row in ROWS if f"ops.{row.name.split('.')[0]}" in {each.name for each in ROWS}}
    | {row.name.rpartition(".")[0] for row in ROWS if row.kind in ("class", "function", "context manager", "enum")}
)


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_imported_by_their_paths(name):
    module = importlib.import_module(f"ipu_mlir.tensorflow.ipu.{name}")
    found = ipu
    for each in name.split("."):
        found = getattr(found, each)
    assert module is found and inspect.ismodule(module)
    assert isinstance(module.__spec__, ModuleSpec) or is_later(module)
    assert importlib.import_module(name_in_guide(f"{ROOT_NAME}.{name}").join((f"{ROOT_NAME}.", ""))) is module


def test_names_that_a_module_does_not_have_yet_say_so(monkeypatch):
    monkeypatch.delattr(ipu.slicing_ops, "sequence_slice")
    with pytest.raises(NotImplementedError, match=r"ipu\.slicing_ops\.sequence_slice is not there yet$"):
        ipu.ops.slicing_ops.sequence_slice(1)
    with pytest.raises(AttributeError, match="slicing_ops' has no attribute 'slices'"):
        _ = ipu.slicing_ops.slices
    with pytest.raises(ModuleNotFoundError, match="slices_ops"):
        importlib.import_module("ipu_mlir.tensorflow.ipu.slices_ops")
    with pytest.raises(ImportError, match="cannot import name 'slices'"):
        exec("from ipu_mlir.tensorflow.ipu.slicing_ops import slices")


def test_the_page_has_every_name_and_its_state():
    page = (ROOT / "docs" / "tensorflow.md").read_text()
    assert page == WRITER["with_table"](page), "run python scripts/write_tensorflow_page.py"
    assert page.count("\n| ") == len(ROWS) + 1


def test_the_page_of_operators_has_every_one_with_its_tests():
    writer = runpy.run_path(str(ROOT / "scripts" / "write_operators_page.py"))
    cells = [
        [line.split(" | ") for line in text.splitlines() if line.startswith("| 21.")]
        for text in ((ROOT / "docs" / "tensorflow-operators.md").read_text(), writer["page"]())
    ]
    without_tests = [[[*row[:2], *row[3:]] for row in rows] for rows in cells]
    assert without_tests[0] == without_tests[1], "run python scripts/write_operators_page.py"
    names = {file.stem for file in (ROOT / "test" / "e2e" / "guide").rglob("*.py")}
    for row in cells[0]:
        tests = set(row[2].replace("`", "").split(", "))
        assert tests <= names, f"{row[1]}: run python scripts/write_operators_page.py"


def signature_of(text):
    """Names and defaults from a signature of the guide, defaults as text."""
    arguments = ast.parse(f"def f({text.partition('(')[2].rpartition(')')[0]}): pass").body[0].args
    own = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(own) - len(arguments.defaults)) + [ast.unparse(each) for each in arguments.defaults]
    pairs = list(zip([each.arg for each in own], defaults, strict=True))
    kinds = (arguments.kwonlyargs, arguments.kw_defaults)
    return pairs + [(each.arg, default and ast.unparse(default)) for each, default in zip(*kinds, strict=True)]


def text_of(default):
    return re.sub(r"<(\w+)\.(\w+): .*>", r"\1.\2", repr(default))


WITH_SIGNATURE = [row for row in ROWS if "(" in row.signature and row.kind not in ("enum", "config option")]


@pytest.mark.parametrize("row", WITH_SIGNATURE, ids=lambda row: row.name)
def test_parameters_and_defaults_are_those_of_the_guide(row):
    value = FOUND(row)
    if row.name in ("config.AttributeMetadata", "ipu_strategy.IPUStrategy.scope"):
        return  # made by the tree of options; TensorFlow's own
    parameters = [each for each in inspect.signature(value).parameters.values() if each.name != "self"]
    plain = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    found = [(each.name, None if each.default is each.empty else text_of(each.default)) for each in plain]
    assert found == signature_of(row.signature)
