"""Newton's method for logistic regression: products with the Hessian are derivatives of the gradient, whole in a loop.

python examples/newton.py
"""

import numpy as np

import ipu_mlir as ipu

STEPS, ROWS, COLUMNS = 8, 200, 12
TARGET = ipu.Target(tiles_per_ipu=16)


def loss(w, x, y):
    """The mean of what each row costs, whose label is 1 or -1, and a little for the size of ``w``."""
    return np.logaddexp(0, -y * (x @ w)).mean() + np.float32(0.005) * (w * w).sum()


def direction(w, x, y):
    """What leads to where the gradient would be 0: conjugate gradients solve for it without a matrix."""
    slope = ipu.grad(loss)(w, x, y)

    def curved(d):
        """The Hessian times ``d``: how the gradient moves if ``w`` moves by ``d``."""
        return ipu.jvp(lambda w: ipu.grad(loss)(w, x, y), (w,), (d,))[1]

    def next_guess(_, state):
        d, rest, along = state
        moved = curved(along)
        share = (rest * rest).sum() / ((along * moved).sum() + np.float32(1e-20))
        left = rest - share * moved
        return d + share * along, left, left + (left * left).sum() / ((rest * rest).sum() + np.float32(1e-20)) * along

    return ipu.fori_loop(0, COLUMNS, next_guess, (0 * w, -slope, -slope))[0]


@ipu.function(target=TARGET)
def fit(x, y):
    """The weights, and how steep the loss still is."""
    w = ipu.fori_loop(0, STEPS, lambda _, w: w + direction(w, x, y), np.zeros(COLUMNS, np.float32) * x[0])
    return w, np.abs(ipu.grad(loss)(w, x, y)).max()


def main():
    """Fit labels of which one in ten is wrong."""
    random = np.random.default_rng(0)
    x = random.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    y = np.sign(x @ random.standard_normal(COLUMNS)).astype(np.float32)
    y[::10] *= -1
    w, slope = fit(x, y)
    print(f"right in {(np.sign(x @ w) == y).mean():.0%} of the rows; the steepest slope is {float(slope):.0e}")
    assert slope < 1e-5


if __name__ == "__main__":
    main()
