"""Live ranges of buffers by abstract interpretation: the program is followed without data, through every branch.

A buffer is live while a value refers to it (``lifetimes``). A loop is followed until its carried buffers repeat, since
the buffer of one iteration is still live in the next. After a branch, the buffers that its bodies allocate for one
result count as one. Arguments of the program and constants are always live, and are none of the buffers here.
"""

from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ipu_mlir.dialects.analysis.program.tree import Branch, Call, Node, Repeat, Sequence, Step, While
from ipu_mlir.dialects.memory.lifetimes import Action, BlockPlan, Planner, Slot
from ipu_mlir.dialects.support.bindings import ir

MOST_ITERATIONS = 8
"""Loops whose carried buffers change places in longer cycles are followed so far."""

MOST_BLOCKS = 10_000
"""After so many runs of blocks a loop is followed for one iteration, as it doubles what there is to follow in it."""

Instance: TypeAlias = int
Shown: TypeAlias = frozenset[Instance] | None
"""The buffers that a value may show; None for a value that is no buffer."""


@dataclass(frozen=True)
class Event:
    """Something that happens: a buffer is born or dies (``number`` counts allocations), or step ``number`` runs."""

    kind: Literal["birth", "death", "step"]
    number: int


@dataclass
class Timeline:
    """The events of a program, in order.

    Attributes:
        allocations: the values of the buffers, in the order of their first birth.
        events: births, deaths and steps; steps of loops come several times.
        constants: the ``memref.get_global`` ops.
        results: per result of the program, the numbers of the allocations that it may show.
    """

    allocations: list[ir.Value] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    constants: list[ir.Operation] = field(default_factory=list)
    results: list[frozenset[int]] = field(default_factory=list)


def timeline_of(tree: Sequence) -> Timeline:
    """Follow the program of ``tree``."""
    run = _Run()
    run.entry(tree)
    return run.timeline


