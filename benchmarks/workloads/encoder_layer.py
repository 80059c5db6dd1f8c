"""A transformer encoder layer: attention, add and norm, gelu layers, add and norm."""

from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers
from benchmarks.workloads.gelu import gelu_factor, gelu_jax
from benchmarks.workloads.norm import norm_in_place, norm_jax, softmax_in_place, softmax_jax

BATCH, WIDTH, HIDDEN, HEADS = 8, 512, 2048, 8
HEAD = WIDTH // HEADS
SCORE_SCALE = np.float32(HEAD**-0.5)


def make_inputs(sequence: int, rows: int) -> list[Array]:
    """A batch of sequences, and the parameters in the order of the program's arguments."""
    assert rows == BATCH * sequence, f"{rows} rows are not {BATCH} sequences of {sequence}"
    numbers = Numbers()
    return [
        numbers.normal(BATCH, sequence, WIDTH),
        *(numbers.weights(WIDTH, 3 * WIDTH), numbers.near_zero(3 * WIDTH)),
        *(numbers.weights(WIDTH, WIDTH), numbers.near_zero(WIDTH)),
        *(numbers.near_one(WIDTH), numbers.near_zero(WIDTH)),
        *(numbers.weights(WIDTH, HIDDEN), numbers.near_zero(HIDDEN)),
        *(numbers.weights(HIDDEN, WIDTH), numbers.near_zero(WIDTH)),
        *(numbers.near_one(WIDTH), numbers.near_zero(WIDTH)),
    ]


def numpy_form(x: Array, *parameters: Array) -> tuple[Array, ...]:
    """By hand."""
    w_qkv, b_qkv, w_out, b_out, gain1, shift1, w_up, b_up, w_down, b_down, gain2, shift2 = parameters
    flat = x.reshape(-1, WIDTH)
    qkv = flat @ w_qkv
    qkv += b_qkv
    q, k, v = qkv.reshape(BATCH, -1, 3, HEADS, HEAD).transpose(2, 0, 3, 1, 4)
    scores = q @ k.swapaxes(-1, -2)
    scores *= SCORE_SCALE
    softmax_in_place(scores)
    y = (scores @ v).transpose(0, 2, 1, 3).reshape(-1, WIDTH) @ w_out
    y += b_out
    y += flat
    norm_in_place(y, gain1, shift1)
    h = y @ w_up
    h += b_up
    h *= gelu_factor(h, out=np.empty_like(h))
    h *= np.float32(0.5)
    z = h @ w_down
    z += b_down
    z += y
    return (norm_in_place(z, gain2, shift2).reshape(x.shape),)


def jax_form(x: Any, *parameters: Any) -> tuple[Any, ...]:
    """In JAX."""
    w_qkv, b_qkv, w_out, b_out, gain1, shift1, w_up, b_up, w_down, b_down, gain2, shift2 = parameters
    flat = x.reshape(-1, WIDTH)
    q, k, v = (flat @ w_qkv + b_qkv).reshape(BATCH, -1, 3, HEADS, HEAD).transpose(2, 0, 3, 1, 4)
    attention = softmax_jax((q @ k.swapaxes(-1, -2)) * SCORE_SCALE) @ v
    y = norm_jax(attention.transpose(0, 2, 1, 3).reshape(-1, WIDTH) @ w_out + b_out + flat, gain1, shift1)
    h = gelu_jax(y @ w_up + b_up)
    return (norm_jax(h @ w_down + b_down + y, gain2, shift2).reshape(x.shape),)


WORKLOAD = Workload(
    "encoder_layer",
    "encoder_layer",
    {"sequence": 128, "rows": BATCH * 128},
    {"sequence": 16, "rows": BATCH * 16},
    make_inputs,
    numpy_form,
    jax_form,
    tolerance=2e-3,
)
