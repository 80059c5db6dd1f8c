"""Ops of PyTorch by rules of ours: each function tries many of one kind, against PyTorch itself."""

from functools import partial

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from ipu_mlir.frontends import from_torch  # noqa: E402

TARGET = ipu.Target(tiles_per_ipu=4)
aten = torch.ops.aten


def check(function, *args, tolerance: float = 2e-6):
    """As PyTorch, types and shapes included; ``tolerance`` is of the largest element."""
    ours, theirs = ipu.compile(function, args=list(args), target=TARGET)(*args), function(*args)
    pairs = zip(*((each if isinstance(each, tuple) else (each,)) for each in (ours, theirs)), strict=True)
    for place, (one, other) in enumerate(pairs):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), place
        torch.testing.assert_close(
            one,
            other,
            rtol=tolerance,
            atol=tolerance * float(other.abs().max()) if other.numel() else 0,
            msg=f"{place}",
        ) if other.dtype.is_floating_point or other.dtype.is_complex else None
        assert other.dtype.is_floating_point or other.dtype.is_complex or torch.equal(one, other), place


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_types_of_results_follow_from_tensors_before_numbers():
    def f(x, half, whole, small, one):
        products = x * 2, half * 0.5, whole + 1.5, whole * True, small + 3, small * one, half + one, whole / 2
        compared = small > 2.5, whole == one, torch.where(x > 0, 1, 0.5), half.sum(), small.sum(), whole.sum()
        return *products, *compared, small // 2, whole % 3, torch.maximum(whole, small)

    whole = torch.tensor([-7, 2, 5, 9], dtype=torch.int32)
    check(f, numbers(4), numbers(4).half(), whole, torch.tensor([1, 2, 3, 250], dtype=torch.uint8), torch.tensor(2.0))


def test_rounded_divisions_and_powers_of_integers():
    x, y = torch.tensor([-7, 7, -6, 5]), torch.tensor([2, -2, 3, 4])
    check(lambda x, y: (torch.div(x, y, rounding_mode="trunc"), torch.div(x, y, rounding_mode="floor"), x**3), x, y)


def test_complex_numbers_are_taken_computed_with_and_given():
    def f(z, x):
        spectrum = torch.fft.rfft(x)
        return z * z.conj(), z.abs(), z.angle(), torch.fft.ifft(z), torch.fft.irfft(spectrum, n=8), z @ z.mH, z + x

    check(f, torch.complex(numbers(8, 8), numbers(8, 8, seed=1)), numbers(8, 8), tolerance=1e-5)


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


def slopes(function):
    """The gradient of a weighted sum of what ``function`` of a tensor gives."""

    def run(x):
        x = x.detach().requires_grad_()
        result = function(x)
        return torch.autograd.grad(result, x, torch.arange(result.numel()).cos().reshape(result.shape))[0]

    return run


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


def test_products_of_rows_in_groups_and_their_gradients():
    def f(x, matrices, ends):
        product = torch._grouped_mm(x, matrices, ends)
        by_both = torch._grouped_mm(x.mT.contiguous().mT, product.mT.contiguous().mT, ends)
        return (
            product,
            by_both,
            torch._grouped_mm(matrices, x.mT, ends),
            slopes(lambda x: torch._grouped_mm(x, matrices, ends))(x),
        )

    x, matrices = numbers(16, 16).bfloat16(), numbers(3, 16, 16).bfloat16()
    check(f, x, matrices, torch.tensor([3, 3, 16], dtype=torch.int32), tolerance=1e-2)


def test_windows_bits_quantised_numbers_and_places_in_known_numbers():
    def f(x, scales, zeros, counts):
        window = torch.hamming_window(6) + torch.fft.fftfreq(6)
        places = torch.nonzero_static(x > 0, size=5), torch.nonzero_static(x > 0, size=24, fill_value=7)
        rows = x.repeat_interleave(counts, 0, output_size=7), torch.searchsorted(x[0].sort()[0], 0.3)
        channels = torch.fake_quantize_per_channel_affine(x, scales, zeros, 1, 0, 15)
        quantised = torch.fake_quantize_per_tensor_affine(x, scales[0], zeros[2], 0, 15), channels
        return x * window, x.view(torch.int32), x.view(torch.int32).view(torch.float32), *places, *rows, *quantised

    scales, zeros = torch.arange(1, 7) * 0.05, torch.arange(6, dtype=torch.int32)
    check(f, numbers(4, 6), scales, zeros, torch.tensor([1, 0, 4, 2]))
    check(slopes(lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -8, 7)), numbers(4, 6))


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


def test_second_derivatives_and_one_hot_rows_under_transforms():
    def f(x):
        curvature = torch.vmap(torch.func.hessian(lambda row: (0.5 * row.sin() ** 2).sum()))(x)
        return curvature, torch.func.grad(lambda x: (functional.one_hot((x > 0).long(), 3) * x[..., None]).sum())(x)

    check(f, numbers(2, 3))


