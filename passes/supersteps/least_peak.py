"""An order of tasks in which the buffers that live at one time take few bytes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

Order = list[int]


@dataclass(frozen=True)
class Buffer:
    """A buffer that tasks touch.

    Attributes:
        size: its bytes.
        touched_by: numbers of the tasks that do, in order; each once.
        is_given: it lives before the first task.
        is_kept: it lives after the last task.
    """

    size: int
    touched_by: tuple[int, ...]
    is_given: bool = False
    is_kept: bool = False


def least_peak_order(after: Sequence[set[int]], buffers: Sequence[Buffer], carriers: Iterable[int] = ()) -> Order:
    """The tasks in the order of least peak among a few: as they are, or each just before who needs it; of both, with
    tasks that free memory as early as can be, or with those that take it as late.

    Args:
        after: for each task the numbers of those that it has to follow, all of them lower.
        buffers: what the tasks touch.
        carriers: tasks that only bring something to where another one needs it. They run just before that one.

    >>> products = [Buffer(64, (0, 2)), Buffer(64, (1, 3))]
    >>> sums = [Buffer(1, (2,), is_kept=True), Buffer(1, (3,), is_kept=True)]
    >>> least_peak_order([set(), set(), {0}, {1}], [*products, *sums])
    [0, 2, 1, 3]
    """
    groups = _with_carriers(after, buffers, carriers)
    number = {task: place for place, group in enumerate(groups) for task in group}
    joined = [{number[each] for task in group for each in after[task]} - {place} for place, group in enumerate(groups)]
    forward = [replace(each, touched_by=tuple({number[task] for task in each.touched_by})) for each in buffers]
    backward = [replace(each, is_given=each.is_kept, is_kept=each.is_given) for each in forward]
    earlier, text = _reversed(joined), list(range(len(groups)))

    def sooner(order: Order) -> Order:
        return _with_shrinking_first(order, joined, earlier, forward)

    def later(order: Order) -> Order:
        return _with_shrinking_first(order[::-1], earlier, joined, backward)[::-1]

    needed = _as_needed(joined, earlier)
    orders = [text, needed, sooner(text), later(text), sooner(needed), later(needed)]
    found = [list(range(len(after))), *([task for each in order for task in groups[each]] for order in orders)]
    return min(found, key=lambda order: peak_of(order, buffers))  # the first of equal ones


def _with_carriers(after: Sequence[set[int]], buffers: Sequence[Buffer], carriers: Iterable[int]) -> list[Order]:
    """The tasks in groups that can run one after the other, in order: ``carriers`` with who needs what they bring.

    Groups stand in the order of their last tasks, so one joins only where all that has to follow it comes later still.

    >>> _with_carriers([set(), set(), {0}, {1}], [Buffer(8, (0, 2)), Buffer(8, (1, 3))], [0, 1])
    [[0, 2], [1, 3]]
    """
    moving = set(carriers)
    taker = {each.touched_by[0]: each.touched_by[1] for each in buffers if _is_passed_on(each)}
    before, last = _reversed(after), list(range(len(after)))
    for task in sorted(moving & taker.keys(), reverse=True):
        if all(last[other] >= last[taker[task]] for other in before[task]):
            last[task] = last[taker[task]]
    groups: dict[int, Order] = {}
    for task, end in sorted(enumerate(last), key=lambda each: (each[1], each[0])):
        groups.setdefault(end, []).append(task)
    return list(groups.values())


def _is_passed_on(buffer: Buffer) -> bool:
    return len(buffer.touched_by) == 2 and not buffer.is_given and not buffer.is_kept


def _reversed(after: Sequence[set[int]]) -> list[set[int]]:
    before: list[set[int]] = [set() for _ in after]
    for task, earlier in enumerate(after):
        for each in earlier:
            before[each].add(task)
    return before


def peak_of(order: Order, buffers: Sequence[Buffer]) -> int:
    """The most bytes that live during a task, if the tasks run in this order.

    >>> peak_of([1, 0], [Buffer(8, (0,)), Buffer(4, (0, 1), is_given=True)])
    12
    """
    place = {task: number for number, task in enumerate(order)}
    change = [0] * (len(order) + 1)
    live = sum(each.size for each in buffers if each.is_given)
    for each in buffers:
        if not each.is_given:
            change[min(place[task] for task in each.touched_by)] += each.size
        if not each.is_kept:
            change[max(place[task] for task in each.touched_by) + 1] -= each.size
    most = live
    for more in change:
        live += more
        most = max(most, live)
    return most


def _as_needed(after: Sequence[set[int]], before: Sequence[set[int]]) -> Order:
    """The tasks that nothing follows, one by one, each behind those that it needs and that have not run."""
    done: dict[int, None] = {}
    for last in (task for task, later in enumerate(before) if not later):
        stack = [(last, iter(sorted(after[last])))]
        while stack:
            task, needs = stack[-1]
            need = next((each for each in needs if each not in done), None)
            if need is None:
                stack.pop()
                done[task] = None
            else:
                stack.append((need, iter(sorted(after[need]))))
    return list(done)


def _with_shrinking_first(
    base: Order, after: Sequence[set[int]], before: Sequence[set[int]], buffers: Sequence[Buffer]
) -> Order:
    """``base``, but what frees at least as much as it takes runs as soon as it can, what frees most first."""
    rank = {task: place for place, task in enumerate(base)}
    cost = [0] * len(after)
    touches: list[list[Buffer]] = [[] for _ in after]
    left = {id(each): set(each.touched_by) for each in buffers}
    for each in buffers:
        for task in each.touched_by:
            touches[task].append(each)
            cost[task] += 0 if each.is_given else each.size
        if len(each.touched_by) == 1 and not each.is_kept:
            cost[each.touched_by[0]] -= each.size
    waiting = [len(each) for each in after]
    ready: list[tuple[int, int, int]] = []
    done: dict[int, None] = {}

    def offer(task: int) -> None:
        if not waiting[task] and task not in done:
            heappush(ready, (min(cost[task], 1), rank[task], task))

    def change(task: int, size: int) -> None:
        cost[task] += size
        offer(task)

    for task in base:
        offer(task)
    while ready:
        found, _, task = heappop(ready)
        if task in done or found != min(cost[task], 1):
            continue  # it was offered again since
        done[task] = None
        for each in touches[task]:
            others = left[id(each)]
            if not each.is_given and len(others) == len(each.touched_by):
                for other in others - {task}:
                    change(other, -each.size)
            others.remove(task)
            if len(others) == 1 and not each.is_kept:
                change(next(iter(others)), -each.size)
        for other in before[task]:
            waiting[other] -= 1
            offer(other)
    return list(done)
