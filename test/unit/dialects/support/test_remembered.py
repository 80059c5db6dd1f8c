"""Attributes are read once while a program is compiled, and nothing of them is kept afterwards."""

import pytest

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.remembered import analysis, keep_analyses, remembered, remembering

reads: list[str] = []


@remembered
def text_of(attribute: ir.Attribute) -> str:
    reads.append(str(attribute))
    return reads[-1]


@pytest.fixture(autouse=True)
def nothing_read() -> None:
    reads.clear()


def attribute(text: str = "7 : i64") -> ir.Attribute:
    return ir.Attribute.parse(text, ir.Context())


def test_an_attribute_is_read_once_in_a_block_and_anew_after_it():
    seven = attribute()
    with remembering():
        assert [text_of(seven), text_of(seven)] == ["7 : i64"] * 2
        assert len(reads) == 1
    text_of(seven)
    assert len(reads) == 2


def test_attributes_of_two_contexts_are_two():
    with remembering():
        assert [text_of(attribute("1 : i8")), text_of(attribute("2 : i8"))] == ["1 : i8", "2 : i8"]


def test_nothing_is_kept_outside_of_blocks():
    alive = ir.Context._get_live_count()  # garbage of other tests among them, which may go at any time
    text_of(attribute())
    with remembering():
        text_of(attribute())
    assert ir.Context._get_live_count() <= alive


def test_what_an_inner_block_learnt_holds_to_the_end_of_the_outer_one():
    seven = attribute()
    with remembering():
        with remembering():
            text_of(seven)
        text_of(seven)
        assert len(reads) == 1


def test_an_analysis_is_done_once_while_no_pass_changes_the_module():
    done: list[int] = []
    counted = analysis(lambda number: done.append(number) or len(done))
    with remembering():
        assert [counted(7), counted(7)] == [1, 2], "a pass may change the module at any time"
        keep_analyses(True)
        assert [counted(7), counted(7), counted(8)] == [3, 3, 4]
        keep_analyses(True)
        assert counted(7) == 3
        keep_analyses(False)
        assert [counted(7), counted(7)] == [5, 6]
