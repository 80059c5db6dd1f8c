"""The Python of ``docs/frontends.md`` and ``program-calls.md`` runs, each block where its framework is installed."""

import importlib.util
import re
from pathlib import Path

import pytest

PAGES = [Path(__file__).parents[3] / "docs" / name for name in ("frontends.md", "program-calls.md")]
BLOCKS = [
    block
    for page in PAGES
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
]


def framework(block: str) -> str:
    """What the first line of a block imports."""
    return block.split()[1].rstrip(",")


@pytest.mark.parametrize("block", BLOCKS, ids=framework)
def test_a_block_of_the_page_runs(block: str):
    if importlib.util.find_spec(framework(block)) is None:
        pytest.skip(f"needs {framework(block)}")
    exec(compile(block, "<page>", "exec"), {"__name__": "page"})


def test_the_pages_have_a_block_for_each_framework_with_functions():
    assert [framework(block) for block in BLOCKS] == ["jax", "jax", "torch", "torch", "tensorflow", "jax", "jax"]
