"""Which function of a module runs."""

import re

import pytest

import ipu_mlir as ipu

F = "func.func @{}(%x: tensor<2xf32>) -> tensor<2xf32> {{ return %x : tensor<2xf32> }}\n"
PRIVATE = F.replace("func.func @", "func.func private @")
DECLARED = "func.func private @outside(tensor<2xf32>) -> tensor<2xf32>\n"


@pytest.mark.parametrize(
    ("text", "entry", "runs"),
    [
        (F.format("forward"), None, "forward"),
        (F.format("forward"), "@forward", "forward"),
        (F.format("forward") + PRIVATE.format("helper"), None, "forward"),
        (F.format("forward") + PRIVATE.format("main"), None, "forward"),
        (F.format("forward") + DECLARED, None, "forward"),
        (F.format("a") + F.format("main") + F.format("b"), None, "main"),
        (F.format("a") + F.format("main") + F.format("b"), "b", "b"),
        (F.format("a") + PRIVATE.format("helper"), "helper", "helper"),
        (PRIVATE.format("helper"), None, "helper"),
        (PRIVATE.format("helper") + PRIVATE.format("main"), None, "main"),
        (F.format('"@odd"') + F.format("odd"), "@odd", "@odd"),
        (F.replace("?", "2").format("f").replace("2xf32", "?xf32"), None, "f"),
    ],
)
def test_entry(text: str, entry: str | None, runs: str) -> None:
    assert ipu.compile(text, entry=entry).entry == runs


@pytest.mark.parametrize(
    ("text", "entry", "message"),
    [
        (
            F.format("a") + F.format("b"),
            None,
            "has 2 public functions, and none is called main; it has @a, @b: say",
        ),
        (
            PRIVATE.format("a") + PRIVATE.format("b"),
            None,
            "has no public function, and none is called main; it has",
        ),
        (F.format("a"), "b", "has no function @b; it has @a: say which runs, as in entry='a'"),
        (F.format("a"), "@b", "has no function @b; it has @a"),
        ("module {}", None, "the program has no function at all"),
        ("module {}", "main", "the program has no function at all"),
        (DECLARED, None, "function @outside has no body: it is only declared"),
        (F.format("a") + DECLARED, "outside", "function @outside has no body"),
    ],
)
def test_no_entry(text: str, entry: str | None, message: str) -> None:
    with pytest.raises(ipu.CompileError, match=re.escape(message)):
        ipu.compile(text, entry=entry)
