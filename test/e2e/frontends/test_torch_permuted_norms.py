"""Networks whose convolutions give channels first and whose norms take them last, as ConvNeXt: checked, call by call.

Depthwise convolutions of 7 x 7 are written in blocks of rows, and what follows reads them across. The slow tests run
the networks a hundred times on one, two and four threads; of large ones, checked calls take seconds.
"""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

torch = pytest.importorskip("torch")
TOLERANCE = 1e-4
CALLS = 100
CALLS_OF_LARGE = 3


def network(*layers):
    return torch.nn.Sequential(*layers).eval()


class Permute(torch.nn.Module):
    def __init__(self, *order: int) -> None:
        super().__init__()
        self.order = order

    def forward(self, x):
        return x.permute(*self.order)


class Block(torch.nn.Module):
    """A block of ConvNeXt."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = network(
            depthwise(channels),
            Permute(0, 2, 3, 1),
            torch.nn.LayerNorm(channels),
            torch.nn.Linear(channels, 4 * channels),
            torch.nn.GELU(),
            torch.nn.Linear(4 * channels, channels),
        )
        self.scale = torch.nn.Parameter(torch.rand(channels))

    def forward(self, x):
        return x + (self.scale * self.inner(x)).permute(0, 3, 1, 2)


def depthwise(channels: int, kernel: int = 7):
    return torch.nn.Conv2d(channels, channels, kernel, padding=kernel // 2, groups=channels)


def norm_of_channels(channels: int):
    return network(Permute(0, 2, 3, 1), torch.nn.LayerNorm(channels), Permute(0, 3, 1, 2))


def convnext(channels: tuple[int, ...], depths: tuple[int, ...]):
    layers = [torch.nn.Conv2d(3, channels[0], 4, 4), norm_of_channels(channels[0])]
    for place, (wide, depth) in enumerate(zip(channels, depths, strict=True)):
        if place:
            layers += [norm_of_channels(channels[place - 1]), torch.nn.Conv2d(channels[place - 1], wide, 2, 2)]
        layers += [Block(wide) for _ in range(depth)]
    return network(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(channels[-1], 10))


def then_norm(channels: int, kernel: int = 7):
    return network(depthwise(channels, kernel), Permute(0, 2, 3, 1), torch.nn.LayerNorm(channels))


def then_relu(channels: int, kernel: int = 7):
    return network(depthwise(channels, kernel), Permute(0, 2, 3, 1), torch.nn.ReLU())


SMALL = {
    "norm": (lambda: then_norm(6), (1, 6, 13, 11)),
    "relu": (lambda: then_relu(7), (2, 7, 10, 9)),
    "convnext": (lambda: convnext((5, 8), (1, 1)), (1, 3, 44, 36)),
}
LARGE = {
    "7 x 7, norm": (lambda: then_norm(96), (1, 96, 56, 56)),
    "7 x 7, relu": (lambda: then_relu(96), (1, 96, 56, 56)),
    "3 x 3, norm": (lambda: then_norm(96, 3), (1, 96, 56, 56)),
    "3 x 3, relu": (lambda: then_relu(96, 3), (1, 96, 56, 56)),
    "1 x 1, norm": (lambda: then_norm(96, 1), (1, 96, 56, 56)),
    "28 rows": (lambda: then_norm(96), (1, 96, 28, 28)),
    "32 channels": (lambda: then_norm(32), (1, 32, 56, 56)),
    "no permute": (lambda: network(depthwise(96), torch.nn.ReLU()), (1, 96, 56, 56)),
    "patches, 7 x 7, norm": (
        lambda: network(torch.nn.Conv2d(3, 96, 4, 4), norm_of_channels(96), then_norm(96)),
        (1, 3, 224, 224),
    ),
    "convnext": (lambda: convnext((24, 48, 96, 192), (1, 1, 2, 1)), (1, 3, 96, 100)),
}


def check(make, shape: tuple[int, ...], threads: int, calls: int, checked_calls: int) -> None:
    """Kernels by default and checked give what PyTorch gives, the same bits in all calls."""
    torch.manual_seed(0)
    model, x = make(), torch.randn(*shape)
    with torch.no_grad():
        expected = model(x).numpy()
    executable = ipu.compile(model, args=[x])
    usual, checked = TranslatorOptions(threads=threads), TranslatorOptions.with_checks(threads)
    for options, count in ((usual, calls), (checked, checked_calls)):
        engine = Engine(executable.module("host"), executable.entry, options)
        (first,) = engine.run([x.numpy()])
        np.testing.assert_allclose(first, expected, TOLERANCE, TOLERANCE)
        for _ in range(count - 1):
            np.testing.assert_array_equal(engine.run([x.numpy()])[0], first)


@pytest.mark.parametrize("name", ["norm", "relu"])
def test_results_are_those_of_pytorch(name: str) -> None:
    check(*SMALL[name], threads=3, calls=3, checked_calls=3)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", SMALL)
def test_results_are_those_of_pytorch_in_many_checked_calls(name: str, threads: int) -> None:
    check(*SMALL[name], threads=threads, calls=CALLS, checked_calls=CALLS)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", LARGE)
def test_results_are_those_of_pytorch_in_many_calls(name: str, threads: int) -> None:
    check(*LARGE[name], threads=threads, calls=CALLS, checked_calls=CALLS_OF_LARGE)
