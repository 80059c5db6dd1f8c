"""A network that trains on 24 tiles only with recomputation and with the state of its optimizer in remote memory.

python examples/train_in_less_memory.py
"""

import warnings
from dataclasses import replace

import numpy as np

import ipu_mlir as ipu

WIDTH, INNER, LAYERS, BATCH, STEPS = 96, 384, 8, 256, 5
SMALL = ipu.Target(tiles_per_ipu=24)


def block(x, layer):
    """A residual block; its gradient needs what it computes between the two products."""
    return x + ipu.nn.gelu(x @ layer["up"]) @ layer["down"]


def new_step(recompute, offload):
    """A step of Adam, with weights of its own."""
    random = np.random.default_rng(0)
    shapes = {"up": (WIDTH, INNER), "down": (INNER, WIDTH)}
    layers = [
        {name: (0.05 * random.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}
        for _ in range(LAYERS)
    ]
    weights = ipu.Variable(layers, name="weights")
    training = ipu.optimizers.attach(ipu.optimizers.adam(1e-3), weights, offload=offload)
    layer_of = ipu.checkpoint(block) if recompute else block  # only what goes into a block is stored

    def loss(layers, x, y):
        for layer in layers:
            x = layer_of(x, layer)
        return ((x - y) ** 2).mean()

    def step(x, y):
        found, slopes = ipu.value_and_grad(loss)(weights.value, x, y)
        training.assign(slopes)
        return found

    return step


def compiled(recompute, offload, target):
    """The step on ``target``."""
    batch = ipu.TensorSpec((BATCH, WIDTH), np.float32)
    return ipu.compile(new_step(recompute, offload), args=[batch, batch], target=target)


def losses(exe):
    """The losses of the first steps."""
    x, y = np.random.default_rng(1).standard_normal((2, BATCH, WIDTH)).astype(np.float32)
    session = exe.session()
    return [float(session(x, y)) for _ in range(STEPS)]


def main():
    """Print the bytes of each way, refuse what does not fit, train what does, and compare the losses."""
    emulated = replace(SMALL, emulated=True)  # as many tiles, with as much memory as it takes
    ways = {"nothing": (False, False), "offload": (False, True), "recompute": (True, False), "both": (True, True)}
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ipu.MemoryWarning)
        for name, how in ways.items():
            exe = compiled(*how, emulated)
            profile = exe.profile()
            memory, cycles = profile.compilation.memory, profile.execution.cycles.total
            found[name] = losses(exe) if name == "nothing" else None
            verdict = "fits" if profile.compilation.fits else "does not fit"
            print(f"| {name} | {memory.worst_bytes:,} | {cycles / 1e6:.1f} | {verdict} |")
    try:
        compiled(True, False, SMALL)
    except ipu.OutOfMemoryError as error:
        print(str(error).splitlines()[0])
    trained = losses(compiled(True, True, SMALL))
    print("losses:", *(f"{each:.4f}" for each in trained))
    np.testing.assert_allclose(trained, found["nothing"], rtol=1e-5)
    assert trained[-1] < trained[0]


if __name__ == "__main__":
    main()
