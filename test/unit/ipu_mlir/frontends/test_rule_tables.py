"""The tables of rules: what a module writes out is found, and two rules of one op are an error."""

from importlib import import_module
from types import ModuleType

import numpy as np
import pytest


def _module(**values: object) -> ModuleType:
    made = ModuleType("rules_of_a_test")
    vars(made).update(values)
    return made


def test_torch_rules_alone_and_in_tuples_are_found() -> None:
    pytest.importorskip("torch")
    from ipu_mlir.frontends.aten.library import by_op, rules_of
    from ipu_mlir.frontends.aten.rules import elementwise, rule

    sine, several = rule("sin.default")(np.sin), tuple(elementwise(name)(np.add) for name in ("add", "sub"))
    table = by_op(rules_of(_module(sine=sine, several=several, other=1)))
    assert {f"{op}".split(".")[1] for op in table} == {"sin", "add", "sub"}
    assert sine(0.0) == 0.0


def test_torch_ops_of_other_releases_are_left_out() -> None:
    torch = pytest.importorskip("torch")
    from ipu_mlir.frontends.aten.library import _MODULES, rules_of
    from ipu_mlir.frontends.aten.rules import rule

    assert {str(op) for op in rule("no_such_op", "sin.no_such_overload", "sin.default")(np.sin).ops()} == {
        "aten.sin.default"
    }
    if not torch.__version__.startswith("2.13."):
        return  # the release that the extra pins has all of them
    modules = [import_module(f"ipu_mlir.frontends.aten.{name}") for name in _MODULES]
    rules = [each for module in modules for each in rules_of(module)]
    assert not [name for each in rules for name in each.names if not any(rule(name)(each.function).ops())]


def test_two_torch_rules_of_an_op_are_refused() -> None:
    pytest.importorskip("torch")
    from ipu_mlir.frontends.aten.library import by_op
    from ipu_mlir.frontends.aten.rules import rule

    with pytest.raises(ValueError, match=r"aten\.sin\.default has two rules"):
        by_op([rule("sin.default")(np.sin), rule("sin")(np.cos)])


def test_two_onnx_rules_of_an_op_are_refused() -> None:
    pytest.importorskip("onnx")
    from ipu_mlir.frontends.of_onnx.library import by_op
    from ipu_mlir.frontends.of_onnx.rules import rule

    rules = [rule("Sin")(np.sin), rule("Sin", domain="other")(np.sin)]
    assert len(by_op(rules)) == 2
    with pytest.raises(ValueError, match="Sin of domain '' has two rules"):
        by_op([*rules, rule("Cos", "Sin")(np.cos)])
