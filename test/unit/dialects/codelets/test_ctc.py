"""Losses of label sequences and searches for them: two forms that agree, and all paths one by one."""

import itertools

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.machine.machine import IPU2
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor


def random_case(random, batch=3):
    """Operands of losses, of random sizes; some sequences have no path."""
    times, classes, most = random.integers(1, 9), random.integers(2, 7), random.integers(1, 6)
    rows = random.standard_normal((batch, times, classes)).astype(np.float32)
    rows -= np.log(np.exp(rows).sum(-1, keepdims=True))
    blank = int(random.integers(classes))
    labels = random.integers(0, classes - 1, (batch, most)).astype(np.int32)
    labels += labels >= blank
    counts = random.integers(0, most + 1, batch).astype(np.int32)
    lengths = random.integers(0, times + 1, batch).astype(np.int32)
    return rows, labels, counts, lengths, np.full(batch, blank, np.int32)


def all_paths(rows, blank):
    """The probability of every label sequence."""
    found = {}
    for path in itertools.product(range(rows.shape[1]), repeat=len(rows)):
        sequence = tuple(k for k, _ in itertools.groupby(path) if k != blank)
        found[sequence] = found.get(sequence, 0.0) + np.exp(sum(row[k] for row, k in zip(rows, path, strict=True)))
    return found


