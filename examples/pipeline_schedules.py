"""Four stages on four IPUs under each schedule: what it costs, how long IPUs wait, and that weights are the same.

python examples/pipeline_schedules.py
"""

import numpy as np

import ipu_mlir as ipu
from ipu_mlir.dialects.analysis.pipelines import SCHEDULES, Schedule

STAGES, COUNT, BATCH, WIDTH = 4, 16, 8, 32
TARGET = ipu.Target(ipus=STAGES, tiles_per_ipu=16)


def layer(w, x):
    """All stages but the last one."""
    return np.tanh(x @ w)


def last_layer(w, x, y):
    """The last stage, which knows what is wanted."""
    return ((np.tanh(x @ w) - y) ** 2).mean()


def new_step(schedule):
    """Gradient descent on the mean of all micro-batches."""
    random = np.random.default_rng(0)
    start = [random.standard_normal((WIDTH, WIDTH)).astype(np.float32) / np.float32(6) for _ in range(STAGES)]
    weights = ipu.Variable(start, name="weights")
    pipe = ipu.pipeline([layer] * (STAGES - 1) + [last_layer], COUNT, schedule=schedule, reduction="mean")

    def step(x, y):
        losses, slopes = pipe.value_and_grad(weights.value, [x, *[None] * (STAGES - 2), y])
        weights.assign([w - np.float32(0.5) * slope for w, slope in zip(weights.value, slopes, strict=True)])
        return losses.mean()

    return step


def trained(schedule):
    """The program, the loss of each of ten steps, and the weights after them."""
    random = np.random.default_rng(1)
    x, y = (random.standard_normal((COUNT, BATCH, WIDTH)).astype(np.float32) for _ in range(2))
    program = ipu.compile(new_step(schedule), args=[x, np.tanh(y)], target=TARGET)
    session = program.session()
    losses = [float(session(x, np.tanh(y))) for _ in range(10)]
    return program, losses, session["weights"]


def main():
    """Train under each schedule."""
    of_all = {}
    for schedule in SCHEDULES:
        program, losses, of_all[schedule] = trained(schedule)
        profile = program.profile()
        bytes_of_tile = profile.compilation.memory.worst_bytes
        waiting = Schedule(schedule, STAGES, training=True).bubble(COUNT)
        print(
            f"{schedule:>12}: {profile.execution.cycles.total:>9,} cycles, "
            f"{bytes_of_tile:>6,} B on the fullest tile, IPUs wait in {waiting:.0%} of the slots, "
            f"loss {losses[0]:.3f} -> {losses[-1]:.3f}"
        )
        assert losses[-1] < losses[0]
    for weights in of_all.values():
        for found, wanted in zip(weights, of_all["sequential"], strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-5)
    print("the weights are the same")


if __name__ == "__main__":
    main()
