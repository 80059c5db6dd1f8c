"""Ops of PyTorch on numbers, indices and matrices, by rules of ours: each function tries many of one kind."""

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from support.aten_ops import TARGET, check, numbers, slopes  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from ipu_mlir.frontends import from_torch  # noqa: E402


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


def test_second_derivatives_and_one_hot_rows_under_transforms():
    def f(x):
        curvature = torch.vmap(torch.func.hessian(lambda row: (0.5 * row.sin() ** 2).sum()))(x)
        return curvature, torch.func.grad(lambda x: (functional.one_hot((x > 0).long(), 3) * x[..., None]).sum())(x)

    check(f, numbers(2, 3))


def test_gradients_of_determinants_know_which_factors_are_kept():
    def f(x, y):
        x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
        logarithms = torch.logdet(x @ x.mT + torch.eye(4)), torch.linalg.slogdet(x)[1], torch.linalg.det(y.mT)
        return torch.autograd.grad(sum(each.sin().sum() for each in logarithms), [x, y])

    check(f, numbers(3, 4, 4), numbers(4, 4))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_of_products_with_factors_are_rounded_once(dtype):
    x, y = numbers(6, 6).to(dtype), numbers(6, 6).to(dtype)

    def f(x, y):
        return torch.addmm(x, x, y, beta=-4.775, alpha=2.0315), torch.addmv(x[0], y, x[1], alpha=0.3)

    for one, other in zip(ipu.compile(f, args=[x, y], target=TARGET)(x, y), f(x.double(), y.double()), strict=True):
        assert torch.allclose(one.double(), other, rtol=0.51 * torch.finfo(dtype).eps, atol=1e-6)


def test_eigenvalues_of_general_matrices():
    def f(x, y):
        values, vectors = torch.linalg.eig(x)
        again = (vectors * values[..., None, :] @ torch.linalg.inv(vectors)).real
        z = x.detach().requires_grad_()
        slope = torch.autograd.grad(torch.linalg.eigvals(z).abs().sum(), z)
        whole, of_whole = torch.linalg.eig(torch.complex(x, y))
        return (
            torch.linalg.eigvals(x).abs().sort()[0],
            again,
            *slope,
            (of_whole * whole[..., None, :]).abs().sum((-2, -1)),
        )

    check(f, numbers(3, 4, 4), numbers(3, 4, 4))


def test_reductions_into_a_number_and_its_places():
    def f(x, y):
        reduced = [x.index_reduce(0, torch.tensor(0), y, how) for how in ("prod", "mean", "amax", "amin")]
        means = torch.segment_reduce(torch.stack([x, y]), "mean", lengths=torch.tensor([0, 2]), initial=1.0)
        return *reduced, torch.nonzero_static(x, size=3).sum(), means, torch.sign(x > 1)

    check(f, torch.tensor(2.0), torch.tensor(3.0))


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


def test_special_functions_of_16_bits_are_rounded_once():
    def f(x, y, z):
        gammas = torch.special.gammainc(x, y), torch.special.gammaincc(y, x), torch.polygamma(1, y), torch.lgamma(y)
        return *gammas, torch.digamma(x), torch.erfinv(z), torch.special.i1(x), torch.special.log_ndtr(-y)

    args = [torch.linspace(low, high, 7).bfloat16() for low, high in ((1, 9), (1, 8), (-0.9, 0.9))]
    found = ipu.compile(f, args=args, target=TARGET)(*args)
    for one, exact in zip(found, f(*(each.double() for each in args)), strict=True):
        torch.testing.assert_close(one.double(), exact, rtol=2**-8, atol=2**-10)


def test_special_functions():
    def f(x, y):
        gammas = (
            torch.special.zeta(y - 1, -x.abs().floor()).nan_to_num(-1.0, 2.0),
            torch.lgamma(x),
            torch.digamma(x),
            torch.digamma(-1e-7 * y) / 1e7,
            torch.polygamma(2, y),
            torch.special.zeta(y + 1, y),
        )
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


def test_ops_are_named_after_their_modules():
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2))).eval()
    names = {each.name for each in ipu.compile(model, args=[numbers(3, 4)], target=TARGET).profile().ops}
    assert {"0", "1.1"} <= {each.partition("/")[0] for each in names}


def test_covariances_and_combinations_ask_for_no_value():
    counts, weights = torch.tensor([1, 2, 1, 3]), torch.tensor([0.1, 0.2, 0.3, 0.4])

    def f(x):
        return torch.cov(x), x.cov(correction=0, fweights=counts, aweights=weights), x.corrcoef(), x[0].cov()

    check(f, numbers(3, 4))
    check(lambda x: (torch.combinations(x, 3, True), torch.func.linearize(torch.sin, x)[1](x)), numbers(4))


def test_no_places_in_a_tensor_and_norms_of_no_rows():
    none = torch.zeros(2, 0, dtype=torch.int64)
    check(lambda x: (x.gather(0, none), x.take(none), x[:0].take(none[0])), numbers(5))
    check(lambda x: functional.group_norm(x, 2), numbers(0, 4, 3))


def test_matrices_without_elements_and_what_a_half_of_a_matrix_says():
    def f(x):
        empty = x[:, :0, :0]
        return torch.linalg.pinv(x, hermitian=True), torch.linalg.det(empty), *torch.linalg.slogdet(x[:0])

    check(f, numbers(2, 3, 3), tolerance=2e-5)
