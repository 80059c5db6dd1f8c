"""A pipeline -> steps, against the passes that exist."""

import pytest

from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.pipeline_steps import (
    NestStep,
    PassStep,
    Registry,
    UpstreamStep,
    WrongAnchor,
    leaves,
    replace_pass,
)
from ipu_mlir.passes.core.pipeline_text import PassText, PipelineError
from ipu_mlir.passes.core.registry import by_name


def texts(steps: tuple) -> list[str]:
    return [step.text for step in steps]


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("", []),
        ("cse", ["cse"]),
        ("builtin.module(cse,test-mark{value=3})", ["cse", "test-mark{value=3}"]),
        ("func.func(test-mark,cse)", ["func.func(test-mark,cse)"]),
        ("test-inner", ["cse", "test-mark{value=7}"]),
        ("test-outer,cse", ["cse", "test-mark{value=7}", "func.func(canonicalize)", "cse"]),
        ("builtin.module(builtin.module(test-inner))", ["builtin.module(cse,test-mark{value=7})"]),
        ("cse,builtin.module(test-inner)", ["cse", "builtin.module(cse,test-mark{value=7})"]),
        (["cse", "test-inner"], ["cse", "cse", "test-mark{value=7}"]),
        ([PassText("cse")], ["cse"]),
        ("canonicalize{max-iterations=3}", ["canonicalize{max-iterations=3}"]),
    ],
)
def test_resolves(registry: Registry, pipeline: object, expected: list[str]) -> None:
    assert texts(registry.resolve(pipeline)) == expected


def test_pass_objects_stand_among_text(registry: Registry) -> None:
    mark = registry.passes["test-mark"](value=5)
    assert registry.resolve(mark) == (PassStep(mark),)
    assert registry.resolve(["cse", mark]) == (UpstreamStep("cse"), PassStep(mark))


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("no-such-pass", "there is no pass or pipeline 'no-such-pass'"),
        ("test-marc", "there is no pass or pipeline 'test-marc'; did you mean 'test-mark'?"),
        ("test-innr", "did you mean 'test-inner'?"),
        ("func.func(no-such-pass)", "there is no pass or pipeline 'no-such-pass'"),
        ("cse{colour=red}", "pass 'cse' does not take these options: 'cse{colour=red}'"),
        ("test-mark{valu=1}", "pass 'test-mark' has no option 'valu'; its options: value"),
        ("func.func(test-inner)", "pipeline 'test-inner' runs on builtin.module, not inside func.func(...)"),
        ("test-inner{a=1}", "pipeline 'test-inner' takes no options, got 'a=1'"),
        ("test-endless", "pipeline 'test-endless' contains itself: test-endless -> test-endless"),
        ("test-mark(cse)", "'test-mark(...)' runs passes on no op; an op's name has a dot"),
    ],
)
def test_wrong_pipeline_is_refused(registry: Registry, pipeline: str, message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        registry.resolve(pipeline)
    assert message in str(caught.value)


def test_pass_on_functions_says_where_it_belongs(registry: Registry) -> None:
    with pytest.raises(WrongAnchor, match=r"write func.func\(buffer-loop-hoisting\)") as caught:
        registry.resolve("buffer-loop-hoisting")
    assert caught.value.anchor == "func.func"


def test_replace_pass_reaches_into_nests(registry: Registry) -> None:
    steps = registry.resolve("test-mark,func.func(test-mark{value=2},cse)")
    other = registry.passes["test-mark"](value=9)
    assert texts(replace_pass(steps, other)) == ["test-mark{value=9}", "func.func(test-mark{value=9},cse)"]


def test_replace_pass_wants_something_to_replace(registry: Registry) -> None:
    with pytest.raises(PipelineError, match="no pass 'test-mark' to replace"):
        replace_pass(registry.resolve("cse"), registry.passes["test-mark"]())


def test_leaves_come_in_order() -> None:
    a, b, c = UpstreamStep("a"), UpstreamStep("b{x=1}"), UpstreamStep("c")
    assert [step.name for step in leaves((a, NestStep("func.func", (b,)), c))] == ["a", "b", "c"]


class One(Pass):
    """One of two with a name."""

    name = "test-same"


class Other(Pass):
    """The other."""

    name = "test-same"


def test_two_passes_cannot_have_one_name() -> None:
    with pytest.raises(PipelineError, match=r"two passes are named 'test-same': .*\.One and .*\.Other; rename one"):
        by_name([One, Other])
    assert by_name([One, One]) == {"test-same": One}


def test_pass_and_pipeline_cannot_have_one_name() -> None:
    with pytest.raises(PipelineError, match="'test-same' is both a pass and a pipeline"):
        Registry({"test-same": One}, {"test-same": ("cse",)})