class _Run:
    """The state: per slot what it shows, per instance of a buffer how many slots and hands hold it."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self._planner = Planner()
        self._shown: dict[Slot, frozenset[Instance]] = {}
        self._holders: dict[Instance, int] = {}
        self._numbers: dict[Instance, int] = {}
        self._number_of: dict[ir.Value, int] = {}
        self._seen_constants: set[str] = set()
        self._next = 0
        self._blocks_run = 0
        self._followed: set[ir.Operation] = set()
        self._called: set[int] = set()
        """The numbers of the bodies of functions that were called."""
        self._given: dict[tuple[object, ...], list[frozenset[int | tuple[int, int]] | None]] = {}
        """By the function and the buffers that live when it is called, what its results show: arguments, by their
        place, or buffers that it made, by the number of the allocation and one that tells them apart."""

    def entry(self, tree: Sequence) -> None:
        arguments = [frozenset[Instance]() for _ in tree.block.arguments]
        found = self._block(tree, arguments)
        self.timeline.results = [frozenset(self._numbers[each] for each in shown or ()) for shown in found]

    def _block(self, sequence: Sequence, arguments: Many[Shown]) -> list[Shown]:
        """Run a block on buffers that it takes over; what it yields is held once for whoever gets it."""
        self._blocks_run += 1
        plan: BlockPlan = self._planner.plan(sequence)
        self._fill(plan.arguments, arguments)
        self._forget(plan.unused)
        for action in plan.actions:
            self._act(action)
            self._forget(action.dying)
        yielded = self._take(plan.yielded)
        self._forget(plan.last)
        return yielded

    def _act(self, action: Action) -> None:
        match action.kind:
            case "allocate":
                for value, slot in zip(action.op.results, action.results, strict=True):
                    if slot is not None:
                        self._shown[slot] = frozenset((self._birth(value),))
            case "constant":
                self._constant(action.op)
                self._fill(action.results, [frozenset()])
            case "show":
                shown = frozenset().union(*(self._shown[slot] for slot in action.operands if slot is not None))
                for slot in action.results:
                    if slot is not None:
                        self._hold(shown)
                        self._shown[slot] = shown
            case "node":
                assert action.node is not None, "an action of this kind has its node"
                self._node(action.node, action)
            case "use":
                pass

    def _node(self, node: Node, action: Action) -> None:
        if isinstance(node, Step):
            self.timeline.events.append(Event("step", node.number))
            return
        taken = self._take(action.operands)
        self._forget(action.moved)
        match node:
            case Repeat():
                found = self._repeat(node, taken[3:])
            case While():
                found = self._while(node, taken)
            case Call():
                found = self._call(node, taken)
            case Branch():
                found = self._branch(node)
            case Sequence():
                raise AssertionError("a block stands in control flow, not in a block")
        self._fill(action.results, found)

    def _call(self, call: Call, taken: list[Shown]) -> list[Shown]:
        """What the function gives. One that was called before, while the same buffers lived, needs what it did then:
        a function that calls another one twice, which does so too, runs it a number of times that doubles each time.
        """
        if call.body.number not in self._called:
            self._called.add(call.body.number)
            return self._block(call.body, taken)
        given = list(dict.fromkeys(each for shown in taken for each in sorted(shown or ())))
        places = {each: place for place, each in enumerate(given)}
        pattern = tuple(None if shown is None else frozenset(places[each] for each in shown) for shown in taken)
        alive = sorted(self._numbers[each] for each in self._holders if each not in places)
        kept = tuple(self._holders[each] > sum(each in (shown or ()) for shown in taken) for each in given)
        key = call.body.number, pattern, tuple(self._numbers[each] for each in given), kept, tuple(alive)
        if key not in self._given:
            found = self._block(call.body, taken)
            made = {each for shown in found for each in shown or () if each not in places}
            numbers: dict[Instance, int | tuple[int, int]] = {
                **{each: (self._numbers[each], place) for place, each in enumerate(sorted(made))},
                **places,
            }
            self._given[key] = [
                None if shown is None else frozenset(numbers[each] for each in shown) for shown in found
            ]
            return found
        made_now: dict[tuple[int, int], Instance] = {}

        def now(token: int | tuple[int, int]) -> Instance:
            if isinstance(token, int):
                return given[token]
            if token not in made_now:
                made_now[token] = self._birth(self.timeline.allocations[token[0]])
            return made_now[token]

        results = [None if shown is None else frozenset(map(now, shown)) for shown in self._given[key]]
        for shown in results:
            self._hold(shown or ())
        self._let_go(tuple(made_now.values()))  # their birth held them once
        for shown in taken:
            self._let_go(shown or ())
        return results

    def _repeat(self, loop: Repeat, state: list[Shown]) -> list[Shown]:
        """Iterations until what is carried repeats."""
        before: list[list[Shown]] = [] if loop.count else [state]
        seen = self._patterns_before(loop, state)
        for _ in range(MOST_ITERATIONS if loop.count is None else min(loop.count, MOST_ITERATIONS)):
            state = self._block(loop.body, [None, *state])
            if self._repeats(state, seen):
                break
            before.append(state)
        return self._joined(state, before)

    def _while(self, loop: While, state: list[Shown]) -> list[Shown]:
        """The condition yields what the body gets, and what the loop gives."""
        _, *found = self._block(loop.condition, state)
        before: list[list[Shown]] = []
        seen: set[object] = {self._pattern(found)}
        for _ in range(MOST_ITERATIONS):
            before.append(found)
            _, *found = self._block(loop.condition, self._block(loop.body, found))
            if self._repeats(found, seen):
                break
        return self._joined(found, before)

    def _patterns_before(self, loop: Repeat, state: list[Shown]) -> set[object]:
        """Where a loop is followed again, in another iteration of one around it, one iteration says what more would."""
        is_known = loop.op in self._followed
        self._followed.add(loop.op)
        return {self._pattern(state)} if is_known else set()

    def _repeats(self, state: list[Shown], seen: set[object]) -> bool:
        """True if what is carried is ``seen`` already, so that another iteration would be like one before."""
        key = self._pattern(state)
        is_known = key in seen or self._blocks_run > MOST_BLOCKS
        seen.add(key)
        return is_known

    def _pattern(self, state: list[Shown]) -> object:
        """The buffers that are carried; those that nothing else shows as numbers: equal patterns go on alike."""
        held = [each for shown in state for each in sorted(shown or ())]
        own = {each for each in held if self._holders[each] == held.count(each)}
        names: dict[Instance, int] = {}
        return tuple(
            tuple(-1 - names.setdefault(each, len(names)) if each in own else each for each in sorted(shown or ()))
            for shown in state
        )

    def _joined(self, state: list[Shown], others: list[list[Shown]]) -> list[Shown]:
        """``state``, or what else of ``others`` still lives: a result may show either."""
        found: list[Shown] = []
        for place, shown in enumerate(state):
            if shown is None:
                found.append(None)
                continue
            alive = {each for other in others for each in other[place] or () if each in self._holders} - shown
            self._hold(alive)
            found.append(shown | alive)
        return found

    def _branch(self, branch: Branch) -> list[Shown]:
        """Every body from the same state. What bodies make for one result is one buffer: only one of them runs."""
        kept: dict[int, Instance] = {}
        """Per result for which a body made a buffer, the one that stands for all."""
        results: list[set[Instance]] = [set() for _ in branch.op.results]
        for body in branch.bodies:
            first_new = self._next
            found = self._block(body, [])
            first_place: dict[Instance, int] = {}
            for place, shown in enumerate(found):
                for each in shown or ():
                    if each < first_new:
                        results[place].add(each)
                    else:
                        results[place].add(kept.setdefault(first_place.setdefault(each, place), each))
            for shown in found:
                self._let_go(shown or ())
        for each in kept.values():
            self._revive(each)
        for shown in results:
            self._hold(shown)
        is_buffer = [isinstance(result.type, ir.MemRefType) for result in branch.op.results]
        return [frozenset(shown) if buffer else None for shown, buffer in zip(results, is_buffer, strict=True)]

    def _birth(self, value: ir.Value) -> Instance:
        if value not in self._number_of:
            self._number_of[value] = len(self.timeline.allocations)
            self.timeline.allocations.append(value)
        instance = self._next
        self._next += 1
        self._numbers[instance] = self._number_of[value]
        self._revive(instance)
        self._hold((instance,))
        return instance

    def _revive(self, instance: Instance) -> None:
        self._holders[instance] = 0
        self.timeline.events.append(Event("birth", self._numbers[instance]))

    def _constant(self, op: ir.Operation) -> None:
        name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
        if name not in self._seen_constants:
            self._seen_constants.add(name)
            self.timeline.constants.append(op)

    def _fill(self, slots: Many[Slot | None], values: Many[Shown]) -> None:
        """Let ``values``, each held once, be in ``slots``."""
        for slot, shown in zip(slots, values, strict=True):
            if slot is not None:
                self._shown[slot] = shown or frozenset()

    def _take(self, slots: Many[Slot | None]) -> list[Shown]:
        """Hold what is in ``slots`` once more."""
        found: list[Shown] = [None if slot is None else self._shown[slot] for slot in slots]
        for shown in found:
            self._hold(shown or ())
        return found

    def _hold(self, instances: "frozenset[Instance] | set[Instance] | tuple[Instance, ...]") -> None:
        for each in instances:
            self._holders[each] += 1

    def _forget(self, slots: Many[Slot]) -> None:
        for slot in slots:
            self._let_go(self._shown.pop(slot))

    def _let_go(self, instances: "frozenset[Instance] | tuple[Instance, ...]") -> None:
        for each in instances:
            self._holders[each] -= 1
            if not self._holders[each]:
                del self._holders[each]
                self.timeline.events.append(Event("death", self._numbers[each]))
