"""What masks select in programs of PyTorch, whose shapes do not depend on how many elements there are in the end."""

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from support.torch_results import TARGET, check, torchvision_with_its_ops  # noqa: E402

F = torch.nn.functional

X, Y = torch.randn(6, 4, generator=torch.manual_seed(0)), torch.randn(6, 4, generator=torch.manual_seed(1))
ROWS = torch.tensor([True, False, True, True, False, True])
CLASSES = torch.tensor([1, -1, 2, 0, -1, 3])


def assigned(x, y):
    x = x.clone()
    x[x > 0] *= 2
    mask = y > 0
    x[mask] = y[mask]
    x[y < -1] = y[x < -99].sum()
    return x


def experts(x, y):
    out, chosen = torch.zeros_like(x), y.argmax(-1)
    for each in range(4):
        rows, *_ = torch.where(chosen == each)
        out[rows] += each * x[rows]
        out.index_add_(0, rows, x[rows])
    return out


def reductions(x, y):
    rows = x[y[:, 0] > 0]
    return rows.mean(0), rows.std(), rows.amax(0), rows.logsumexp(0), rows.softmax(1).sum(0), rows.norm(), rows[0]


def losses(x, y):
    known = CLASSES >= 0
    each = F.cross_entropy(x[known], CLASSES[known], weight=y[0].abs(), label_smoothing=0.1)
    mask = y > 0
    known = y[:, 0] > 0
    labels = (x > 0).sum(1) % 4
    chosen = x[known, labels[known]].sum(), x[known, labels[known]] * torch.ones(1)
    return (
        chosen[0] + chosen[1].sum(),
        each,
        F.mse_loss(x[mask], y[mask]),
        F.kl_div(x[y[:, 0] > 0], y[y[:, 0] > 0], reduction="batchmean"),
    )


def sums(x, y):
    both = torch.cat([x[x > 0], y[y > 0]])
    return (
        x[x > 0].sum() / x[x > 0].numel(),
        torch.masked_select(x, y > 0).mean(),
        torch.masked_select(x[0, 0], y[0, 0] < 99),  # of one number
        (x[y > 0] - y[(-y < 0)]).abs().mean(),  # as many of another mask
        x[x > 99].sum(),
        x[x > 99].mean(),
        x[x > 0].log().sum() + torch.func.grad(lambda z: z[z > 0].log().sum())(x),
        both[both > 0.5].sum(),
        x[:4][~torch.eye(4, dtype=torch.bool)].view(4, 3),
        x[torch.nonzero(y[:, 0] > 0).squeeze(1)].sum(0) * torch.nonzero(x > 0).shape[0],
        torch.bincount((x > 0).sum(1), minlength=6),
        torch.bincount((x > 0).sum(1).byte(), y[:, 0], minlength=6),
    )


@pytest.mark.parametrize("program", (sums, reductions, losses, assigned, experts))
def test_programs_of_masks_are_those_of_pytorch(program):
    found = ipu.compile(program, args=[Y, X], target=ipu.Target(tiles_per_ipu=4), kernels="never")(X, Y)
    torch.testing.assert_close(found, program(X, Y), rtol=1e-5, atol=1e-5, equal_nan=True)


def test_a_row_for_each_that_is_selected_is_assigned_in_their_order():
    def program(x, mask, rows):
        x = x.clone()
        x[mask] = rows
        return x

    mask, values = torch.zeros(4, 4, dtype=torch.bool), torch.arange(4.0)
    mask[0, 1] = mask[2, 0] = mask[2, 3] = mask[3, 3] = True
    exe = ipu.compile(program, args=[X[:4], mask, values], target=ipu.Target(tiles_per_ipu=4))
    assert torch.equal(exe(X[:4], mask, values), program(X[:4], mask, values))


def orders(x, y):
    some, rows = x[x > 0], x[y[:, 0] > 0]
    best, places = some.topk(3)
    return (
        best,
        some[places],
        *some.sort(descending=True),
        some.argmax(),
        rows.max(0),
        rows.flatten(1),
        rows.reshape(-1, 2),
    )


def joined(x, y):
    parts = [x[x[:, 0] > 0], y[y[:, 0] > 0]]
    first, second = (torch.cat(parts) * 2).split([each.shape[0] for each in parts])
    left, right = torch.stack([parts[0], parts[0] + 1], 1).unbind(1)
    return first, second, left * right, torch.cat([parts[1], parts[1]], 1)


