"""The Python of ``docs/frontends.md`` runs, each block where its framework is installed."""

import importlib.util
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "frontends.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def framework(block: str) -> str:
    """What the first line of a block imports."""
    return block.split()[1].rstrip(",")


@pytest.mark.parametrize("block", BLOCKS, ids=framework)
def test_a_block_of_the_page_runs(block: str):
    if importlib.util.find_spec(framework(block)) is None:
        pytest.skip(f"needs {framework(block)}")
    exec(compile(block, str(PAGE), "exec"), {"__name__": "page"})


def test_the_page_has_a_block_for_each_framework_with_functions():
    assert [framework(block) for block in BLOCKS] == ["jax", "torch", "tensorflow"]