@torch.library.custom_op("test_aten_rules::scaled_sine", mutates_args=())
def scaled_sine(x: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.sin(x) * scale


@torch.library.custom_op("test_aten_rules::accumulated", mutates_args=())
def accumulated(x: torch.Tensor, count: int) -> torch.Tensor:
    result = torch.zeros_like(x)
    first = result[:1]
    for n in range(count):
        result += x * n
        first.mul_(2)
    return torch.mul(result, 2, out=result)


@torch.library.custom_op("test_aten_rules::of_numpy", mutates_args=())
def of_numpy(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy() + 1)


accumulated.register_fake(lambda x, count: torch.empty_like(x))
scaled_sine.register_fake(lambda x, scale: torch.empty_like(x))
of_numpy.register_fake(lambda x: torch.empty_like(x))


def test_gradients_of_determinants_know_which_factors_are_kept():
    def f(x, y):
        x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
        logarithms = torch.logdet(x @ x.mT + torch.eye(4)), torch.linalg.slogdet(x)[1], torch.linalg.det(y.mT)
        return torch.autograd.grad(sum(each.sin().sum() for each in logarithms), [x, y])

    check(f, numbers(3, 4, 4), numbers(4, 4))


def test_reductions_into_a_number_and_its_places():
    def f(x, y):
        reduced = [x.index_reduce(0, torch.tensor(0), y, how) for how in ("prod", "mean", "amax", "amin")]
        means = torch.segment_reduce(torch.stack([x, y]), "mean", lengths=torch.tensor([0, 2]), initial=1.0)
        return *reduced, torch.nonzero_static(x, size=3).sum(), means, torch.sign(x > 1)

    check(f, torch.tensor(2.0), torch.tensor(3.0))


def test_ops_of_users_are_the_ops_that_they_are_made_of():
    class Module(nn.Module):
        def forward(self, x):
            return scaled_sine(x, 3.0) + 1

    check(Module(), numbers(5))
    check(Module().forward, numbers(5))
    check(lambda x: accumulated(x, 3) + 1, numbers(5, 3))  # it writes to what it made
    with pytest.raises(ipu.CompileError, match=r"cannot be imported: test_aten_rules\.of_numpy\.default"):
        ipu.compile(of_numpy, args=[numbers(3)], target=TARGET)


def test_images_in_other_sizes_and_their_gradients():
    def f(x):
        exact = functional.interpolate(x, size=(7, 3), mode="nearest-exact")
        smooth = functional.interpolate(x, size=(3, 6), mode="bilinear", antialias=True)
        loss = lambda x, mode: (functional.interpolate(x, size=(7, 9), mode=mode) ** 2).sum()  # noqa: E731
        gradients = [torch.func.grad(loss)(x, mode) for mode in ("bilinear", "bicubic", "nearest")]
        return exact, smooth, *gradients

    check(f, numbers(1, 2, 4, 5), tolerance=1e-5)


def test_shares_of_no_elements():
    def f(x):
        shares = torch.softmax(x, 1), torch.softmax(x, 0, torch.float64), torch.log_softmax(x, 1)
        return *shares, torch.logsumexp(x, 1), torch.logsumexp(x, 0), functional.softmin(x, 0)

    check(f, numbers(3, 0))


def test_elements_are_written_where_indices_say():
    def f(x, places, rows, values):
        scattered = x.scatter(1, places, values), x.scatter_add(1, places, values), x.index_add(0, rows, values)
        reduced = [
            x.scatter_reduce(1, places, values, how, include_self=own)
            for how in ("sum", "mean", "amax", "prod")
            for own in (True, False)
        ]
        masked = (
            x.masked_scatter(x > 0, values),
            x[0].masked_scatter(x > 0, values),
            x.index_copy(0, rows, values),
            x.index_fill(1, rows, 3.0),
        )
        return *scattered, *reduced, *masked, x.gather(1, places), x[rows, rows], torch.take(x, places)

    places = torch.tensor([[0, 2, 2], [3, 0, 1], [1, 1, 1]])
    check(f, numbers(4, 4)[:3], places, torch.tensor([2, 0, 1]), numbers(3, 4, seed=2))


def test_orders_medians_and_counts():
    def f(x, whole):
        ordered = *torch.sort(x, dim=1, descending=True), *torch.topk(x, 2, dim=0, largest=False)
        middle = *torch.median(x, dim=1), torch.median(x), *torch.kthvalue(x, 2, dim=1), *torch.mode(whole, dim=1)
        running = *torch.cummax(x, dim=1), torch.cumsum(whole, 0), torch.logcumsumexp(x, 1)
        return *ordered, *middle, *running, torch.histc(x, 5, -1, 1), torch.searchsorted(x.sort(1)[0], x)

    check(f, numbers(3, 5), torch.tensor([[1, 2, 2, 1, 3], [4, 4, 4, 0, 0], [5, 3, 5, 3, 1]]))


def test_factors_and_solutions_of_matrices():
    def f(x, b):
        square = x @ x.mT + 3 * torch.eye(4)
        solved = torch.linalg.solve(square, b), torch.linalg.inv(square), torch.linalg.det(square)
        factors = torch.linalg.cholesky(square), torch.linalg.svdvals(x), *torch.linalg.lu(square)
        factors += *torch.linalg.lstsq(x[:, :3], b, driver="gelsd"), torch.linalg.lstsq(x, b).solution
        return *solved, *factors, torch.linalg.pinv(x), torch.linalg.matrix_exp(0.1 * x), torch.linalg.eigvalsh(square)

    check(f, numbers(4, 4), numbers(4, 2, seed=1), tolerance=2e-4)


def test_special_functions():
    def f(x, y):
        gammas = torch.lgamma(x), torch.digamma(x), torch.polygamma(2, y), torch.special.zeta(y + 1, y)
        errors = torch.erfc(x), torch.special.erfcx(x), torch.erfinv(torch.tanh(x)), torch.special.ndtri(y / 10)
        bessel = (
            torch.special.i0e(x),
            torch.special.i1(x),
            torch.special.bessel_j1(4 * x),
            torch.special.bessel_j0(9 * x),
        )
        more = torch.special.modified_bessel_k0(y), torch.special.gammainc(y, y + x.abs()), torch.special.log_ndtr(x)
        return *gammas, *errors, *bessel, *more, torch.special.legendre_polynomial_p(x, 4)

    check(
        f, torch.tensor([-2.6, -0.4, 0.3, 1.5, 3.2, 4.7]), torch.tensor([0.2, 0.7, 1.0, 2.5, 4.0, 8.0]), tolerance=2e-5
    )


def test_products_of_half_precision_stay_so():
    """The product has operands of f16, and no conversion before it."""
    layer = nn.Linear(16, 8).half().eval()
    text = str(from_torch.import_program(layer, [numbers(4, 16).half()], {}).program)
    products = [line for line in text.splitlines() if "arith.mulf" in line or "linalg.matmul" in line]
    assert products and not any("f32" in line or "f64" in line for line in products)


def test_norms_compute_in_f32():
    text = str(from_torch.import_program(nn.LayerNorm(16), [numbers(4, 16)], {}).program)
    assert "f64" not in text


def test_ops_are_named_after_their_modules():
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2))).eval()
    names = {each.name for each in ipu.compile(model, args=[numbers(3, 4)], target=TARGET).profile().ops}
    assert {"0", "1.1"} <= {each.partition("/")[0] for each in names}


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


