"""A torch.nn.Sequential as a pipeline over two IPUs, trained by an optimizer of ours, beside PyTorch's own training.

python examples/frontends/torch_pipeline.py
"""

import numpy as np
import torch
from torch import nn

import ipu_mlir as ipu

STEPS, MICRO_BATCHES, ROWS = 5, 4, 8


def network() -> nn.Sequential:
    """A stage for each child."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Sequential(nn.Linear(12, 24), nn.GELU()), nn.Sequential(nn.LayerNorm(24), nn.Linear(24, 3)))


def trained_by_torch(x: np.ndarray, labels: np.ndarray) -> tuple[list[float], nn.Sequential]:
    """The losses, and the network after them."""
    net = network()
    optimizer, losses = torch.optim.AdamW(net.parameters(), 0.01), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(torch.tensor(x)).flatten(0, 1), torch.tensor(labels).long().flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, net


def main() -> None:
    """Train both, and compare."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((MICRO_BATCHES, ROWS, 12)).astype(np.float32)
    labels = rng.integers(0, 3, (MICRO_BATCHES, ROWS)).astype(np.int32)
    net = network()
    weights = ipu.Variable(ipu.parameters_of(net), name="weights")
    training = ipu.optimizers.attach(ipu.optimizers.adamw(0.01, weight_decay=0.01), weights)
    pipe = ipu.pipeline(net, MICRO_BATCHES, reduction="mean", loss=ipu.nn.cross_entropy)

    def step(x, labels):
        losses, slopes = pipe.value_and_grad(weights.value, [x, labels])
        training.assign(slopes)
        return losses.mean()

    exe = ipu.compile(step, args=(x, labels), target=ipu.Target(ipus=2, tiles_per_ipu=16))
    session = exe.session()
    losses = [float(session(x, labels)) for _ in range(STEPS)]
    wanted, theirs = trained_by_torch(x, labels)
    print(exe.profile().summary())
    print("loss", *(f"{each:.4f}" for each in losses))
    print("the losses of PyTorch:", np.allclose(losses, wanted, rtol=1e-5))
    pairs = zip(session["weights"], theirs, strict=True)
    same = [
        np.allclose(own[name], p.detach(), atol=1e-5) for own, child in pairs for name, p in child.named_parameters()
    ]
    print("its weights:", all(same))


if __name__ == "__main__":
    main()
