"""Operations that the machine has one vertex for: found along their values, in any order; every rate has a program."""

import random

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.costs.classify import classify
from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape
from ipu_mlir.dialects.costs.rates import BINARY, BROADCAST, INTEGER, UNARY
from ipu_mlir.dialects.costs.work import Elementwise
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.rewriting import list_ops

CONSTANTS = {"zero": 0.0, "one": 1.0, "two": 2.0, "half": 0.5, "root": 0.70710678, "minus": -0.70710678}
CONSTANTS |= {"sqrt2": 1.41421356}
SIGMOID = ["%n = arith.negf %a", "%e = math.exp %n", "%d = arith.addf %e, %one", "%r = arith.divf %one, %d"]
GELUS = {
    "half x first": [
        *("%h = arith.mulf %a, %half", "%s = arith.mulf %a, %root", "%e = math.erf %s"),
        *("%p = arith.addf %e, %one", "%r = arith.mulf %h, %p"),
    ],
    "half last": [
        *("%s = arith.divf %a, %sqrt2", "%e = math.erf %s", "%p = arith.addf %one, %e"),
        *("%q = arith.mulf %p, %a", "%r = arith.mulf %half, %q"),
    ],
    "divided by two": [
        *("%s = arith.divf %a, %sqrt2", "%e = math.erf %s", "%p = arith.addf %e, %one"),
        *("%q = arith.mulf %a, %p", "%r = arith.divf %q, %two"),
    ],
    "erfc": [
        *("%n = arith.negf %a", "%s = arith.mulf %n, %root", "%e = math.erfc %s"),
        *("%h = arith.mulf %half, %a", "%r = arith.mulf %h, %e"),
    ],
    "erfc of a product": [
        *("%s = arith.mulf %minus, %a", "%e = math.erfc %s"),
        *("%h = arith.mulf %e, %half", "%r = arith.mulf %h, %a"),
    ],
}
HALF, _, *REST = GELUS["half x first"]
RELUS = {
    "maximum": ["%r = arith.maximumf %a, %zero"],
    "maxnum": ["%r = arith.maxnumf %zero, %a"],
    "select": ["%c = arith.cmpf ogt, %a, %zero", "%r = arith.select %c, %a, %zero"],
}


def work_of(lines: list[str], result: str = "%r", element: str = "f32") -> Elementwise:
    """The work of a body of ``lines``, on %a and %b."""
    kind = f"memref<16x{element}>"
    constants = "\n".join(f"%{name} = arith.constant {value} : f32" for name, value in CONSTANTS.items())
    map_ = "affine_map<(i) -> (i)>"
    gives = element if not any("cmp" in line and line.startswith(result) for line in lines) else "i1"
    text = f"""func.func @f(%x: {kind}, %y: {kind}, %o: memref<16x{gives}>) {{
      {constants}
      linalg.generic {{indexing_maps = [{map_}, {map_}, {map_}], iterator_types = ["parallel"]}}
        ins(%x, %y : {kind}, {kind}) outs(%o : memref<16x{gives}>) {{
      ^bb0(%a: {element}, %b: {element}, %out: {gives}):
        {chr(10).join(f"{line} : {element}" for line in lines)}
        linalg.yield {result} : {gives}
      }}
      return
    }}"""
    with ipu.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        (op,) = list_ops(module.operation, "linalg.generic")
        nest = loop_nest(op)
        assert nest is not None
        work = classify(op, nest)
    assert isinstance(work, Elementwise)
    return work


def ops_of(lines: list[str], result: str = "%r", element: str = "f32") -> tuple[ScalarOp, ...]:
    """The operations that a body of ``lines`` counts as."""
    return work_of(lines, result, element).ops


def names(lines: list[str], result: str = "%r") -> list[str]:
    return [op.name for op in ops_of(lines, result)]


@pytest.mark.parametrize("at", range(5))
def test_what_stands_between_the_operations_does_not_matter(at: int) -> None:
    lines = [*SIGMOID[:at], "%m = arith.mulf %b, %two", *SIGMOID[at:], "%z = arith.addf %r, %m"]
    assert sorted(names(lines, "%z")) == ["add", "mul", "sigmoid"]


def test_every_order_of_two_sigmoids_costs_the_same() -> None:
    other = ["%N = arith.negf %b", "%E = math.exp %N", "%D = arith.addf %one, %E", "%R = arith.divf %one, %D"]
    draw = random.Random(0)
    for _ in range(20):
        left, right, lines = SIGMOID[::-1], other[::-1], []
        while left or right:
            source = draw.choice([each for each in (left, right) if each])
            lines.append(source.pop())
        assert sorted(names([*lines, "%z = arith.subf %r, %R"], "%z")) == ["sigmoid", "sigmoid", "sub"]


@pytest.mark.parametrize("form", GELUS)
def test_gelu_in_every_form_that_front_ends_write(form: str) -> None:
    assert ops_of(GELUS[form]) == (ScalarOp(Shape.UNARY, "gelu_erf", "f32"),)


