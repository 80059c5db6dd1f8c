"""Every kind of op with arguments that differ between replicas: all of them at once against one at a time."""

import numpy as np
import pytest
from support.case import assert_close
from support.replicas import ALONE, TWO
from test_cases import CASES

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.parsing import parse_module


def marked(text: str, which: set[int]) -> ir.Module:
    """``text`` with a value of its own for each replica in the arguments of ``@main`` with those numbers."""
    module = parse_module(text, dialect.context())
    functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    main = next(op for op in functions if ir.StringAttr(op.attributes["sym_name"]).value == "main")
    with module.context:
        varies = ir.DictAttr.get({"ipu.varies": ir.BoolAttr.get(True)})
        count = len(main.regions[0].blocks[0].arguments)
        attributes = [varies if number in which else ir.DictAttr.get({}) for number in range(count)]
        main.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    return module


def moved(array: np.ndarray, replica: int) -> np.ndarray:
    """What the second replica has where the first has ``array``: its numbers in another order, or another one."""
    if array.ndim:
        return np.roll(array.reshape(-1), replica).reshape(array.shape)
    return np.asarray(array + replica, array.dtype) if array.dtype.kind in "if" and abs(array) < 100 else array


REPRESENTATIVES = ("sort-rows-f32", "scan-while-add-f32-2", "slice-at-5", "update-at-5", "math.fma-rounds-once")


def check_case(name: str, which: set[int], *, per_tile: bool) -> None:
    """Two replicas give what one gives that has the inputs of each of them."""
    case = CASES[name]
    try:
        executable = ipu.compile(marked(case.text, which), target=TWO)
    except ipu.CompileError as error:
        assert "differs between replicas" in str(error)
        pytest.skip("its control flow depends on data")
    each = [[moved(x, r) if n in which else x for n, x in enumerate(case.inputs)] for r in range(2)]
    together = [np.stack(pair) if n in which else pair[0] for n, pair in enumerate(zip(*each, strict=True))]
    alone = ipu.compile(case.text, target=ALONE)
    for found in (executable.run(together), *([executable.run_per_tile(together)] if per_tile else [])):
        for r in range(2):
            expected = alone.run(each[r])
            mine = [x if x.shape == y.shape else x[r] for x, y in zip(found, expected, strict=True)]
            assert_close(mine, expected, case.sum_length, f"replica {r}")


KINDS = sorted({name.split("-")[0]: name for name in CASES if CASES[name].inputs}.values())


"""A case of each family."""


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_op_takes_the_axis(name: str) -> None:
    check_case(name, set(range(len(CASES[name].inputs))), per_tile=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].inputs])
def test_every_case_with_one_argument_that_differs(name: str) -> None:
    check_case(name, {len(name) % len(CASES[name].inputs)}, per_tile=False)


@pytest.mark.parametrize("name", [name for name in REPRESENTATIVES if name in CASES])
def test_kinds_of_ops_take_the_axis(name: str) -> None:
    check_case(name, set(range(len(CASES[name].inputs))), per_tile=True)
