"""Running hand-written superstep programs tile by tile, without asking the verifier first."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from support.damage import mutations as mutated_programs
from support.unverified import parse_unverified

from ipu_mlir.dialects import ipu
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

ALIASES = """
#home4 = #ipu.mapping<4, [[1, 4, 1, 1]], 0, 0>
#all4 = #ipu.mapping<4, [[4, 4, 1, 0], [1, 4, 0, 1]], 0, 0>
#tile0_4 = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#tile1_4 = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 1>
#rows12 = #ipu.mapping<12, [[2, 3, 4, 1], [4, 4, 1, 0]], 0, 0>
#tile0_12 = #ipu.mapping<12, [[12, 12, 1, 0]], 0, 0>
#tile0_3 = #ipu.mapping<3, [[3, 3, 1, 0]], 0, 0>
#rows3 = #ipu.mapping<3, [[2, 3, 1, 1]], 0, 0>
#one = #ipu.mapping<1, [], 0, 0>
#on_each4 = #ipu.mapping<1, [[1, 4, 0, 1]], 0, 0>
"""


@pytest.fixture
def executor() -> Iterator[Callable[..., PerTileExecutor]]:
    """``executor(functions)`` reads functions and globals that may use the aliases above, for a target of 4 tiles."""
    with ipu.context():

        def make(functions: str, strict: bool = True, tiles: int = 4) -> PerTileExecutor:
            target = f"#ipu.target<{{tiles_per_ipu = {tiles}}}>"
            text = f"{ALIASES}\nmodule attributes {{ipu.target = {target}}} {{\n{functions}\n}}"
            return PerTileExecutor(parse_unverified(text), strict=strict)

        yield make


@pytest.fixture
def run(executor: Callable[..., PerTileExecutor]) -> Callable[..., list[Any]]:
    """``run(functions, *inputs)`` answers the results of ``@main``."""

    def run_text(functions: str, *inputs: Any, strict: bool = True, tiles: int = 4) -> list[Any]:
        return executor(functions, strict, tiles).run(inputs)

    return run_text


@pytest.fixture
def vertices() -> Callable[..., str]:
    """``vertices(op, parts)`` is a compute set with one family; more pairs of op and parts make more families."""

    def text(*pairs: str) -> str:
        families = "\n".join(
            f'"ipu.vertices"() ({{ {op} }}) {{codelet = "test", parts = #ipu.parts<{parts}>}} : () -> ()'
            for op, parts in zip(pairs[::2], pairs[1::2], strict=True)
        )
        return f'"ipu.compute_set"() ({{ {families} }}) : () -> ()'

    return text


@pytest.fixture(name="parse_unverified")
def parse_unverified_fixture() -> Callable[[str], Any]:
    """Reads a module in the current context without asking the dialect's verifiers."""
    return parse_unverified


@pytest.fixture(scope="session")
def mutations() -> ModuleType:
    """The generators of broken programs."""
    return mutated_programs