@pytest.mark.parametrize("form", RELUS)
def test_relu(form: str) -> None:
    assert ops_of(RELUS[form]) == (ScalarOp(Shape.UNARY, "relu", "f32"),)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([*SIGMOID[:3], "%r = arith.divf %two, %d"], ["neg", "exp", "add", "div"]),
        ([*SIGMOID[:2], "%d = arith.addf %e, %two", SIGMOID[3]], ["neg", "exp", "add", "inverse"]),
        (
            [*SIGMOID, "%z = arith.mulf %r, %e"],
            ["neg", "exp", "add", "inverse", "mul"],
        ),
        (["%r = arith.maximumf %a, %one"], ["max"]),
        (["%c = arith.cmpf olt, %a, %zero", "%r = arith.select %c, %a, %zero"], ["compare", "select"]),
        (["%r = arith.divf %two, %a"], ["div"]),
        (["%r = arith.mulf %a, %b"], ["mul"]),
        (["%s = arith.mulf %b, %root", HALF, *REST], ["mul", "mul", "erf", "add", "mul"]),
    ],
)
def test_others_are_what_they_are(lines: list[str], expected: list[str]) -> None:
    assert names(lines, lines[-1].split()[0]) == expected


_OPS = {
    **{name: f"math.{name} %a" for name in UNARY},
    "neg": "arith.negf %a",
    "abs": "math.absf %a",
    "inverse": "arith.divf %one, %a",
    "square": "arith.mulf %a, %a",
    "sigmoid": SIGMOID,
    "gelu_erf": GELUS["erfc"],
    "relu": RELUS["maximum"],
}
_TWO = {name: f"arith.{name}f %a, %b" for name in ("add", "sub", "mul", "div", "rem")} | {
    "max": "arith.maximumf %a, %b",
    "min": "arith.minimumf %a, %b",
    "compare": "arith.cmpf olt, %a, %b",
    "atan2": "math.atan2 %a, %b",
    "copysign": "math.copysign %a, %b",
    "pow": "math.powf %a, %b",
    "clamp": "math.clampf %a to [%zero, %b]",
    "fma": "math.fma %a, %b, %a",
    "scaled_add": ["%p = arith.mulf %b, %half", "%r = arith.addf %a, %p"],
}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["%p = arith.mulf %half, %b", "%r = arith.subf %a, %p"], ["scaled_add"]),
        (["%p = arith.mulf %a, %b", "%r = arith.addf %a, %p"], ["mul", "add"]),
        (["%p = arith.mulf %b, %half", "%s = arith.addf %a, %p", "%r = arith.mulf %s, %p"], ["mul", "add", "mul"]),
        (["%p = arith.mulf %b, %half", "%s = arith.addf %a, %p", "%r = math.exp %s"], ["mul", "add", "exp"]),
    ],
    ids=["difference", "scaled by elements", "product is used twice", "more is done"],
)
def test_scaled_sum_has_one_scale_and_stands_alone(lines: list[str], expected: list[str]) -> None:
    assert [op.name for op in ops_of(lines)] == expected


_INTEGERS = {
    "abs": "math.absi %a",
    "bits": "math.ctpop %a",
    "compare": "arith.cmpi slt, %a, %b",
    "div": "arith.divsi %a, %b",
    "divu": "arith.divui %a, %b",
    "plain": "arith.addi %a, %b",
    "pow": "math.ipowi %a, %b",
}


def _lines(text: str | list[str]) -> list[str]:
    return text if isinstance(text, list) else [f"%r = {text}"]


@pytest.mark.parametrize("name", UNARY)
def test_every_rate_of_unary_operations_is_reached(name: str) -> None:
    lines = _lines(_OPS[name])
    if name.startswith("is"):  # the result is a truth value
        lines = [*[line.replace("%r", "%t") for line in lines], "%r = arith.select %t, %a, %b"]
    assert ScalarOp(Shape.UNARY, name, "f32") in ops_of(lines)


@pytest.mark.parametrize("name", BINARY)
def test_every_rate_of_binary_operations_is_reached(name: str) -> None:
    assert ScalarOp(Shape.BINARY, name, "f32") in ops_of(_lines(_TWO[name]))


@pytest.mark.parametrize("name", INTEGER)
def test_every_rate_of_integers_is_reached(name: str) -> None:
    element = "i1" if name == "logical" else "i32"
    text = "arith.andi %a, %b" if name == "logical" else _INTEGERS[name]
    assert ScalarOp(Shape.INTEGER, name, element) in ops_of(_lines(text), element=element)


@pytest.mark.parametrize("name", BROADCAST)
def test_every_rate_of_broadcasts_is_reached(name: str) -> None:
    text = _TWO[name].replace("%b", "%two")
    assert work_of(_lines(text)) == Elementwise((ScalarOp(Shape.BINARY, name, "f32"),), "scalar", operands=2)