def places(x, y):
    numbers = (x * 2).to(torch.int64)
    every = torch.unique(numbers, return_inverse=True, return_counts=True)
    rows = torch.where(x[:, 0] > 0)[0]
    return *every, *numbers[0].unique_consecutive(return_counts=True), torch.nonzero(y > 0), x[rows[:2]], y[x > 99]


def largest(x, y):
    some, none = x[x > 0], x[x > 99]
    rest = some[1:]
    _, counts = torch.unique((x * 2).to(torch.int64), return_counts=True)
    both = torch.cat([none, some * 0.1])
    first, second = torch.cat([some, rest * 2]).split([some.shape[0], rest.shape[0]])
    return (
        rest.max(),
        rest.min(),
        both.max(),
        counts.min(),
        some[torch.tensor([-1, 0])],
        first.max(),
        second.min(),
    )


@pytest.mark.parametrize("program", (orders, joined, places, largest))
def test_results_have_as_many_rows_as_values_say(program):
    exe = ipu.compile(program, args=[X, Y], target=ipu.Target(tiles_per_ipu=4), kernels="never")
    for x, y in ((X, Y), (Y, X), (-X.abs(), Y)):
        if program not in (orders, largest) or (x > 0).any():
            torch.testing.assert_close(exe(x, y), program(x, y))


@pytest.mark.parametrize("at_once", (7, 1024))
def test_boxes_that_overlap_are_suppressed(at_once, monkeypatch):
    ops = torchvision_with_its_ops().ops
    from ipu_mlir.frontends.support import selecting

    def program(boxes, scores, groups):
        kept = ops.batched_nms(boxes, scores, groups, 0.3)[:9]
        sure = scores > 0.4
        return torch.cat([boxes[kept], scores[kept, None]], 1), ops.nms(
            boxes[sure], scores[sure], 0.1
        ) if at_once > 40 else scores[kept]

    monkeypatch.setattr(selecting, "_AT_ONCE", (at_once, 1 << 20))
    corners = torch.rand(40, 2, generator=torch.manual_seed(2)) * 10
    boxes, scores = torch.cat([corners, corners + torch.rand(40, 2) * 8], 1), torch.rand(40)
    args = boxes, scores, torch.randint(0, 3, (40,))
    exe = ipu.compile(program, args=args, target=ipu.Target(tiles_per_ipu=4))
    torch.testing.assert_close(exe(*args), program(*args))
    torch.testing.assert_close(exe(boxes, scores - 1, args[2]), program(boxes, scores - 1, args[2]))


def test_detectors_of_torchvision_give_their_boxes():
    detection = torchvision_with_its_ops().models.detection

    class Features(torch.nn.Module):
        out_channels = 4

        def forward(self, x):
            return {"0": F.avg_pool2d(x.repeat(1, 2, 1, 1)[:, :4], 8)}

    sizes = detection.anchor_utils.DefaultBoxGenerator([[2]], steps=[8])
    model = detection.ssd.SSD(
        Features(), sizes, (32, 32), 3, score_thresh=0.34, topk_candidates=20, nms_thresh=0.3,
        head=detection.ssd.SSDHead([4], sizes.num_anchors_per_location(), 3),
    ).eval()  # fmt: skip
    image = torch.rand(3, 30, 40, generator=torch.manual_seed(3))
    exe = ipu.compile(model, args=[[image]], target=ipu.Target(tiles_per_ipu=8), kernels="never")
    (wanted,) = model([image])
    (found,) = exe([image])
    assert 3 < len(wanted["boxes"]) < 200
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def columns(x, mask):
    found, changed = x[:, mask], x.clone()
    changed[:, mask] = found * 2
    first = found.max(0), found.max(1).indices, found.amax(1, keepdim=True), found.mean((0, 1))
    products = x.T @ found, found.T @ x, found @ x.T[mask]
    return changed, found, *first, found[1:, :], (found * x[0, mask] + x[:, :1]).T, *products


def columns_beside_others(x, mask):
    found = x[:, :, mask]
    parts = found.mean(1), x[0, :, mask], x[:, 1, mask].sum(0), found.permute(2, 0, 1), found * x[:, :1, mask]
    return found, x[..., mask].sum(-1), *parts, x[:, x[0] > 0].sum(1), x[:, x[0] > 0]


