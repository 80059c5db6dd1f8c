"""Masks of attention, equal for all frameworks."""

import numpy as np


def attention_mask(kind: str, samples: int, length: int) -> np.ndarray:
    """Which places each place attends to: all, those before, or those of its sample's length."""
    if kind == "causal":
        return np.tril(np.ones((1, 1, length, length), bool))
    lengths = [max(1, length - (2 * n if kind == "lengths" else 0)) for n in range(samples)]
    return np.array([[[[place < each for place in range(length)]]] for each in lengths])
