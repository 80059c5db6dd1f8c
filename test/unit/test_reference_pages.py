"""``docs/passes.md`` and ``docs/dialect.md`` are complete and true."""

import re
from pathlib import Path

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.options import options_of
from ipu_mlir.passes.pipelines import PIPELINES

DOCS = Path(__file__).parents[2] / "docs"
PASSES_PAGE = (DOCS / "passes.md").read_text()
DIALECT_PAGE = (DOCS / "dialect.md").read_text()


def rows(page, title):
    """The cells of the first table under the heading ``title``, without its head."""
    section = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def code(cell):
    """The names in backticks."""
    return re.findall(r"`([^`]+)`", cell)


PASS_ROWS = {code(row[0])[0]: row for row in rows(PASSES_PAGE, "The passes")}


def test_every_pass_has_a_row():
    assert sorted(PASS_ROWS) == sorted(pass_class.name for pass_class in PASSES)


@pytest.mark.parametrize("pass_class", PASSES, ids=lambda pass_class: pass_class.name)
def test_row_says_what_the_pass_says(pass_class):
    _, does, *_, options = PASS_ROWS[pass_class.name]
    assert does.replace("`", "") == pass_class.description().replace("`", "")
    assert code(options) == [option.name for option in options_of(pass_class)]


@pytest.mark.parametrize("pass_class", PASSES, ids=lambda pass_class: pass_class.name)
def test_docstring_says_what_the_pass_needs_and_leaves(pass_class):
    assert "Needs:" in pass_class.__doc__
    assert "Leaves:" in pass_class.__doc__


def test_every_pipeline_has_a_row_with_its_passes():
    written = {code(row[0])[0]: code(row[3]) for row in rows(PASSES_PAGE, "Pipelines")}
    assert written == {name: [text.partition("{")[0] for text in texts] for name, texts in PIPELINES.items()}


def test_rows_stand_in_the_order_of_the_pipelines():
    def ran(name):
        parts = PIPELINES.get(name)
        return [name] if parts is None else [inner for part in parts for inner in ran(part.partition("{")[0])]

    order = [name for name in dict.fromkeys(ran("ipu-compile")) if name in PASS_ROWS]
    assert [name for name in PASS_ROWS if name in order] == order


def test_every_op_and_attribute_has_a_section():
    defined = {getattr(ipu, name) for name in ipu.__all__}
    ops = {cls.OPERATION_NAME for cls in defined if hasattr(cls, "OPERATION_NAME")}
    attributes = {f"#{cls.attr_name}" for cls in defined if hasattr(cls, "attr_name")}
    assert ops
    assert attributes
    assert set(re.findall(r"^### `(.*)`$", DIALECT_PAGE, re.MULTILINE)) == ops | attributes


def mlir_blocks(page):
    return re.findall(r"^```mlir\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", [*mlir_blocks(DIALECT_PAGE), *mlir_blocks(PASSES_PAGE)])
def test_ir_of_the_pages_is_valid(text):
    module = parse_module(text, ipu.context())
    assert module.operation.verify()
