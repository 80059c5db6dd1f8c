"""Convolutions, windows, losses, images and modules of PyTorch, by rules of ours, and their gradients."""

from functools import partial

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from support.aten_ops import TARGET, check, numbers, slopes  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from ipu_mlir.frontends import from_torch  # noqa: E402

aten = torch.ops.aten


def test_gradients_of_convolutions_in_groups():
    def gradients(x, w, groups, **settings):
        def loss(x, w):
            return (functional.conv2d(x, w, groups=groups, **settings) ** 2).sum()

        return torch.func.grad(loss, argnums=(0, 1))(x, w)

    x = numbers(2, 6, 7, 8)
    check(lambda x, w: gradients(x, w, 6, padding=1), x, numbers(6, 1, 3, 3), tolerance=1e-5)
    check(lambda x, w: gradients(x, w, 3, stride=2, dilation=2, padding=(2, 1)), x, numbers(9, 2, 3, 2), tolerance=1e-5)


def test_transposed_convolutions_in_groups():
    x, w = numbers(2, 4, 5, 6), numbers(4, 3, 3, 2)
    check(
        lambda x, w: functional.conv_transpose2d(
            x, w, stride=2, padding=1, output_padding=(1, 0), groups=2, dilation=2
        ),
        x,
        w,
        tolerance=1e-5,
    )


def test_windows_give_places_means_and_gradients():
    def f(x):
        largest = functional.max_pool2d(x, 3, 2, 1, ceil_mode=True, return_indices=True)
        means = functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False), functional.adaptive_avg_pool2d(x, (3, 2))
        adaptive = functional.adaptive_max_pool2d(x, (3, 4), return_indices=True)
        mean = torch.func.grad(lambda x: (functional.avg_pool2d(x, 3, 2, 1) ** 2).sum())(x)
        return *largest, *means, *adaptive, mean, torch.func.grad(lambda x: functional.max_pool2d(x, 2).sum())(x)

    check(f, numbers(2, 3, 7, 8))


def test_gradients_of_windows_over_volumes_of_edges_and_of_shrinkage():
    def f(volumes, line):
        of_volumes = (
            lambda x: functional.max_pool3d(x, 2, 1),
            lambda x: functional.adaptive_max_pool3d(x, (2, 1, 2)),
            lambda x: functional.pad(x, (2, 1, 0, -1, 1, 1), "replicate"),
        )
        shrunk = lambda x: functional.softshrink(x, 0.4) + functional.hardshrink(x, 0.7) + torch.sgn(x)  # noqa: E731
        return *(slopes(each)(volumes) for each in of_volumes), slopes(shrunk)(line)

    check(f, numbers(1, 2, 2, 3), numbers(5))


def test_losses_of_label_sequences_and_their_gradients():
    labels = torch.tensor([[1, 2, 2, 0], [3, 0, 0, 0], [4, 4, 4, 4]])
    behind = torch.tensor([1, 2, 2, 3, 4, 4])

    def loss(labels, times, counts, **settings):
        return slopes(lambda x: functional.ctc_loss(functional.log_softmax(x, -1), labels, times, counts, **settings))

    def f(x):
        too_few = loss(labels, torch.tensor([2, 7, 4]), torch.tensor([3, 1, 4]), zero_infinity=True, reduction="none")
        lists, whole = loss(labels, (9, 7, 9), (3, 1, 4)), torch.tensor([9, 7, 8])
        value = torch.ctc_loss(functional.log_softmax(x, -1), labels, [9, 7, 9], [3, 1, 4])
        return value, lists(x), too_few(x), loss(behind, whole, torch.tensor([3, 1, 2]), reduction="sum")(x)

    check(f, numbers(9, 3, 5), tolerance=1e-5)


def test_losses_that_check_variances_only_compute():
    def f(x, target, variance):
        return slopes(lambda x: functional.gaussian_nll_loss(x, target, variance, full=True, reduction="none"))(x)

    check(f, numbers(4, 3), numbers(4, 3, seed=1), numbers(4, 3, seed=2).abs() * 1e-3)
    check(nn.GaussianNLLLoss(), numbers(4, 3), numbers(4, 3, seed=1), numbers(4, seed=2).abs())


@pytest.mark.parametrize("settings", [{"padding_idx": 2}, {"mode": "max"}, {"mode": "sum", "weighted": True}], ids=str)
def test_gradients_of_bags_of_rows(settings):
    indices, offsets = torch.tensor([1, 2, 2, 6, 0, 3, 3, 5]), torch.tensor([0, 3, 3, 5])

    def f(rows, weights):
        rows, weights = rows.detach().requires_grad_(), weights.detach().requires_grad_()
        given = {"per_sample_weights": weights} if settings.get("weighted") else {}
        named = {name: each for name, each in settings.items() if name != "weighted"}
        total = (functional.embedding_bag(indices, rows, offsets, **given, **named) ** 2).sum()
        return torch.autograd.grad(total, (rows, weights) if given else rows)

    check(f, numbers(7, 3), numbers(8))


