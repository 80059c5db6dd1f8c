"""Ops of PyTorch on constants give what PyTorch gives, and a module may hold constants in all ways that it has."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")

OPTIONS: dict[str, Any] = {"target": ipu.Target(tiles_per_ipu=4)}
TYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.int64, torch.int8, torch.bool)
FLOATS = (0.0, 1.0, -2.5, 5.0, float("inf"), float("nan"))
INTEGERS = (0, 1, -3, 5)
NUMBERS = (0, 1, -3, 2.5, 1.0, True)
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
BINARY = (
    *COMPARISONS,
    *("add", "sub", "mul", "div", "rsub", "floor_divide", "remainder", "fmod", "pow", "minimum", "maximum", "atan2"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"),
)
UNARY = (
    *("neg", "abs", "floor", "ceil", "round", "trunc", "sign", "sqrt", "exp", "log", "logical_not", "bitwise_not"),
    *("isnan", "isinf", "isfinite", "reciprocal", "rsqrt", "sin", "tanh", "sigmoid", "relu", "square", "signbit"),
)

Made = tuple[str, Callable]


def constants(kind) -> list[Made]:
    """Tensors of three elements: of one number everywhere, and written out; and one without dimensions."""
    values = (0, 1) if kind == torch.bool else FLOATS if kind.is_floating_point else INTEGERS
    full = [(f"full({value}, {kind})", lambda value=value: torch.full((3,), value, dtype=kind)) for value in values]
    return [
        *full,
        (f"ones({kind})", lambda: torch.ones(3, dtype=kind)),
        (f"zeros({kind})", lambda: torch.zeros(3, dtype=kind)),
        (f"tensor({values[1:4]}, {kind})", lambda: torch.tensor((*values, *values)[1:4], dtype=kind)),
        (f"tensor({values[-1]}, {kind})", lambda: torch.tensor(values[-1], dtype=kind)),
    ]


def right_sides(kind) -> list[Made]:
    numbers = [(repr(number), lambda number=number: number) for number in NUMBERS]
    return numbers + [each for other in {kind, torch.float32, torch.int64} for each in constants(other)]


def cases(name: str) -> list[Made]:
    """What ``name`` gives of constants."""
    op = getattr(torch, name)
    if name in UNARY:
        return [(f"{name}({a})", lambda x=x: op(x())) for kind in TYPES for a, x in constants(kind)]
    pairs = [pair for kind in TYPES for pair in itertools.product(constants(kind), right_sides(kind))]
    return [(f"{name}({a}, {b})", lambda x=x, y=y: op(x(), y())) for (a, x), (b, y) in pairs]


def is_same(found, expected) -> bool:
    near = {torch.bfloat16: 2**-6}.get(expected.dtype, 2e-5)
    return found.dtype == expected.dtype and torch.allclose(found, expected, near, 1e-6, equal_nan=True)


def wrong(compiled: list[Made]) -> tuple[list[str], int]:
    """The cases of one program that are not as in PyTorch, and how many are refused: those are halved until found."""
    taken = []
    for name, make in compiled:
        try:
            taken.append((name, make, make()))
        except (RuntimeError, TypeError):
            continue  # no case: PyTorch does not take it
    if not taken:
        return [], 0
    x = torch.ones(2)
    try:
        *found, _ = ipu.compile(lambda x: (*(make() for _, make, _ in taken), x), args=[x], **OPTIONS)(x)
    except ipu.CompileError:
        if len(taken) == 1:
            return [], 1
        half = len(taken) // 2
        first, second = (wrong([each[:2] for each in part]) for part in (taken[:half], taken[half:]))
        return first[0] + second[0], first[1] + second[1]
    return [
        f"{name}: {ours} for {theirs}"
        for (name, _, theirs), ours in zip(taken, found, strict=True)
        if not is_same(ours, theirs)
    ], 0


def test_constants_are_computed_as_pytorch_does():
    drawn = [
        case for name in (*COMPARISONS, "add", "sub", "mul") for case in random.Random(name).sample(cases(name), 5)
    ]
    drawn += [case for name in ("neg", "floor", "sign", "isnan") for case in random.Random(name).sample(cases(name), 2)]
    assert wrong(drawn) == ([], 0)


def test_bools_are_added_as_pytorch_does():
    x = torch.tensor([True, False, True])
    function = lambda x, y: (x + True, x + y, x + torch.ones(3, dtype=torch.bool), torch.add(x, False), x + 1)  # noqa: E731
    for ours, theirs in zip(ipu.compile(function, args=[x, x], **OPTIONS)(x, x), function(x, x), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", (*BINARY, *UNARY))
def test_all_constants_are_computed_as_pytorch_does(name: str):
    found, _ = wrong(cases(name))
    assert found == []


class Constants(torch.nn.Module):
    """Comparisons of what is no argument, in all ways in which a module has such."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.list = torch.nn.ParameterList([torch.zeros(3)])
        self.register_buffer("kept", torch.tensor([1.0, 0.0, 1.0]))
        self.register_buffer("left_out", torch.tensor([0.0, 0.0, 2.0]), persistent=False)
        self.plain = torch.tensor([1.0, 2.0, 1.0])
        self.places = torch.arange(3)

    def forward(self, x, name=None):
        found = [self.weight, self.list[0], self.kept, self.left_out, self.plain, torch.ones_like(x), x.new_zeros(3)]
        compared = [torch.where(each == 1, x, -3 + each) for each in found]
        return *compared, torch.cat([x, self.weight, self.left_out]), x + self.weight[self.places], name, self.plain


def test_parameters_and_buffers_of_all_kinds_are_constants():
    module, x = Constants(), torch.arange(3.0)
    for given in (module, torch.export.export(module, (x,))):
        for ours, theirs in zip(ipu.compile(given, args=[x], **OPTIONS)(x), module(x), strict=True):
            assert ours is None if theirs is None else torch.equal(ours, theirs)
    with torch.no_grad():
        for ours, theirs in zip(torch.compile(module, backend=ipu.torch.backend)(x), module(x), strict=True):
            assert ours is None if theirs is None else torch.equal(ours, theirs)


def test_complex_constants():
    weight = torch.tensor([1 + 2j, 3 - 1j])
    exe = ipu.compile(lambda x: (x * weight).real, args=[torch.ones(2)], **OPTIONS)
    assert torch.equal(exe(torch.tensor([2.0, 3.0])), torch.tensor([2.0, 9.0]))
