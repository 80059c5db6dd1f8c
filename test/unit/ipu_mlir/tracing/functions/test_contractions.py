"""Products of traced tensors give what they give on arrays, and take the named form of linalg where there is one."""

import numpy as np
import pytest

import ipu_mlir as ipu

RNG = np.random.default_rng(5)


def floats(*shape):
    return RNG.uniform(-1, 1, shape).astype(np.float32)


MATMULS = [
    ((3, 4), (4, 5)),
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (6, 4, 5)),
    ((1, 3, 4), (2, 4, 5)),
    ((2, 3, 4), (4,)),
    ((1, 1), (1, 1)),
]


@pytest.mark.parametrize("shapes", MATMULS, ids=str)
def test_matmul(agrees, shapes):
    agrees(lambda x, y: (x @ y, np.matmul(x, y)), *(floats(*shape) for shape in shapes))


def test_matmul_with_arrays_on_both_sides(agrees):
    w = floats(4, 4)
    agrees(lambda x: (x @ w, w @ x), floats(4, 4))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.float64, np.bool_])
def test_matmul_of_other_element_types(agrees, dtype):
    x = RNG.integers(0, 5, (3, 4)).astype(dtype)
    agrees(lambda x: x @ x.T, x)


def test_matmul_of_mixed_element_types(agrees):
    agrees(lambda x, i: (x @ i, i.T @ x.T), floats(3, 4), RNG.integers(0, 5, (4, 2)).astype(np.int32))


def test_transposed_operands(agrees):
    agrees(lambda x, y: (x @ y.T, y @ x.T, x.T @ y, x.mT @ y, x.T @ y.T.T), floats(4, 4), floats(4, 4))


EINSUMS = [
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("ij,kj->ki", (3, 4), (5, 4)),
    ("ij,jk", (3, 4), (4, 5)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("i,j->ij", (3,), (4,)),
    ("ij,ij->", (3, 4), (3, 4)),
    ("ij,j->i", (3, 4), (4,)),
    ("ij->ji", (3, 4)),
    ("ij->i", (3, 4)),
    ("ij->", (3, 4)),
    ("ij,jk,kl->il", (3, 4), (4, 5), (5, 2)),
    ("a,b,c->cab", (2,), (3,), (4,)),
]


@pytest.mark.parametrize("case", EINSUMS, ids=str)
def test_einsum(agrees, case):
    subscripts, *shapes = case
    agrees(lambda *arrays: np.einsum(subscripts, *arrays), *(floats(*shape) for shape in shapes))


def test_dot_inner_outer_and_tensordot(agrees):
    agrees(
        lambda x, y: (np.dot(x, y), np.outer(x, y), np.dot(x[0], y[:, 0]), np.dot(x, x[0, 0])),
        floats(3, 4),
        floats(4, 5),
    )
    agrees(lambda x, y: (np.inner(x, y), np.tensordot(x, y, ([1], [1])), x.dot(y.T)), floats(3, 4), floats(5, 4))
    agrees(lambda x, y: (np.tensordot(x, y), np.dot(x, y.T), np.tensordot(x, y, 0)), floats(2, 3, 4), floats(3, 4))


@pytest.mark.parametrize(
    ("shapes", "op"),
    [(((3, 4), (4, 5)), "linalg.matmul"), (((2, 3, 4), (2, 4, 5)), "linalg.batch_matmul")],
    ids=["matmul", "batch_matmul"],
)
def test_plain_products_are_named_ops(shapes, op):
    module = ipu.function(lambda x, y: x @ y).trace(*(ipu.TensorSpec(shape) for shape in shapes))
    assert op in str(module)


def test_a_transposed_operand_is_read_in_place():
    module = ipu.function(lambda x, y: x @ y.T).trace(ipu.TensorSpec((3, 4)), ipu.TensorSpec((5, 4)))
    (product,) = (op for op in module.body.operations[0].regions[0].blocks[0] if op.operation.name == "linalg.generic")
    assert product.inputs[1] == module.body.operations[0].arguments[1]


def test_einsum_with_lists(agrees):
    agrees(lambda x: (np.einsum(x, [0, 1], x, [2, 1], [0, 2]), np.einsum(x, [1, 0])), np.arange(6.0).reshape(2, 3))