def test_covariances_and_combinations_ask_for_no_value():
    counts, weights = torch.tensor([1, 2, 1, 3]), torch.tensor([0.1, 0.2, 0.3, 0.4])

    def f(x):
        return torch.cov(x), x.cov(correction=0, fweights=counts, aweights=weights), x.corrcoef(), x[0].cov()

    check(f, numbers(3, 4))
    check(lambda x: (torch.combinations(x, 3, True), torch.func.linearize(torch.sin, x)[1](x)), numbers(4))


def test_ops_of_torchvision():
    ops = pytest.importorskip("torchvision.ops")
    boxes = torch.tensor([[0.0, 0, 0, 4, 4], [1.0, 1, 2, 7, 6.5], [0.0, -3, 2, 9, 2.2]])

    def f(x, boxes, offset, mask, weight):
        aligned = ops.roi_align(x, boxes, (2, 3), spatial_scale=0.8, sampling_ratio=2, aligned=True)
        deformed = ops.deform_conv2d(x, offset, weight, stride=(2, 1), padding=(1, 2), dilation=(1, 2), mask=mask)
        return aligned, ops.roi_align(x, boxes, 2, sampling_ratio=1), deformed

    places = numbers(2, 24, 4, 8, seed=1) * 2, numbers(2, 12, 4, 8, seed=2)
    check(f, numbers(2, 2, 7, 6), boxes, *places, numbers(4, 1, 3, 2, seed=3), tolerance=1e-5)


def test_gradients_of_parametrized_weights():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))

    def gradients(parameters, x):
        return torch.func.grad(lambda p: torch.func.functional_call(layer, p, (x,)).pow(2).sum())(parameters)

    names, parameters = zip(*((name, each.detach()) for name, each in layer.named_parameters()), strict=True)
    check(
        lambda x, *each: tuple(gradients(dict(zip(names, each, strict=True)), x).values()), numbers(2, 4), *parameters
    )


def test_matrices_without_elements_and_what_a_half_of_a_matrix_says():
    def f(x):
        empty = x[:, :0, :0]
        return torch.linalg.pinv(x, hermitian=True), torch.linalg.det(empty), *torch.linalg.slogdet(x[:0])

    check(f, numbers(2, 3, 3), tolerance=2e-5)
