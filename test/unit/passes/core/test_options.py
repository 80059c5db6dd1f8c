"""Options of a pass: text <-> fields."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.options import make_pass, options_of, pass_text, split_options, type_text
from ipu_mlir.passes.core.pipeline_text import PipelineError


@dataclass(frozen=True)
class Sample(Pass):
    """A pass with an option of each kind."""

    name = "sample"

    grain: int = 1
    num_tiles: int | None = None
    share: float = 0.5
    verbose: bool = False
    planner: Literal["balanced", "grid"] = "balanced"
    sizes: tuple[int, ...] = ()
    title: str = ""
    decide: Callable[[int], int] | None = None  # for Python only


@dataclass(frozen=True)
class Needy(Pass):
    """A pass that cannot do without its option."""

    name = "needy"

    grain: int


class Plain(Pass):
    """A pass without options."""

    name = "plain"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Sample()),
        ("grain=2", Sample(grain=2)),
        ("grain=-2 verbose", Sample(grain=-2, verbose=True)),
        ("verbose=false", Sample()),
        ("verbose=1", Sample(verbose=True)),
        ("num-tiles=4", Sample(num_tiles=4)),
        ("num-tiles=none", Sample()),
        ("share=0.25", Sample(share=0.25)),
        ("planner=grid", Sample(planner="grid")),
        ("sizes=1,2,3", Sample(sizes=(1, 2, 3))),
        ("sizes=[1,2]", Sample(sizes=(1, 2))),
        ("sizes=7", Sample(sizes=(7,))),
        ("sizes=", Sample()),
        ("title='two words'", Sample(title="two words")),
        ('  title="x=y"   grain=3 ', Sample(title="x=y", grain=3)),
        ("title={a b}", Sample(title="a b")),
    ],
)
def test_text_sets_fields(text: str, expected: Sample) -> None:
    assert make_pass(Sample, text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "grian=2",
            "pass 'sample' has no option 'grian'; its options: grain, num-tiles, share, verbose, planner, sizes, title",
        ),
        ("decide=3", "pass 'sample' has no option 'decide'"),
        ("num_tiles=3", "pass 'sample' has no option 'num_tiles'"),
        ("grain=two", "option 'grain' of pass 'sample' takes an integer, got 'two'"),
        ("grain=1.5", "option 'grain' of pass 'sample' takes an integer, got '1.5'"),
        ("grain", "option 'grain' of pass 'sample' takes an integer, got nothing"),
        ("num-tiles=x", "option 'num-tiles' of pass 'sample' takes an integer, got 'x'"),
        ("verbose=maybe", "option 'verbose' of pass 'sample' takes true or false, got 'maybe'"),
        ("planner=best", "option 'planner' of pass 'sample' takes one of balanced, grid, got 'best'"),
        ("sizes=1,x", "option 'sizes' of pass 'sample' takes a list of integers, as in 1,2, got '1,x'"),
        ("grain=1 grain=2", "pass 'sample' is given option 'grain' twice"),
        ("title='open", "a quote or a bracket is never closed"),
    ],
)
def test_wrong_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        make_pass(Sample, text)
    assert message in str(caught.value)


def test_missing_option_is_named() -> None:
    with pytest.raises(PipelineError, match="pass 'needy' needs a value for grain"):
        make_pass(Needy)
    assert make_pass(Needy, "grain=3") == Needy(3)


def test_pass_without_options_takes_none() -> None:
    assert options_of(Plain) == ()
    with pytest.raises(PipelineError, match="pass 'plain' has no option 'x'; it has none"):
        make_pass(Plain, "x=1")


@pytest.mark.parametrize(
    "instance",
    [
        Sample(),
        Sample(grain=4, verbose=True, planner="grid", sizes=(1, 2), title="two words", num_tiles=3, share=0.125),
    ],
)
def test_pass_text_reads_back(instance: Sample) -> None:
    text = pass_text(instance)
    assert make_pass(Sample, text.removeprefix("sample").strip("{}")) == instance


def test_pass_text_leaves_defaults_out() -> None:
    assert pass_text(Sample()) == "sample"
    assert pass_text(Sample(grain=2, verbose=True)) == "sample{grain=2 verbose=true}"


def test_split_options_keeps_brackets_together() -> None:
    assert split_options("a={x y} b=(1 2) c") == [("a", "x y"), ("b", "(1 2)"), ("c", None)]


@pytest.mark.parametrize(
    ("kind", "text"),
    [(int, "an integer"), (float | None, "a number"), (tuple[str, ...], "a list of texts, as in 1,2")],
)
def test_type_text(kind: Any, text: str) -> None:
    assert type_text(kind) == text
