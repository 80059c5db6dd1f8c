"""Many random programs on state, one after another: prints those that differ or end in an error, each made smaller.

python test/e2e/support/stateful/campaign.py FIRST COUNT
"""

import dataclasses
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from support.stateful.checking import check
from support.stateful.drawing import Program, program

_SECONDS = 60
"""Between two lines that say how many there were."""
_SAME = 30
"""So many letters of the text of a problem do two programs share that fail for one reason."""


def problem(each: Program) -> str:
    """How a program differs from NumPy, or the error in which it ends; nothing if they agree."""
    try:
        check(each)
    except Exception as error:  # of any kind: that is what is asked
        said = " ".join(str(error).split())
        place = said.partition("error: ")
        return f"{type(error).__name__}: {place[2] or said}"[:600]
    return ""


def smallest(each: Program, fails: Callable[[Program], bool]) -> Program:
    """A program with fewer statements, runs, replicas, IPUs or tiles that fails as well."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for less in _smaller(each):
            if fails(less):
                each, is_smaller = less, True
                break
    return each


def _smaller(each: Program) -> Iterator[Program]:
    for name in each.entries:
        if runs := tuple(run for run in each.runs if run[0] != name):
            entries = {other: entry for other, entry in each.entries.items() if other != name}
            yield dataclasses.replace(each, entries=entries, runs=runs)
    for place in range(len(each.runs) if len(each.runs) > 1 else 0):
        yield dataclasses.replace(each, runs=each.runs[:place] + each.runs[place + 1 :])
    for name, least in (("replicas", 1), ("ipus", 1), ("tiles", 1), ("kernels", "never"), ("in_session", False)):
        if getattr(each, name) != least:
            yield dataclasses.replace(each, **{name: least})
    for name, entry in each.entries.items():
        for body in _smaller_block(entry.body):
            yield dataclasses.replace(each, entries={**each.entries, name: dataclasses.replace(entry, body=body)})


def _smaller_block(block: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Blocks without one of the statements, with the inner ones in its place, or with a smaller one."""
    for place, statement in enumerate(block):
        before, after = block[:place], block[place + 1 :]
        yield before + after
        for field in dataclasses.fields(statement):
            value = getattr(statement, field.name)
            if not isinstance(value, tuple) or not value or isinstance(value[0], float):
                continue
            is_one = dataclasses.is_dataclass(value[0])
            yield before + (value if is_one else sum(value, ())) + after
            for less in _smaller_block(value) if is_one else _smaller_arms(value):
                yield (*before, dataclasses.replace(statement, **{field.name: less}), *after)


def _smaller_arms(arms: tuple[tuple[Any, ...], ...]) -> Iterator[tuple[tuple[Any, ...], ...]]:
    for place, arm in enumerate(arms):
        for less in _smaller_block(arm):
            yield (*arms[:place], less, *arms[place + 1 :])


def main(first: int, count: int) -> int:
    begin, failed = time.process_time(), 0
    due = time.monotonic() + _SECONDS
    for number in range(1, count + 1):
        each = program(first + number - 1)
        if said := problem(each):
            failed += 1
            least = smallest(each, lambda less, sign=said[:_SAME]: problem(less)[:_SAME] == sign)
            print(f"seed {each.seed}: {said}\n  {least}\n  {problem(least)}", flush=True)
        if number == count or time.monotonic() > due:
            due = time.monotonic() + _SECONDS
            print(f"{number} programs, {failed} failed, {time.process_time() - begin:.0f} s", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
