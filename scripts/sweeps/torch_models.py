"""Models of PyTorch written out: their results, and the parameters after ten steps of training."""

from collections.abc import Callable
from typing import Any

import torch
from outcomes import TARGET, Case
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value
from torch.nn import functional as F

import ipu_mlir as ipu

STEPS = 10


class Residual(nn.Module):
    """The block of a ResNet, which halves the image where the channels grow."""

    def __init__(self, channels: int, wider: int) -> None:
        super().__init__()
        stride = 1 if channels == wider else 2
        self.first = nn.Conv2d(channels, wider, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(wider, wider, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(wider), nn.BatchNorm2d(wider)])
        self.shortcut = nn.Identity() if stride == 1 else nn.Conv2d(channels, wider, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.norms[1](self.second(F.relu(self.norms[0](self.first(x)))))
        return F.relu(inner + self.shortcut(x))


class Separable(nn.Module):
    """The inverted bottleneck of a MobileNet."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        wide = 3 * channels
        self.layers = nn.Sequential(
            *(nn.Conv2d(channels, wide, 1), nn.BatchNorm2d(wide), nn.ReLU6()),
            *(nn.Conv2d(wide, wide, 3, 1, 1, groups=wide), nn.BatchNorm2d(wide), nn.Hardswish()),
            nn.Conv2d(wide, channels, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


class Recurrent(nn.Module):
    """Tokens to a class, over a recurrent layer."""

    def __init__(self, layer: type[nn.Module]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.layer = layer(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.layer(self.embedding(tokens))[0][:, -1])


class UNet(nn.Module):
    """One step down, and up again, with the image from before beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(2, 4, 3, padding=1)
        self.middle = nn.Conv2d(4, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        before = F.relu(self.down(x))
        inside = F.relu(self.middle(F.max_pool2d(before, 2)))
        return self.out(torch.cat([before, self.up(inside)], 1))


class VisionTransformer(nn.Module):
    """Patches, a class token, places, an encoder, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 8))
        self.places = nn.Parameter(torch.randn(1, 5, 8))
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=True, norm_first=True)
        self.head = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        patches = self.patches(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.expand(len(x), -1, -1), patches], 1) + self.places
        return self.head(self.encoder(tokens)[:, 0])


class Autoencoder(nn.Module):
    """A variational autoencoder, whose noise is an argument."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(12, 8), nn.Sequential(nn.Linear(4, 12), nn.Sigmoid())

    def forward(self, x: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        mean, logarithm = self.encode(x).chunk(2, 1)
        return self.decode(mean + noise * torch.exp(logarithm / 2)), mean.square() + logarithm.exp() - logarithm


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 3))


def _lenet() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(1, 4, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(4, 6, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3)),
    )


def _resnet() -> nn.Module:
    return nn.Sequential(Residual(3, 3), Residual(3, 6), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3))


def _vgg() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32, 3)),
    )


def _mobilenet() -> nn.Module:
    stem = nn.Conv2d(3, 4, 3, 2, 1)
    return nn.Sequential(stem, Separable(4), Separable(4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))


def _generator() -> nn.Module:
    return nn.Sequential(
        *(nn.ConvTranspose2d(6, 8, 4), nn.BatchNorm2d(8), nn.ReLU()),
        *(nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.Tanh()),
    )


def _encoder() -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Tensor, ...]]]] = {
    "MLP": (_mlp, lambda: (torch.randn(5, 12),)),
    "LeNet": (_lenet, lambda: (torch.randn(2, 1, 12, 12),)),
    "ResNet": (_resnet, lambda: (torch.randn(2, 3, 8, 8),)),
    "VGG": (_vgg, lambda: (torch.randn(2, 3, 8, 8),)),
    "MobileNet": (_mobilenet, lambda: (torch.randn(2, 3, 8, 8),)),
    "U-Net": (UNet, lambda: (torch.randn(2, 2, 8, 8),)),
    "generator of a GAN": (_generator, lambda: (torch.randn(2, 6, 1, 1),)),
    "LSTM": (lambda: Recurrent(nn.LSTM), lambda: (torch.randint(11, (3, 5)),)),
    "GRU": (lambda: Recurrent(nn.GRU), lambda: (torch.randint(11, (3, 5)),)),
    "encoder": (_encoder, lambda: (torch.randn(2, 5, 8),)),
    "vision transformer": (VisionTransformer, lambda: (torch.randn(2, 3, 8, 8),)),
    "variational autoencoder": (Autoencoder, lambda: (torch.randn(3, 12), torch.randn(3, 4))),
}
TRAINED = ("MLP", "LeNet", "VGG", "LSTM", "GRU", "U-Net", "vision transformer", "variational autoencoder")
"""Models without statistics of batches, which a step would have to give back."""


def model_cases() -> list[Case]:
    """Every model forward, and those of ``TRAINED`` after some steps."""
    forward = [Case(f"{name}  forward", name, "models", lambda n=name: _forward(n), 5) for name in MODELS]
    return forward + [
        Case(f"{name}  {STEPS} steps", name, "models", lambda n=name: _trained(n), 50) for name in TRAINED
    ]


def _made(name: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(0)
    model, inputs = MODELS[name]
    return model(), inputs()


def _forward(name: str) -> tuple[list[Any], list[Any]]:
    model, inputs = _made(name)
    model.eval()
    found, expected = ipu.compile(model, args=inputs, target=TARGET)(*inputs), model(*inputs)
    pair = [list(each) if isinstance(each, tuple) else [each] for each in (found, expected)]
    return tuple([each.detach().numpy() for each in results] for results in pair)


def _trained(name: str) -> tuple[list[Any], list[Any]]:
    """The parameters after steps of Adam, and the losses."""
    model, inputs = _made(name)

    def loss(parameters: dict[str, Tensor], *batch: Tensor) -> Tensor:
        results = functional_call(model, parameters, batch)
        return sum(each.square().mean() for each in (results if isinstance(results, tuple) else (results,)))

    def step(parameters: Any, first: Any, second: Any, rate: Tensor, *batch: Tensor) -> Any:
        gradients, value = grad_and_value(loss)(parameters, *batch)
        first = {name: 0.9 * first[name] + 0.1 * each for name, each in gradients.items()}
        second = {name: 0.99 * second[name] + 0.01 * each.square() for name, each in gradients.items()}
        new = {name: each - rate * first[name] / (second[name].sqrt() + 1e-3) for name, each in parameters.items()}
        return new, first, second, value

    start = {name: each.detach() for name, each in model.named_parameters()}
    zeros = {name: torch.zeros_like(each) for name, each in start.items()}
    rate = torch.tensor(0.01)
    exe = ipu.compile(step, args=[start, zeros, zeros, rate, *inputs], target=TARGET)
    ends = []
    for each in (exe, step):
        state, losses = (start, zeros, zeros), []
        for _ in range(STEPS):
            *state, value = each(*state, rate, *inputs)
            losses.append(float(value))
        ends.append([*(each.detach().numpy() for each in state[0].values()), torch.tensor(losses).numpy()])
    return tuple(ends)


if __name__ == "__main__":
    import time

    from outcomes import outcome

    for case in model_cases():
        begin = time.time()
        print(case.name, *outcome(case), round(time.time() - begin, 1), flush=True)