def test_modules_solve_without_checks_and_take_masks_of_transformers():
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Transformer(4, 1, 1, 1, 4, batch_first=True, dropout=0.0)

        def forward(self, a, b, mask):
            attended = self.layer(a[None], b[None], tgt_mask=mask)
            return torch.linalg.solve(a, b), torch.linalg.lstsq(a[:, :3], b).solution, attended.detach()

    causal = nn.Transformer.generate_square_subsequent_mask(4)
    check(Module(), numbers(4, 4) + 2 * torch.eye(4), numbers(4, 4, seed=1), causal, tolerance=1e-5)


def test_images_in_other_sizes_and_their_gradients():
    def f(x):
        exact = functional.interpolate(x, size=(7, 3), mode="nearest-exact")
        smooth = functional.interpolate(x, size=(3, 6), mode="bilinear", antialias=True)
        loss = lambda x, mode: (functional.interpolate(x, size=(7, 9), mode=mode) ** 2).sum()  # noqa: E731
        gradients = [torch.func.grad(loss)(x, mode) for mode in ("bilinear", "bicubic", "nearest")]
        return exact, smooth, *gradients

    check(f, numbers(1, 2, 4, 5), tolerance=1e-5)


def test_smooth_images_of_bytes():
    x = (numbers(1, 2, 4, 5).abs() * 60).byte()
    f = partial(functional.interpolate, size=(3, 6), mode="bilinear", antialias=True)
    torch.testing.assert_close(ipu.compile(f, args=[x], target=TARGET)(x), f(x), rtol=0, atol=1)


def test_norms_compute_in_f32():
    text = str(from_torch.import_program(nn.LayerNorm(16), [numbers(4, 16)], {}).program)
    assert "f64" not in text


def test_gradients_of_silu_that_autograd_takes_have_a_rule():
    from ipu_mlir.frontends.aten.library import RULES

    x, gradient = torch.linspace(-4, 4, 9), torch.linspace(1, 2, 9)
    op = torch.ops.aten.silu_backward.default
    assert op in RULES
    exe = ipu.compile(lambda gradient, x: op(gradient, x), args=[gradient, x], target=ipu.Target(tiles_per_ipu=4))
    torch.testing.assert_close(exe(gradient, x), op(gradient, x))


def test_images_are_sampled_between_their_elements():
    x, grid = numbers(2, 3, 4, 5), numbers(2, 3, 2, 2, seed=1)
    for kind in ("bilinear", "nearest", "bicubic"):
        for outside, align in (("zeros", True), ("border", False), ("reflection", False), ("reflection", True)):

            def f(x, grid, settings=(kind, outside, align)):
                return functional.grid_sample(x, grid, *settings)

            check(f, x, grid, tolerance=1e-5)
    check(lambda x, grid: functional.grid_sample(x, grid), numbers(1, 2, 3, 4, 2), numbers(1, 2, 2, 1, 3, seed=1))


def test_gradients_of_sampled_images_are_those_of_images_and_places():
    def gradients(settings):
        def total(x, grid):
            y = functional.grid_sample(x, grid, *settings)
            return (y * torch.arange(y.numel()).cos().reshape(y.shape)).sum()

        return lambda x, grid: torch.func.grad(total, (0, 1))(x, grid)

    for settings in (("bilinear", "zeros", False), ("bicubic", "reflection", True)):
        check(gradients(settings), numbers(2, 3, 4, 5), numbers(2, 3, 2, 2, seed=1), tolerance=1e-5)
    check(gradients(("bilinear", "border", False)), numbers(1, 2, 3, 4, 2), numbers(1, 2, 2, 1, 3, seed=1))


def test_gradients_of_losses_of_margins():
    labels = torch.tensor([[1, 3, -1, 0, 2, 1], [0, -1, 1, 1, 1, 1], [-1, 1, 1, 1, 1, 1], [5, 4, 3, 2, 1, 0]])
    weights, classes = numbers(6, seed=1).abs(), torch.tensor([1, 0, 5, 2])
    losses = [
        partial(functional.multi_margin_loss, target=classes, p=2, margin=0.3, weight=weights, reduction="none"),
        partial(functional.multi_margin_loss, target=classes),
        *(partial(functional.multilabel_margin_loss, target=labels, reduction=each) for each in ("none", "sum")),
    ]

    def gradients(x):
        return tuple(torch.func.grad(lambda x, loss=loss: (loss(x) * 1.7).sum())(x) for loss in losses)

    check(gradients, numbers(4, 6))
    check(lambda x: tuple(loss(x) for loss in losses), numbers(4, 6))
    one = lambda x: torch.func.grad(lambda x: functional.multilabel_margin_loss(x, labels[0]))(x)  # noqa: E731
    check(one, numbers(6))


def test_gradients_of_parametrized_weights():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))

    def gradients(parameters, x):
        return torch.func.grad(lambda p: torch.func.functional_call(layer, p, (x,)).pow(2).sum())(parameters)

    names, parameters = zip(*((name, each.detach()) for name, each in layer.named_parameters()), strict=True)
    check(
        lambda x, *each: tuple(gradients(dict(zip(names, each, strict=True)), x).values()), numbers(2, 4), *parameters
    )
