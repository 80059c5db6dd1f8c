"""The rules of PyTorch's ops, by op."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from ipu_mlir.frontends.aten.products import OF_LIBRARIES
from ipu_mlir.frontends.aten.rules import OpRule

_MODULES = (
    "alignments",
    "arithmetic",
    "codelets",
    "control",
    "convolutions",
    "creating",
    "custom_ops",
    "indexing",
    "layers",
    "mathematics.bessel",
    "mathematics.fourier",
    "mathematics.linear_algebra",
    "mathematics.polynomials",
    "mathematics.special",
    "orders",
    "own_backward",
    "products",
    "random_numbers",
    "recurrent",
    "reductions",
    "resampling",
    "shapes",
    "windows",
)


def by_op(rules: Iterable[OpRule]) -> dict[Any, OpRule]:
    """``rules`` in a dictionary; two of one op are an error."""
    table: dict[Any, OpRule] = {}
    for each in rules:
        for op in each.ops():
            if table.setdefault(op, each) is not each:
                raise ValueError(f"{op} has two rules: {table[op].function} and {each.function}")
    return table


def rules_of(module: ModuleType) -> Iterator[OpRule]:
    """The rules that a module writes out, alone or in tuples of its own."""
    for value in vars(module).values():
        yield from (each for each in (value if isinstance(value, tuple) else [value]) if isinstance(each, OpRule))


RULES = by_op(each for name in _MODULES for each in rules_of(import_module(f"{__package__}.{name}")))


def rule_of(op: Any) -> OpRule | None:
    """The rule of an op, also of one that a library has defined since."""
    return RULES.get(op) or OF_LIBRARIES.get(str(op))
