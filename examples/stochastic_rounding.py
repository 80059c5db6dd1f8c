"""Train a network in pure float16: to the nearest it stalls, with stochastic rounding it learns as in float32.

    python examples/stochastic_rounding.py [plot.svg]

Weights, gradients and updates are float16. Late in training an update is less than half a step between two numbers of
float16: to the nearest, the weight stays. Rounded at random, it moves as often as the update is of a step.
"""

import sys
from pathlib import Path

import numpy as np

import ipu_mlir as ipu

RUNS = {
    "float32": (np.float32, {}),
    "float16, stochastic rounding": (np.float16, {"rounding": "stochastic"}),
    "float16, to the nearest": (np.float16, {}),
}
ROUNDS, STEPS, RATE, SCALE = 40, 400, 0.002, 128


def loss(weights, x, labels):
    """The mean of the cross-entropies."""
    w1, b1, w2, b2 = weights
    scores = (ipu.nn.relu(x @ w1 + b1) @ w2 + b2).astype(np.float32)
    chosen = np.sum(ipu.nn.log_softmax(scores) * labels, axis=1)
    return -np.mean(chosen)


def train(weights, x, labels):
    """Steps of gradient descent, whose gradients are scaled so that none is lost; the loss before them."""

    def step(_, now):
        slopes = ipu.grad(lambda each: loss(each, x, labels) * np.float32(SCALE))(now)
        return tuple(w - g * w.dtype.type(RATE / SCALE) for w, g in zip(now, slopes, strict=True))

    return ipu.fori_loop(0, STEPS, step, weights), loss(weights, x, labels)


def losses(dtype, modes, x, labels):
    """The loss after every so many steps of one run."""
    rng = np.random.default_rng(0)
    shapes = [(x.shape[1], 32), (32,), (32, 10), (10,)]
    weights = tuple((rng.standard_normal(shape) / 8 * (len(shape) > 1)).astype(dtype) for shape in shapes)
    inputs = weights, x.astype(dtype), labels
    run = ipu.compile(train, args=inputs, float_modes=modes, target=ipu.Target(tiles_per_ipu=16))
    found = []
    for _ in range(ROUNDS):
        weights, before = run(weights, *inputs[1:])
        found.append(float(before))
    return found


def plot(curves):
    """The curves as SVG."""
    width, height, left, top = 640, 360, 60, 20
    highest = max(map(max, curves.values()))
    lines = []
    for number, (name, values) in enumerate(curves.items()):
        colour = ("#555555", "#1f77b4", "#d62728")[number]
        across, down = (width - left - 20) / (len(values) - 1), (height - 70) / highest
        points = " ".join(
            f"{left + place * across:.1f},{top + (highest - y) * down:.1f}" for place, y in enumerate(values)
        )
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines.append(f'<text x="{width - 260}" y="{top + 20 * number + 10}" fill="{colour}">{name}</text>')
    bottom = top + height - 70
    lines.append(f'<path d="M{left} {top}V{bottom}H{width - 20}" fill="none" stroke="black"/>')
    for share in (0, 0.5, 1):
        lines.append(f'<text x="10" y="{bottom - share * (bottom - top) + 4:.0f}">{share * highest:.2f}</text>')
    lines.append(f'<text x="{width / 2 - 80}" y="{height - 15}">loss over {ROUNDS * STEPS} steps</text>')
    inner = "\n".join(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="13">\n<rect width="100%" height="100%" fill="white"/>\n{inner}\n</svg>\n'
    )


def main() -> None:
    """Train three times, and draw the losses."""
    digits = np.load(Path(__file__).with_name("digits") / "digits.npz")
    x, y = digits["images"][:256].reshape(256, -1).astype(np.float32), digits["labels"][:256]
    x /= x.max()
    labels = np.eye(10, dtype=np.float32)[y]
    curves = {name: losses(dtype, modes, x, labels) for name, (dtype, modes) in RUNS.items()}
    for name, values in curves.items():
        print(f"{name}: loss {values[0]:.3f} at first, {values[-1]:.3f} after {(ROUNDS - 1) * STEPS} steps")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(plot(curves))


if __name__ == "__main__":
    main()