@pytest.mark.parametrize(("program", "shape"), [(columns, (3, 4)), (columns_beside_others, (2, 3, 4))])
def test_a_mask_of_another_dimension(program, shape):
    args = torch.randn(shape, generator=torch.manual_seed(0)), torch.tensor([True, False, True, False])
    exe = ipu.compile(program, args=args, target=ipu.Target(tiles_per_ipu=4), kernels="never")
    torch.testing.assert_close(exe(*args), program(*args))


def test_modules_select_by_their_buffers():
    class Selecting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.plain = torch.nn.Linear(4, 3), ROWS
            self.register_buffer("rows", ROWS)

        def forward(self, x):
            found = self.layer(x)
            return found[self.rows].mean(), found[self.plain].sum(0), x[x > 0].sum()

    module = Selecting()
    found = ipu.compile(module, args=[X], target=ipu.Target(tiles_per_ipu=4))(Y)
    torch.testing.assert_close(found, module(Y))


def test_a_number_beyond_the_counts_fails_the_run():
    program = ipu.compile(
        lambda x: torch.bincount(x, minlength=3), args=[torch.tensor([0, 2])], target=ipu.Target(tiles_per_ipu=4)
    )
    assert program(torch.tensor([2, 2])).tolist() == [0, 0, 2]
    with pytest.raises(ipu.RunError, match="bincount: a number is not from 0 to 2"):
        program(torch.tensor([1, 3]))


@pytest.mark.parametrize(
    "program",
    (
        lambda x: len(x[x > 0]),
        lambda x: x[:, x[0] > 0].flip(1),
        lambda x: torch.unique(x, dim=0),
        lambda x: torch.bincount(x.to(torch.int64).view(-1)).sum(),
        lambda x: [each.sum() for each in x[x > 0]],
        lambda x: x[x > 0].flip(0)[0],
        lambda x: x[:, x[0] > 0] + x,
        lambda x: x[:, x[0] > 0][:, 0],
        lambda x: x[:, x[0] > 0].reshape(-1),
        lambda x: (x[x > 0] + x[:, :1]).sum(),
        lambda x: (x[x[:, 0] > 0] * x[x[:, 0] > 0][:, 0]).sum(),
        lambda x: x[x > 0][..., 0],
    ),
)
def test_results_as_large_as_values_say_are_refused(program):
    with pytest.raises(ipu.CompileError, match="as large as values say"):
        ipu.compile(program, args=[X])


def test_labels_that_a_mask_selects_go_through_the_loss_of_sequences():
    def loss(x, labels):
        mask = labels >= 0
        given = x.log_softmax(-1).transpose(0, 1), labels.masked_select(mask), torch.tensor([7, 7]), mask.sum(-1)
        return F.ctc_loss(*given)

    x, labels = torch.randn(2, 7, 5), torch.tensor([[1, 2, -100], [3, -100, -100]])
    check(torch.func.grad_and_value(loss), x, labels)


class Experts(torch.nn.Module):
    """Rows go to two of three experts, sorted by these and split by how many each has."""

    def __init__(self):
        super().__init__()
        self.router, self.experts = torch.nn.Linear(4, 3), torch.nn.ModuleList(torch.nn.Linear(4, 5) for _ in range(3))

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(2)
        counts = torch.nn.functional.one_hot(chosen.flatten(), 3).sum(0).tolist()
        order = chosen.flatten().argsort(stable=True)
        parts = x[order // 2].split(counts)
        found = torch.cat([expert(part) for expert, part in zip(self.experts, parts, strict=True)])
        again = torch.cat([part.chunk(2, -1)[1] for part in parts]).split(counts)
        gate, value = torch.cat([part * 2 for part in again]).unbind(1)
        whole = torch.zeros(len(order), 5).index_add(0, order, found), gate.sum() - value.sum()
        found = found * weights.flatten()[order][:, None]
        return torch.zeros(len(x), 5).index_add(0, order // 2, found), whole


def test_rows_that_are_split_by_counts():
    torch.manual_seed(0)
    module = Experts()
    exe = ipu.compile(module, args=[torch.zeros(6, 4)], target=TARGET)
    for x in torch.randn(3, 6, 4), torch.ones(1, 6, 4):
        for each in x:
            torch.testing.assert_close(exe(each), module(each))
    check(
        lambda x, counts: [each.sum(1) for each in x.split(counts.tolist(), 1)], torch.randn(2, 5), torch.tensor([2, 3])
    )
