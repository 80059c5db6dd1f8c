"""What notebooks show of executables, profiles, placements and mappings."""

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.mapping.loops import MappingLoop
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.support.pictures import grid, strip, table

VOID = {"br"}


class Balanced(HTMLParser):
    """Fails where a tag is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def text_of(html: str) -> str:
    parser = Balanced()
    parser.feed(html)
    parser.close()
    assert not parser.open
    assert not re.search(r"(src|href)=|<script|url\(", html), "it needs something from outside"
    return parser.text


@pytest.fixture(scope="module")
def executable() -> Any:
    return ipu.compile(
        lambda x, w: np.tanh(x @ w),
        args=[ipu.TensorSpec((8, 6)), ipu.TensorSpec((6, 4))],
        target=ipu.Target(tiles_per_ipu=4),
    )


def test_an_executable_shows_its_placements(executable: Any) -> None:
    text = text_of(executable._repr_html_())
    assert "<Executable main(" in text
    assert "argument x: float32[8, 6] on " in text


def test_a_profile_shows_cycles_and_memory(executable: Any) -> None:
    profile = executable.profile()
    html = profile._repr_html_()
    text = text_of(html)
    assert f"{profile.total_cycles:,} cycles" in text
    assert f"compute: {profile.execution.cycles.compute:,}" in text
    assert html.count("<title>tile ") == 4, "a cell for each tile"


def test_a_target_shows_its_figures() -> None:
    text = text_of(ipu.Target(ipus=2, tiles_per_ipu=4)._repr_html_())
    assert "ipu2: 8 tiles" in text
    assert re.search(r"clock_hz\s*1,325,000,000\.0", text)


def test_a_session_shows_its_variables() -> None:
    v = ipu.Variable(np.zeros((2, 3), np.float32), name="v")
    session = ipu.compile(lambda: v.assign(v.value + 1), args=[], target=ipu.Target(tiles_per_ipu=2)).session()
    text = text_of(session._repr_html_())
    assert "<Session of main with v>" in text and re.search(r"v\s*float32\[2, 3\]", text)


def test_a_mapping_shows_the_tile_of_each_element() -> None:
    html = Mapping(6, (MappingLoop(2, 6, 1, 1),))._repr_html_()
    assert "6 elements on 3 tiles from 0 to 2" in text_of(html)
    assert re.findall("<title>(tile .)", html) == ["tile 0", "tile 1", "tile 2"]


def test_names_are_no_markup() -> None:
    assert text_of(table(["<i>"], [["a<b"]])) == "<i>a<b"


def test_many_tiles_share_cells() -> None:
    html = strip(list(range(1472)), 1471)
    assert html.count("<rect") <= 240
    assert "tiles 1463 to 1469: 1,469" in html


def test_neighbours_of_one_owner_are_one_rectangle() -> None:
    assert grid([[0, 0, 1], [-1, -1, -1]]).count("<rect") == 3
