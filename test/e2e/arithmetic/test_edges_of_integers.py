"""Integer ops have one result for given numbers: of two arguments, of one for both, of constants, in any form."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
DIVISIONS = ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui")
SHIFTS = ("shli", "shrsi", "shrui")
OTHERS = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui")
OPS = (*DIVISIONS, *SHIFTS, *OTHERS)
FORMS = ("tensor", "body", "named")
NAMED = {"divsi": "div", "divui": "div_unsigned", "addi": "add", "subi": "sub", "muli": "mul", "maxsi": "max"}


def edges(bits: int) -> np.ndarray:
    low = -(2 ** (bits - 1))
    return np.array([0, 1, -1, 2, 3, -3, bits - 1, bits, bits + 1, -bits, low, low + 1, -low - 1], f"i{bits // 8}")


def listed(array: np.ndarray) -> str:
    return f"dense<[{', '.join(map(str, array.tolist()))}]>"


def body(op: str, form: str, name: str, a: str, b: str, kind: str, element: str) -> str:
    """``name = op a, b``."""
    if form == "tensor":
        return f"  {name} = arith.{op} {a}, {b} : {kind}\n"
    empty = f"  {name}_e = tensor.empty() : {kind}\n"
    if form == "named":
        return (
            f"{empty}  {name} = linalg.{NAMED[op]} ins({a}, {b} : {kind}, {kind}) outs({name}_e : {kind}) -> {kind}\n"
        )
    same = a == b
    inputs, types, maps = (a, kind, "") if same else (f"{a}, {b}", f"{kind}, {kind}", "affine_map<(i) -> (i)>, ")
    arguments = f"%p: {element}" if same else f"%p: {element}, %q: {element}"
    return (
        f"{empty}  {name} = linalg.generic {{indexing_maps = [{maps}affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
        f'iterator_types = ["parallel"]}} ins({inputs} : {types}) outs({name}_e : {kind}) {{\n'
        f"  ^body({arguments}, %o: {element}):\n"
        f"    %r = arith.{op} %p, {'%p' if same else '%q'} : {element}\n"
        f"    linalg.yield %r : {element}\n  }} -> {kind}\n"
    )


def program(ops: list[tuple[str, str]], bits: int, numbers: np.ndarray, others: np.ndarray) -> str:
    """Of each op, in its form: of two arguments; of one for both; of a constant and an argument, and the other way
    round; of constants; of values that turn out to be equal."""
    element = f"i{bits}"
    kind = f"tensor<{len(numbers)}x{element}>"
    lines, results = [], []
    for number, (op, form) in enumerate(ops):
        for place, (a, b) in enumerate(
            [("%x", "%y"), ("%x", "%x"), ("%cx", "%y"), ("%x", "%cy"), ("%cx", "%cy"), ("%x", "%same")]
        ):
            results.append(f"%r{number}_{place}")
            lines.append(body(op, form, results[-1], a, b, kind, element))
    return (
        f"func.func @main(%x: {kind}, %y: {kind}) -> ({', '.join([kind] * len(results))}) {{\n"
        f"  %cx = arith.constant {listed(numbers)} : {kind}\n  %cy = arith.constant {listed(others)} : {kind}\n"
        f"  %none = arith.constant dense<0> : {kind}\n  %same = arith.addi %x, %none : {kind}\n"
        f"{''.join(lines)}  return {', '.join(results)} : {', '.join([kind] * len(results))}\n}}"
    )


def expected(op: str, a: int, b: int, bits: int) -> int:
    """As docs/runtime.md says it, in Python's integers."""
    whole = 2**bits
    signed = [each - whole if each % whole >= whole // 2 else each for each in (a % whole, b % whole)]
    x, y = (
        signed
        if op in ("divsi", "floordivsi", "ceildivsi", "remsi", "shrsi", "maxsi", "minsi")
        else (a % whole, b % whole)
    )
    if op in DIVISIONS:
        if y == 0:
            return 0
        towards_zero = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        match op:
            case "divsi" | "divui":
                return towards_zero
            case "floordivsi":
                return x // y
            case "ceildivsi" | "ceildivui":
                return -(-x // y)
            case _:
                return x - towards_zero * y
    if op in SHIFTS:
        by = min(b % whole, bits)
        return x << by if op == "shli" else x >> by
    if op.startswith(("max", "min")):
        return max(x, y) if op.startswith("max") else min(x, y)
    return {"addi": x + y, "subi": x - y, "muli": x * y, "andi": x & y, "ori": x | y, "xori": x ^ y}[op]


def check(ops: list[tuple[str, str]], bits: int) -> None:
    numbers = edges(bits)
    x, y = (each.ravel() for each in np.meshgrid(numbers, numbers))
    exe = ipu.compile(program(ops, bits, x, y), target=TARGET)
    whole, half = 2**bits, 2 ** (bits - 1)

    def wanted(op: str, second: np.ndarray) -> np.ndarray:
        found = [expected(op, int(a), int(b), bits) for a, b in zip(x, second, strict=True)]
        return np.array([(each + half) % whole - half for each in found], x.dtype)

    for executor in (exe.run, exe.run_per_tile):
        found = iter(executor([x, y]))
        for op, form in ops:
            for second in ("y", "x", "y", "y", "y", "x"):
                np.testing.assert_array_equal(
                    next(found), wanted(op, {"x": x, "y": y}[second]), f"{op} {form} {second}"
                )


@pytest.mark.parametrize("form", FORMS)
def test_numbers_and_not_names_decide(form: str):
    check([(op, form) for op in OPS if form != "named" or op in NAMED], 32)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [8, 16, 64])
@pytest.mark.parametrize("form", FORMS)
def test_numbers_and_not_names_decide_in_all_widths(form: str, bits: int):
    check([(op, form) for op in OPS if form != "named" or op in NAMED], bits)


@pytest.mark.parametrize("function", [np.floor_divide, np.remainder, np.fmod, np.left_shift, np.right_shift])
def test_traced_programs_are_as_numpy(function):
    x = edges(32)
    x = x[x >= 0] if function in (np.left_shift, np.right_shift) else x  # NumPy leaves others open
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ipu.compile(lambda a: function(a, a), args=[x], target=TARGET)(x), function(x, x))
