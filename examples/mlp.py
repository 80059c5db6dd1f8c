"""A network in NumPy-like Python, from its levels of IR to the NumPy source that runs.

python examples/mlp.py
"""

import numpy as np

import ipu_mlir as ipu

BATCH, PIXELS, HIDDEN, CLASSES = 4, 16, 8, 3


@ipu.function
def mlp(x, w1, b1, w2, b2):
    """Class probabilities for a batch of images."""
    h = ipu.nn.relu(x @ w1 + b1)
    return ipu.nn.softmax(h @ w2 + b2)


def mlp_in_numpy(x, w1, b1, w2, b2):
    """The same by hand."""
    scores = np.maximum(x @ w1 + b1, 0) @ w2 + b2
    exponential = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponential / exponential.sum(axis=1, keepdims=True)


def main() -> None:
    """Compile, look at every level, run, and check the run tile by tile."""
    rng = np.random.default_rng(0)
    shapes = [(BATCH, PIXELS), (PIXELS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)]
    inputs = [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]

    exe = ipu.compile(mlp, args=inputs, target=ipu.Target(tiles_per_ipu=8))
    for level, meaning in {"l0": "linalg as traced", "l2": "placed on tiles", "l3": "supersteps"}.items():
        print(f"---- {level}: {meaning} ----\n{exe.mlir(level)}")
    print(f"---- the NumPy source that runs ----\n{exe.source()}")
    print(f"---- where the tensors lie ----\n{exe.placements()}\n")

    probabilities = exe(*inputs)
    (tile_by_tile,) = exe.run_per_tile(inputs)
    print(f"probabilities:\n{probabilities.round(3)}")
    print("as by hand:", np.allclose(probabilities, mlp_in_numpy(*inputs), atol=1e-6))
    print("tile by tile:", np.allclose(probabilities, tile_by_tile, atol=1e-6))


if __name__ == "__main__":
    main()
