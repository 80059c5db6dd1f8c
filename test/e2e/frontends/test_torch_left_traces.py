"""What programs of PyTorch do that a trace of their ops does not show: compiled parts, memory, ``x.data``, threads."""

import threading

import numpy as np
import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from torch.nn.attention import flex_attention  # noqa: E402

TARGET = ipu.Target(tiles_per_ipu=4)
GIVEN = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
LAYER = torch.nn.Linear(4, 4)


def found(function, *given):
    """What ``function`` gives, compiled for other numbers than those that it gets."""
    return ipu.compile(function, args=[torch.ones_like(each) for each in given], target=TARGET)(*given)


@torch.compile
def compiled(x):
    return torch.softmax(x, -1)


def _branch(x):
    scale = x * 2
    return torch.cond(x.sum() > 0, lambda: scale.sin(), lambda: scale.cos())


def _gradient(x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad((compiled(x) ** 2).sum(), x)[0]


def _clipped(x):
    own = torch.nn.Parameter(x.detach().clone())
    own.sin().sum().backward()
    torch.nn.utils.clip_grad_norm_([own], 0.5)
    return own.grad


def _replaced(x):
    own = torch.nn.Parameter(torch.zeros_like(x))
    own.data = own.data - x.sin()
    return own * 2


@pytest.mark.parametrize(
    ("function", "same"),
    [
        (lambda x: compiled(x) * 2, lambda x: torch.softmax(x, -1) * 2),
        (_gradient, lambda x: torch.func.grad(lambda y: (torch.softmax(y, -1) ** 2).sum())(x)),
        (torch.compile(_branch), _branch),
        (lambda x: torch.compile(LAYER)(x).detach(), lambda x: LAYER(x).detach()),
        (_clipped, _clipped),
        (_replaced, _replaced),
        (lambda x: torch.tensor([x.sin().tolist(), x.tolist()]), lambda x: torch.stack([x.sin(), x])),
    ],
    ids=["compiled", "gradient", "branch", "layer", "clipped", "data", "list"],
)
def test_parts_that_are_not_plain_ops_are_computed(function, same):
    torch.testing.assert_close(found(function, GIVEN), same(GIVEN).detach())


def _in_a_thread(x):
    results = []
    thread = threading.Thread(target=lambda: results.append(x.sin()))
    thread.start()
    thread.join()
    return results[0]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: torch.from_numpy(np.sin(x.numpy())), r"hands tensors to what is not PyTorch at .*x\.numpy"),
        (lambda x: torch.from_dlpack(np.from_dlpack(x.sin())), "what is not PyTorch"),
        (lambda x: x.clone().apply_(lambda value: value * 2), "what is not PyTorch"),
        (_in_a_thread, "in the thread that calls ipu.compile"),
    ],
    ids=["array", "dlpack", "apply", "thread"],
)
def test_what_leaves_the_trace_is_refused(function, said):
    with pytest.raises(ipu.CompileError, match=said):
        found(function, GIVEN)


def test_flexible_attention():
    q, k, v = torch.randn(3, 1, 4, 8, 4, generator=torch.Generator().manual_seed(1)).unbind()
    slopes = torch.arange(1.0, 5)
    mask = flex_attention.create_block_mask(lambda b, h, i, j: i >= j, None, None, 8, 8, device="cpu")

    def attention(q, k, v):
        near = lambda score, b, h, i, j: score + slopes[h] * (j - i)  # noqa: E731
        return flex_attention.flex_attention(q, k[:, :2], v[:, :2], near, mask, enable_gqa=True, return_lse=True)

    def plain(q, k, v):
        k, v = (each[:, :2].repeat_interleave(2, 1) for each in (k, v))
        places = torch.arange(8)
        scores = q @ k.mT / 2 + slopes[:, None, None] * (places - places[:, None])
        scores = scores.masked_fill(places > places[:, None], -torch.inf)
        return scores.softmax(-1) @ v, scores.logsumexp(-1)

    def slope(q, k, v):
        q = q.detach().requires_grad_()
        return torch.autograd.grad((attention(q, k, v)[0] ** 2).sum(), q)[0]

    torch.testing.assert_close(found(attention, q, k, v), plain(q, k, v))
    expected = torch.func.grad(lambda q: (plain(q, k, v)[0] ** 2).sum())(q)
    torch.testing.assert_close(found(slope, q, k, v), expected)
