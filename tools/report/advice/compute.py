"""Advice on computing: steps that few tiles share, and products of matrices that do not feed the matrix unit."""

from collections.abc import Iterator

from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.runtime.profile.compilation import Family
from ipu_mlir.runtime.profile.execution import ExecutedStep
from ipu_mlir.runtime.profile.target_facts import peak_type_of
from ipu_mlir.tools.report.advice.entry import Advice, Numbers
from ipu_mlir.tools.report.advice.wastes import Group, Waste, groups
from ipu_mlir.tools.report.units import digits, percent

_EVEN = 0.75
"""Balance of a step from which its tiles share the work well enough."""
_SLOW, _REACHABLE = 0.3, 0.6
"""Share of peak under which a product is slow, and the share that a well-shaped one reaches."""
_PRODUCTS = ("matmul", "conv", "contract", "dot", "matvec")
"""Words in the names of codelets that sum products."""


def uneven_ops(numbers: Numbers) -> Iterator[Advice]:
    """Ops whose slowest tile computes much longer than the others."""
    few: list[Waste] = []
    uneven: list[Waste] = []
    for step in numbers.executed.values():
        if step.compute and _balance(step) < _EVEN:
            some = step.active_tiles < _tiles_at_hand(numbers, step) / 2
            (few if some else uneven).append(Waste(numbers.steps[step.step].op, step.step, _waiting(step)))
    for group in groups(numbers, few):
        step = _step(numbers, group)
        yield Advice(
            "compute",
            f"Use more tiles in {group.title(numbers)}",
            f"{_slowest(numbers, step)}; only {step.active_tiles:,} of "
            f"{counted(_tiles_at_hand(numbers, step), 'tile')} take part.",
            "Cut the op into more parts (a hint ipu.parts, a split of its reduction), or give it more rows to share "
            "(a larger batch).",
            gain_cycles=group.cycles,
            step=step.step,
        )
    for group in groups(numbers, uneven):
        step = _step(numbers, group)
        yield Advice(
            "compute",
            f"Even out the tiles in {group.title(numbers)}",
            f"{_slowest(numbers, step)}.",
            "Choose sizes that the tiles share without a remainder, or other parts by a hint (ipu.parts).",
            gain_cycles=group.cycles,
            step=step.step,
        )


def _step(numbers: Numbers, group: Group) -> ExecutedStep:
    assert group.worst.step is not None, "computing is waste of a step"
    return numbers.executed[group.worst.step]


def _slowest(numbers: Numbers, step: ExecutedStep) -> str:
    times = digits(1 / max(_balance(step), 1e-3))
    name = numbers.steps[step.step].name
    return f"In '{name}' the slowest tile computes {times} times as long as the average tile"


def _waiting(step: ExecutedStep) -> float:
    """Cycles of all executions in which the average tile waits for the slowest."""
    return step.count * step.compute * (1 - _balance(step))


def _computing_ipus(step: ExecutedStep) -> int:
    return max(1, sum(compute > 0 for compute, *_ in step.per_ipu or ()))


def _balance(step: ExecutedStep) -> float:
    """Mean over slowest tile, of the IPUs that take part: a stage on one IPU leaves the others idle on purpose."""
    ipus = len(step.per_ipu or (0,))
    return min(1.0, step.balance * ipus / _computing_ipus(step))


def _tiles_at_hand(numbers: Numbers, step: ExecutedStep) -> int:
    return numbers.profile.target.tiles_per_ipu * _computing_ipus(step)


def slow_products(numbers: Numbers) -> Iterator[Advice]:
    """Products of matrices that reach little of the peak even on the tiles that compute them."""
    slow: dict[int, Family] = {}
    wastes: list[Waste] = []
    for step, family in _products(numbers):
        if _efficiency(numbers, family) < _SLOW:
            slow[step.step] = family
            gain = step.count * family.cycles_max * (1 - _efficiency(numbers, family) / _REACHABLE)
            wastes.append(Waste(family.op, step.step, gain))
    for group in groups(numbers, wastes):
        step = _step(numbers, group)
        family = slow[step.step]
        yield Advice(
            "compute",
            f"Feed the matrix unit in {group.title(numbers)}",
            f"In '{numbers.steps[step.step].name}' a tile that computes reaches "
            f"{percent(_efficiency(numbers, family))} of its {_type_of(family)} peak.",
            "The unit wants 16 or more input channels, output channels in multiples of 16, and 64 or more rows on each "
            "tile: merge small dimensions, pad channels, or use fewer tiles with larger parts.",
            gain_cycles=group.cycles,
            step=step.step,
        )


def wide_products(numbers: Numbers) -> Iterator[Advice]:
    """Products in f32 that would be faster in f16."""
    peaks = numbers.profile.target.peak_flops
    wide = [(step, family) for step, family in _products(numbers) if _type_of(family) == "f32"]
    if not wide or peaks.f32 >= peaks.f16:
        return
    cycles = sum(step.count * family.cycles_max for step, family in wide)
    worst, _ = max(wide, key=lambda pair: pair[0].count * pair[1].cycles_max)
    yield Advice(
        "compute",
        "Compute matrix products in f16",
        f"Products in f32 take {percent(numbers.share(cycles))} of all cycles, in {counted(len(wide), 'step')}; the "
        f"f16 peak is {digits(peaks.f16 / peaks.f32)} times as high, and f16 takes half the memory.",
        "Cast their operands to f16 where the accuracy allows it; partial sums may stay f32.",
        gain_cycles=cycles * (1 - peaks.f32 / peaks.f16),
        step=worst.step,
    )


def _products(numbers: Numbers) -> Iterator[tuple[ExecutedStep, Family]]:
    """Each family of products that was executed, and its step."""
    for compute_set in numbers.profile.compilation.compute_sets:
        step = numbers.executed.get(compute_set.step)
        if step is None or not step.count:
            continue
        for family in compute_set.families:
            if family.flops and any(word in family.codelet for word in _PRODUCTS):
                yield step, family


def _type_of(family: Family) -> str:
    return peak_type_of(family.codelet.rpartition("_")[2])


def _efficiency(numbers: Numbers, family: Family) -> float:
    """Operations of the family's vertices by those that their tiles could do in the same cycles."""
    target = numbers.profile.target
    peak = getattr(target.peak_flops, _type_of(family))
    return family.flops / max(1.0, family.cycles_total * peak / target.clock_hz / target.num_tiles)
