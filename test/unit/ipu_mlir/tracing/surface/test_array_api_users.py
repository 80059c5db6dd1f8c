"""Libraries that are written for the array API standard take traced tensors."""

import numpy as np
import pytest

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_einops(both_agree):
    einops = pytest.importorskip("einops.array_api")

    def program(x):
        return {
            "rearranged": einops.rearrange(x, "a b (c d) -> (a d) b c", d=2),
            "reduced": einops.reduce(x, "a b c -> c", "mean"),
            "repeated": einops.repeat(x, "a b c -> a (b 2) c"),
            "packed": einops.pack([x, x], "a * c")[0],
        }

    both_agree(program, X, tolerance=1e-6)


def test_array_api_compat(both_agree):
    compat = pytest.importorskip("array_api_compat")

    def program(x):
        xp = compat.array_namespace(x)
        return {"sum": xp.sum(x, axis=1), "joined": xp.concat([x, x], axis=0)}

    both_agree(program, X, tolerance=1e-6)
