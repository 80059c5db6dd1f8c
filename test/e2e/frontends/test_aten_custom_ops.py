"""Ops that programs and libraries define, as the ops of PyTorch that they are made of."""

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from support.aten_ops import TARGET, check, numbers  # noqa: E402
from support.torch_results import torchvision_with_its_ops  # noqa: E402
from torch import nn  # noqa: E402


@torch.library.custom_op("test_aten_custom_ops::scaled_sine", mutates_args=())
def scaled_sine(x: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.sin(x) * scale


@torch.library.custom_op("test_aten_custom_ops::accumulated", mutates_args=())
def accumulated(x: torch.Tensor, count: int) -> torch.Tensor:
    result = torch.zeros_like(x)
    first = result[:1]
    for n in range(count):
        result += x * n
        first.mul_(2)
    return torch.mul(result, 2, out=result)


@torch.library.custom_op("test_aten_custom_ops::of_numpy", mutates_args=())
def of_numpy(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy() + 1)


accumulated.register_fake(lambda x, count: torch.empty_like(x))
scaled_sine.register_fake(lambda x, scale: torch.empty_like(x))
of_numpy.register_fake(lambda x: torch.empty_like(x))


def test_ops_of_users_are_the_ops_that_they_are_made_of():
    class Module(nn.Module):
        def forward(self, x):
            return scaled_sine(x, 3.0) + 1

    check(Module(), numbers(5))
    check(Module().forward, numbers(5))
    check(lambda x: accumulated(x, 3) + 1, numbers(5, 3))  # it writes to what it made
    with pytest.raises(ipu.CompileError, match=r"cannot be imported: test_aten_custom_ops\.of_numpy\.default"):
        ipu.compile(of_numpy, args=[numbers(3)], target=TARGET)


def test_ops_of_torchvision():
    ops = torchvision_with_its_ops().ops
    boxes = torch.tensor([[0.0, 0, 0, 4, 4], [1.0, 1, 2, 7, 6.5], [0.0, -3, 2, 9, 2.2]])

    def f(x, boxes, offset, mask, weight):
        aligned = ops.roi_align(x, boxes, (2, 3), spatial_scale=0.8, sampling_ratio=2, aligned=True)
        deformed = ops.deform_conv2d(x, offset, weight, stride=(2, 1), padding=(1, 2), dilation=(1, 2), mask=mask)
        return aligned, ops.roi_align(x, boxes, 2, sampling_ratio=1), deformed

    places = numbers(2, 24, 4, 8, seed=1) * 2, numbers(2, 12, 4, 8, seed=2)
    check(f, numbers(2, 2, 7, 6), boxes, *places, numbers(4, 1, 3, 2, seed=3), tolerance=1e-5)
