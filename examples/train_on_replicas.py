"""Two replicas train binary units: a gradient of their own, a schedule, clipping, and state in remote memory.

python examples/train_on_replicas.py
"""

import numpy as np

import ipu_mlir as ipu

STEPS, REPLICAS = 60, 2
TARGET = ipu.Target(ipus=REPLICAS, replicas=REPLICAS, tiles_per_ipu=4)


@ipu.custom_vjp
def binary(x):
    """1 or -1, by the sign."""
    return np.where(x < 0, np.float32(-1), np.float32(1))


# The slope of a step is 0 everywhere: it is taken for that of a straight line, where the line is between -1 and 1.
binary.defvjp(lambda x: (binary(x), x), lambda x, cotangent: (np.where(np.abs(x) <= 1, cotangent, np.float32(0)),))


def new_step():
    """A step of Adam on the mean gradient of all replicas, each of which keeps a part of the optimizer's state."""
    random = np.random.default_rng(0)
    weights = ipu.Variable(
        [0.5 * random.standard_normal(shape).astype(np.float32) for shape in ((8, 32), (32, 1))], "w"
    )
    rate = ipu.optimizers.schedules.warm_up(10, ipu.optimizers.schedules.cosine(0.03, STEPS - 10))
    adam = ipu.optimizers.chain(ipu.optimizers.clip_by_global_norm(1.0), ipu.optimizers.adam(rate))
    training = ipu.optimizers.attach(adam, weights, offload=True, partition=True)

    def loss(weights, x, y):
        return ((binary(x @ weights[0]) @ weights[1] - y) ** 2).mean()

    def step(x, y):
        found, slopes = ipu.value_and_grad(loss)(weights.value, x, y)
        training.assign([ipu.all_reduce(slope, "mean") for slope in slopes])
        return ipu.all_reduce(found, "mean")

    return step


def losses():
    """The loss of each step; every replica has rows of its own."""
    x = np.random.default_rng(1).standard_normal((REPLICAS, 64, 8)).astype(np.float32)
    y = np.sign(x[:, :, :1] * x[:, :, 1:2])
    step = ipu.compile(new_step(), args=(ipu.per_replica(x[0]), ipu.per_replica(y[0])), target=TARGET).session()
    return [float(step(x, y)) for _ in range(STEPS)]


def main():
    """Train, and print how far it came."""
    found = losses()
    print(f"loss {found[0]:.2f} -> {found[-1]:.2f}")
    assert found[-1] < 0.2 * found[0]


if __name__ == "__main__":
    main()
