"""Random numbers of PyTorch: what they are drawn from, and how they are spread."""

import numpy as np
import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from support.torch_results import TARGET  # noqa: E402

nn = torch.nn


def test_random_numbers_are_drawn_from_a_state_that_sessions_may_set():
    def f(x):
        return nn.functional.dropout(x, 0.25), torch.randn(4000), torch.rand_like(x), torch.randint(-2, 3, x.shape)

    x = torch.ones(4000)
    program = ipu.compile(f, args=[x], target=TARGET)
    dropped, normal, uniform, integers = program(x)
    assert set(dropped.unique().tolist()) == {0.0, torch.tensor(1 / 0.75).item()} and abs(dropped.mean() - 1) < 0.03
    assert (
        abs(normal.mean()) < 0.06 and abs(normal.std() - 1) < 0.04 and abs((normal < -1).float().mean() - 0.1587) < 0.02
    )
    assert uniform.min() >= 0 and uniform.max() <= 1 and abs(uniform.mean() - 0.5) < 0.02
    assert sorted(integers.unique().tolist()) == [-2, -1, 0, 1, 2]
    again = program(x)
    assert not any(map(torch.equal, again, (dropped, normal, uniform, integers)))
    one, other = program.session(), program.session()
    assert torch.equal(one.run("main", x.numpy())[1], normal)
    other["global_seed"] = ipu.random.key(7)
    assert not np.array_equal(other.run("main", x.numpy())[1], normal)
    np.testing.assert_allclose(ipu.compile(f, args=[x], target=TARGET).run_per_tile([x.numpy()])[1], normal, atol=1e-6)


def test_places_and_orders_are_drawn():
    weights = torch.tensor([0.0, 3.0, 1.0])
    program = ipu.compile(
        lambda w: (torch.randperm(9), w.multinomial(2), w.multinomial(4000, replacement=True), torch.normal(w, 2.0)),
        args=[weights],
        target=TARGET,
    )
    order, two, many, normal = program(weights)
    assert sorted(order.tolist()) == list(range(9)) and sorted(two.tolist()) == [1, 2] and normal.shape == (3,)
    counts = many.bincount(minlength=3)
    assert counts[0] == 0 and 2850 < counts[1] < 3150


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        (lambda: torch.empty(20000).uniform_(2, 3), 2.5, 12**-0.5),
        (lambda: torch.empty(20000).exponential_(2.0), 0.5, 0.5),
        (lambda: torch.empty(20000).geometric_(0.5), 2.0, 2**0.5),
        (lambda: torch.empty(20000).log_normal_(0, 0.5), np.exp(0.125), 0.604),
        (lambda: torch.empty(20000).cauchy_().atan(), 0.0, np.pi / 12**0.5),
        (lambda: torch.randn(20000, dtype=torch.complex64).abs() ** 2, 1.0, 1.0),
        (lambda: torch.randn(20000, dtype=torch.bfloat16).float(), 0.0, 1.0),
        (lambda: torch.randint(0, 2**40, (20000,)).float() / 2**40, 0.5, 12**-0.5),
        (lambda: torch.bernoulli(torch.full((20000,), 0.3)), 0.3, 0.21**0.5),
        (lambda: torch.rand(20000, generator=torch.Generator().manual_seed(1)), 0.5, 12**-0.5),
    ],
)
def test_moments_of_random_numbers(draw, mean, deviation):
    found = ipu.compile(lambda x: draw(), args=[torch.ones(1)], target=TARGET)(torch.ones(1)).double()
    assert abs(found.mean() - mean) < 0.03 * deviation and abs(found.std() / deviation - 1) < 0.05


def test_distributions_do_not_check_their_arguments_in_programs(monkeypatch):
    kinds = torch.distributions
    monkeypatch.setattr(kinds.Distribution, "_validate_args", True)  # torch.compile, where it is used, turns it off

    def densities(p):
        normal = kinds.Normal(p, 1.0).log_prob(p), kinds.MultivariateNormal(p, torch.eye(3)).log_prob(p)
        return *normal, kinds.Beta(p, p + 1).entropy(), kinds.Categorical(logits=p).log_prob(torch.tensor(2))

    given = torch.tensor([0.3, 0.7, 1.2])
    torch.testing.assert_close(ipu.compile(densities, args=[given], target=TARGET)(given), densities(given))
    with pytest.raises(ValueError, match="to satisfy the constraint"):
        kinds.Normal(given, -1.0)