@pytest.mark.parametrize("seed", range(25))
def test_both_forms_of_losses_and_gradients_agree(seed):
    case = random_case(np.random.default_rng(seed))
    losses = [codelet_named("ctc_loss").per_tile(*case)[0], codelet_named("ctc_loss").vectorised(*case)[0]]
    pairs = [getattr(codelet_named("ctc_loss_gradient"), form)(*case) for form in ("per_tile", "vectorised")]
    for found in (*losses[1:], pairs[0][0], pairs[1][0]):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, losses[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(pairs[1][1], pairs[0][1], rtol=1e-4, atol=1e-5)
    rows, labels, counts, lengths, blanks = case
    for place, loss in enumerate(losses[0]):
        wanted = all_paths(rows[place, : lengths[place]][:6], blanks[place]) if lengths[place] <= 6 else None
        if wanted is not None and rows.shape[2] ** lengths[place] < 5000:
            probability = wanted.get(tuple(labels[place, : counts[place]]), 0.0)
            np.testing.assert_allclose(np.exp(-loss), probability, rtol=1e-4, atol=1e-7)


def test_gradients_of_losses_are_differences():
    rows, *rest = random_case(np.random.default_rng(7))
    rows = rows.astype(np.float64)
    loss, gradient = codelet_named("ctc_loss_gradient").vectorised(rows, *rest)
    for place in np.ndindex(rows.shape):
        step = np.zeros_like(rows)
        step[place] = 1e-5
        up, down = (codelet_named("ctc_loss").vectorised(rows + sign * step, *rest)[0] for sign in (1, -1))
        if np.isfinite(loss[place[0]]):
            np.testing.assert_allclose(gradient[place], (up - down)[place[0]] / 2e-5, rtol=1e-5, atol=1e-8)


def test_sizes_beyond_the_arrays_are_cut():
    rows, labels, counts, lengths, blanks = random_case(np.random.default_rng(3))
    wild = (labels, counts + 100, lengths - 200, blanks + 50)
    for form in ("per_tile", "vectorised"):
        for name in ("ctc_loss", "ctc_loss_gradient"):
            found = getattr(codelet_named(name), form)(rows, *wild)[0]
            assert np.isposinf(found).all()


@pytest.mark.parametrize("seed", range(12))
def test_both_forms_of_searches_agree(seed):
    rows, _, _, lengths, blanks = random_case(np.random.default_rng(seed))
    order = np.tile(np.arange(1 + seed, dtype=np.int32), (len(rows), 1))
    exact, fast = (getattr(codelet_named("ctc_beam_search"), form)(rows, lengths, blanks, order) for form in FORMS)
    for one, other in zip(exact, fast, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


FORMS = ("per_tile", "vectorised")


@pytest.mark.parametrize("form", FORMS)
def test_searches_with_room_for_all_find_all(form):
    random = np.random.default_rng(5)
    rows = np.log(random.dirichlet(np.ones(3), (2, 5)))
    lengths, blanks = np.array([5, 3], np.int32), np.array([2, 2], np.int32)
    order = np.tile(np.arange(80, dtype=np.int32), (2, 1))
    scores, counts, labels = getattr(codelet_named("ctc_beam_search"), form)(rows, lengths, blanks, order)
    for place, length in enumerate(lengths):
        wanted = sorted(all_paths(rows[place, :length], 2).items(), key=lambda each: -each[1])
        for number, (sequence, probability) in enumerate(wanted):
            np.testing.assert_allclose(np.exp(-scores[place, number]), probability, rtol=1e-9)
            assert tuple(labels[place, number, : counts[place, number]]) == sequence
            assert (labels[place, number, len(sequence) :] == -1).all()
        assert np.isposinf(scores[place, len(wanted) :]).all() and not counts[place, len(wanted) :].any()


@pytest.mark.parametrize(("name", "inputs"), [("ctc_loss", 5), ("ctc_loss_gradient", 5), ("ctc_beam_search", 4)])
def test_costs_grow_with_every_size(name, inputs):
    codelet, small = codelet_named(name), (1, 8, 5, 3)
    call = CodeletCall(codelet, ("f32",) * inputs, ((),) * inputs, ((),) * inputs, (0,), (1, 2, 3))
    for take, growing in ((codelet.cycles, (0, 1, 3)), (codelet.flops, (0, 1, 3)), (codelet.scratch_bytes, (0, 3))):
        machine = () if take is codelet.flops else (IPU2,)
        for place in growing:
            large = np.array([16 * size if at == place else size for at, size in enumerate(small)])
            assert take(call, large, *machine) > take(call, np.array(small), *machine)


def test_losses_and_gradients_of_logits_are_those_of_torch():
    torch = pytest.importorskip("torch")
    random, seen = np.random.default_rng(17), 0
    for _ in range(100):
        rows, labels, counts, lengths, blanks = random_case(random, batch=5)
        lengths = np.maximum(lengths, 1)
        logits = torch.tensor(rows, requires_grad=True)
        given = (torch.tensor(lengths.astype(np.int64)), torch.tensor(counts.astype(np.int64)), int(blanks[0]))
        scores = logits.log_softmax(-1).transpose(0, 1)
        wanted = torch.nn.functional.ctc_loss(scores, torch.tensor(labels).long(), *given, reduction="none")
        loss, gradient = codelet_named("ctc_loss_gradient").vectorised(
            rows - np.log(np.exp(rows).sum(-1, keepdims=True)), labels, counts, lengths, blanks
        )
        np.testing.assert_allclose(loss, wanted.detach(), rtol=1e-4, atol=1e-5)
        possible = np.isfinite(loss)
        wanted[torch.tensor(possible)].sum().backward()
        by_logits = gradient - np.exp(rows) * gradient.sum(-1, keepdims=True)
        np.testing.assert_allclose(by_logits[possible], logits.grad[possible], rtol=1e-3, atol=1e-5)
        seen += len(loss)
    assert seen == 500


PROGRAM = """
!n = tensor<3xi32>
!x = tensor<3x5x4xf32>
!s = tensor<3x6xf32>
!k = tensor<3x6xi32>
!l = tensor<3x6x5xi32>
func.func @main(%x: !x, %l: tensor<3x2xi32>, %n: !n, %t: !n, %b: !n) -> (tensor<3xf32>, !x, !s, !k, !l) {
  %0:2 = stablehlo.custom_call @ipu.codelet(%x, %l, %n, %t, %b)
    {mhlo.backend_config = {name = "ctc_loss_gradient"}} : (!x, tensor<3x2xi32>, !n, !n, !n) -> (tensor<3xf32>, !x)
  %w = stablehlo.constant dense<0> : !k
  %1:3 = stablehlo.custom_call @ipu.codelet(%x, %t, %b, %w)
    {mhlo.backend_config = {name = "ctc_beam_search"}} : (!x, !n, !n, !k) -> (!s, !k, !l)
  return %0#0, %0#1, %1#0, %1#1, %1#2 : tensor<3xf32>, !x, !s, !k, !l
}"""


@pytest.mark.parametrize("tiles", [1, 4])
def test_calls_in_programs_run_on_both_executors(tiles):
    random = np.random.default_rng(1)
    rows = np.log(random.dirichlet(np.ones(4), (3, 5))).astype(np.float32)
    labels, counts = random.integers(0, 3, (3, 2)).astype(np.int32), np.array([2, 1, 0], np.int32)
    times, blanks = np.array([5, 3, 2], np.int32), np.full(3, 3, np.int32)
    exe = ipu.compile(PROGRAM, target=ipu.Target(tiles_per_ipu=tiles))
    given = [rows, labels, counts, times, blanks]
    wanted = [
        *codelet_named("ctc_loss_gradient").vectorised(*given),
        *codelet_named("ctc_beam_search").vectorised(rows, times, blanks, np.zeros((3, 6), np.int32)),
    ]
    for found in (exe.run(given), PerTileExecutor(exe.module()).run(given)):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_losses_and_gradients_of_500_cases_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(2026)
    for _ in range(500):
        rows, labels, counts, lengths, blanks = random_case(random, batch=int(random.integers(1, 5)))
        lengths = np.maximum(lengths, 1)  # PyTorch wants a time
        scores = torch.from_numpy(rows.astype(np.float64)).requires_grad_()
        wanted = torch.nn.functional.ctc_loss(
            scores.transpose(0, 1),
            torch.from_numpy(labels).long(),
            torch.from_numpy(lengths).long(),
            torch.from_numpy(counts).long(),
            blank=int(blanks[0]),
            reduction="none",
        )
        wanted[torch.isfinite(wanted)].sum().backward()
        (found,) = codelet_named("ctc_loss").vectorised(rows, labels, counts, lengths, blanks)
        np.testing.assert_allclose(found, wanted.detach(), rtol=1e-5, atol=1e-5)
        loss, gradient = codelet_named("ctc_loss_gradient").vectorised(rows, labels, counts, lengths, blanks)
        np.testing.assert_allclose(loss, wanted.detach(), rtol=1e-5, atol=1e-5)
        for place in np.flatnonzero(np.isfinite(loss)):
            times = lengths[place]
            # PyTorch's gradient is that of scores which it takes for a log_softmax: it adds their probabilities
            theirs = scores.grad[place, :times] - torch.exp(scores.detach()[place, :times])
            np.testing.assert_allclose(gradient[place, :times], theirs, rtol=1e-4, atol=1e-5)
            assert not gradient[place, times:].any()
