"""Determinants, triangular factors and tridiagonal solutions of real matrices, as library codelets."""

import json
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.python.ops import gen_linalg_ops


def is_real(given: dict[str, Any]) -> bool:
    """True for a matrix, or a stack of them, of known size and of real numbers."""
    x = tf.convert_to_tensor(given["input"])
    return x.dtype in (tf.float32, tf.float64) and x.shape.is_fully_defined()


def determinant(input: Any) -> Any:
    """As ``tf.linalg.det``."""

    @tf.custom_gradient
    def computed(x: Any) -> Any:
        (found,) = _codelet("det", [x], [(x.shape[:-2], x.dtype)])
        return found, lambda upstream: (upstream * found)[..., None, None] * tf.linalg.inv(x, adjoint=True)

    return computed(input)


def sign_and_logarithm(input: Any) -> Any:
    """As ``tf.linalg.slogdet``."""

    @tf.custom_gradient
    def computed(x: Any) -> Any:
        found = _codelet("slogdet", [x], [(x.shape[:-2], x.dtype)] * 2)
        return tuple(found), lambda _, upstream: upstream[..., None, None] * tf.linalg.inv(x, adjoint=True)

    return gen_linalg_ops._LogMatrixDeterminantOutput(*computed(input))


def factors(input: Any, output_idx_type: Any) -> Any:
    """As ``tf.linalg.lu``, which has no gradient: the triangles in one matrix, and where its rows come from."""
    *stack, rows, _ = input.shape
    shapes = [(input.shape, input.dtype), ([*stack, rows], tf.int32), ([*stack, rows], tf.int32)]
    lower_upper, _, order = _codelet("lu", [input], shapes)
    return gen_linalg_ops._LuOutput(lower_upper, tf.cast(order, output_idx_type))


def is_real_and_tridiagonal(given: dict[str, Any]) -> bool:
    """True for diagonals and right sides of known sizes and of real numbers."""
    sides = [tf.convert_to_tensor(given[each]) for each in ("diagonals", "rhs")]
    return sides[0].dtype in (tf.float32, tf.float64) and all(each.shape.is_fully_defined() for each in sides)


def tridiagonal_solution(diagonals: Any, rhs: Any, partial_pivoting: bool, perturb_singular: bool) -> Any:
    """As ``tf.linalg.tridiagonal_solve``, always with pivots: rows of elements above, on and below the diagonal."""
    del partial_pivoting, perturb_singular

    @tf.custom_gradient
    def solved(diagonals: Any, rhs: Any) -> Any:
        (found,) = _codelet("solve_tridiagonal", [*tf.unstack(diagonals, axis=-2)[::-1], rhs], [(rhs.shape, rhs.dtype)])

        def gradient(upstream: Any) -> Any:
            above, on, below = tf.unstack(diagonals, axis=-2)
            turned = tf.stack([tf.roll(below, -1, -1), on, tf.roll(above, 1, -1)], -2)
            right = tridiagonal_solution(turned, upstream, True, False)
            rows = [tf.concat([found[..., 1:, :], tf.zeros_like(found[..., :1, :])], -2), found]
            rows.append(tf.concat([tf.zeros_like(found[..., :1, :]), found[..., :-1, :]], -2))
            return tf.stack([-tf.reduce_sum(right * each, -1) for each in rows], -2), right

        return found, gradient

    return solved(diagonals, rhs)


def _codelet(name: str, operands: Sequence[Any], results: Sequence[tuple[Any, Any]]) -> list[Any]:
    shapes = [tf.TensorShape(shape) for shape, _ in results]
    found = gen_xla_ops.xla_custom_call_v2(
        operands=list(map(tf.convert_to_tensor, operands)),
        call_target_name="ipu.codelet",
        backend_config=json.dumps({"name": name}),
        has_side_effect=False,
        result_dtypes=[dtype for _, dtype in results],
        result_shapes=shapes,
    )
    for each, shape in zip(found, shapes, strict=True):
        each.set_shape(shape)
    return list(found)
