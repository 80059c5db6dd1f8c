"""The search: greedy, from the planner's own plan, by the cycles of profiles."""

from dataclasses import dataclass, field, replace
from random import Random

from benchmarks.plan_search.variation import Key, Varied, VariedPartition
from benchmarks.planner import Plan, plan_of
from ipu_mlir.compilation.variants import Variants
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.passes.placement.planner.on_ipus import numbers_of_ipus


@dataclass(frozen=True)
class _Choice:
    """A plan: where it is not the planner's."""

    changes: dict[Key, int] = field(default_factory=dict)
    moves: tuple[int, ...] = ()
    count: int | None = None


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        planned: the planner's own plan.
        best: the best of all, which is that one where nothing better is found.
        tries: how many plans were compiled, refused ones among them.
        what: the ops, by their places, that the best plan cuts in another way, and what else it does.
    """

    planned: Plan
    best: Plan
    tries: int
    what: str

    @property
    def ratio(self) -> float:
        return self.planned.cycles / self.best.cycles


def search(text: str, target: Target, tries: int, seed: int = 0) -> Found:
    """The best of ``tries`` plans of the program ``text``: each is the best so far with a few changes.

    Plans that the compiler refuses, or that do not fit, count as tries.
    """
    random, variants = Random(seed), Variants(text)
    asked: dict[Key, None] = {}
    choice = _Choice()
    best = planned = _compiled(variants, target, choice, asked)
    for _ in range(tries):
        other = _changed(choice, list(asked), target, random)
        try:
            found = _compiled(variants, target, other, asked)
        except (IpuError, ValueError):
            continue
        if (not found.fits, found.cycles) <= (not best.fits, best.cycles):
            best, choice = found, other
    return Found(planned, best, tries, _said(choice) if best.cycles < planned.cycles else "")


def _compiled(variants: Variants, target: Target, choice: _Choice, asked: dict[Key, None]) -> Plan:
    planner = None if choice == _Choice() else Varied(changes=choice.changes)
    if planner is None:  # ask what there is to change
        planner = Varied(asked=asked)
    partition = VariedPartition(planner=planner, moves=choice.moves, ipus=choice.count)
    return plan_of("searched", variants.profile(target, partition))


def _changed(choice: _Choice, ops: list[Key], target: Target, random: Random) -> _Choice:
    """``choice`` with one to three changes; one that it has may be taken back."""
    for _ in range(random.choice((1, 1, 2, 3))):
        kind = random.random()
        if target.ipus > 1 and kind < 0.1:
            choice = replace(choice, count=random.choice(numbers_of_ipus(1, target.ipus)))
        elif len(ops) > 1 and kind < 0.25:
            choice = replace(choice, moves=(*choice.moves, random.randrange(1 << 30)))
        elif choice.changes and kind < 0.35:
            dropped = random.choice(list(choice.changes))
            choice = replace(choice, changes={key: to for key, to in choice.changes.items() if key != dropped})
        else:
            choice = replace(choice, changes={**choice.changes, random.choice(ops): random.randrange(1 << 30)})
    return choice


def _said(choice: _Choice) -> str:
    parts = [f"{key[0] or key[2]} {'x'.join(map(str, key[1]))}" for key in choice.changes]
    if choice.moves:
        parts.append(f"{len(choice.moves)} moves")
    return ", ".join(parts if choice.count is None else [*parts, f"{choice.count} IPUs"])
