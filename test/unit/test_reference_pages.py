"""``docs/passes.md`` and ``docs/dialect.md`` are complete and true."""

import re
import runpy
from pathlib import Path

import pytest

from ipu_mlir.compilation.kernels import ALL_PASSES
from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module

DOCS = Path(__file__).parents[2] / "docs"
PASSES_PAGE = (DOCS / "passes.md").read_text()
DIALECT_PAGE = (DOCS / "dialect.md").read_text()


def test_page_of_passes_is_what_pipelines_and_docstrings_say():
    writer = runpy.run_path(str(DOCS.parent / "scripts" / "write_passes_page.py"))
    assert writer["with_reference"](PASSES_PAGE) == PASSES_PAGE, "run python scripts/write_passes_page.py"
    headings = [line.strip("# `") for line in PASSES_PAGE.splitlines() if line.startswith("#### ")]
    assert sorted(headings) == sorted(ALL_PASSES)
    assert headings.index("ipu-partition") < headings.index("ipu-place-tensors") < headings.index("ipu-form-supersteps")


def test_page_of_program_calls_is_what_their_table_says():
    writer = runpy.run_path(str(DOCS.parent / "scripts" / "write_program_calls_page.py"))
    page = (DOCS / "program-calls.md").read_text()
    assert writer["with_table"](page) == page, "run python scripts/write_program_calls_page.py"


def test_page_of_models_is_what_their_results_say():
    writer = runpy.run_path(str(DOCS.parent / "scripts" / "write_models_page.py"))
    page = (DOCS / "models.md").read_text()
    assert writer["with_table"](page) == page, "run python scripts/write_models_page.py"


@pytest.mark.parametrize("pass_class", ALL_PASSES.values(), ids=lambda pass_class: pass_class.name)
def test_docstring_says_what_the_pass_needs_and_leaves(pass_class):
    assert "Needs:" in pass_class.__doc__
    assert "Leaves:" in pass_class.__doc__


def test_every_op_and_attribute_has_a_section():
    defined = {getattr(ipu, name) for name in ipu.__all__}
    ops = {cls.OPERATION_NAME for cls in defined if hasattr(cls, "OPERATION_NAME")}
    attributes = {f"#{cls.attr_name}" for cls in defined if hasattr(cls, "attr_name")}
    assert ops
    assert attributes
    headings = re.findall(r"^### (`.*`)$", DIALECT_PAGE, re.MULTILINE)
    assert {name for heading in headings for name in re.findall(r"`([^`]*)`", heading)} == ops | attributes


def mlir_blocks(page):
    return re.findall(r"^```mlir\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", [*mlir_blocks(DIALECT_PAGE), *mlir_blocks(PASSES_PAGE)])
def test_ir_of_the_pages_is_valid(text):
    module = parse_module(text, ipu.context())
    assert module.operation.verify()
