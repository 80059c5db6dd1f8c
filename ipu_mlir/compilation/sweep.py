"""``ipu.sweep``: what a function costs with each of many settings."""

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import product
from typing import Any

from ipu_mlir.compilation.compiler import compile
from ipu_mlir.compilation.processes import in_processes, processes_for, show_progress
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.errors import CompileError, IpuError, MemoryWarning
from ipu_mlir.frontends.table import front_end_of
from ipu_mlir.inspect.outcomes import Outcome, fastest_that_fits, outcome_of, with_frontier

Setting = Mapping[str, Any]
_OF_COMPILE = frozenset(inspect.signature(compile).parameters) - {"source", "entry", "args", "kwargs", "target"}
_OF_TARGET = {"chip": "name", **{field.name: field.name for field in fields(Target) if field.name != "emulated"}}
"""By the name of a setting, the field of the target."""
_FIGURES = ("cycles", "compute", "exchange", "sync", "seconds", "tile_bytes", "fits", "frontier")


@dataclass(frozen=True)
class Sweep:
    """The outcomes of all settings, in the order in which they are given; the last one changes fastest.

    Attributes:
        outcomes: of the settings with which the program compiles.
        refused: the others, with the reason.
    """

    outcomes: tuple[Outcome[Setting], ...]
    refused: tuple[tuple[Setting, str], ...] = ()

    def __iter__(self) -> Iterator[Outcome[Setting]]:
        return iter(self.outcomes)

    @property
    def fastest(self) -> Outcome[Setting] | None:
        """The one that takes the least time of those that fit; None where none does."""
        return fastest_that_fits(self.outcomes)

    def rows(self) -> list[dict[str, Any]]:
        """A flat row per setting: its values, and what they give."""
        return [{**each.setting, **{name: getattr(each, name) for name in _FIGURES}} for each in self.outcomes]

    def __str__(self) -> str:
        """A table; ``*`` marks settings that no other one beats in both cycles and bytes."""
        names = [*self.outcomes[0].setting, "cycles", "seconds", "tile_bytes"] if self.outcomes else []
        cells = [names, *([_cell(row[name]) for name in names] for row in self.rows())]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        marks = ["  ", *("* " if each.frontier else "  " for each in self.outcomes)]
        ends = ["", *("" if each.fits else "  does not fit" for each in self.outcomes)]
        lines = [
            mark + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) + end
            for mark, row, end in zip(marks, cells, ends, strict=True)
        ]
        return "\n".join([*lines, *(f"refused with {_text(setting)}: {reason}" for setting, reason in self.refused)])


def sweep(
    function: Callable[..., Any],
    *,
    args: Sequence[Any] | Callable[..., Sequence[Any]],
    over: Mapping[str, Iterable[Any]],
    target: Target | None = None,
    processes: int | None = None,
    **options: Any,
) -> Sweep:
    """Compile ``function`` with every combination of settings, and compare cycles and bytes. Nothing runs.

    What does not fit is compiled as well, and marked. Cycles leave out what the host transfers. If some settings are
    refused, the others go on.

    Args:
        args: as of ``compile``, or a function that gives them from settings of its own:
            ``lambda batch: [ipu.TensorSpec((batch, 784))]``.
        over: values by the name of a setting: a field of ``Target``, ``chip`` for its name, an option of ``compile``,
            or a parameter of ``args``.
        target: the machine as far as it does not vary; one chip of the second generation by default.
        processes: how many settings are compiled at the same time; by default as many as there are processors. A
            function that another framework traces is compiled in this process, because its threads are here.
        options: further ones of ``compile``.

    Raises:
        CompileError: nobody takes a setting, the chip varies beside a target, or the program is refused with each
            setting; says why with the first.

    >>> from ipu_mlir import TensorSpec
    >>> found = sweep(lambda a: a @ a.T, args=lambda n: [TensorSpec((n, 64))], over={"n": (8, 64), "ipus": (1, 2)})
    >>> [(row["n"], row["ipus"], row["fits"]) for row in found.rows()]
    [(8, 1, True), (8, 2, True), (64, 1, True), (64, 2, True)]
    """
    of_args = set(inspect.signature(args).parameters) if callable(args) else set[str]()
    for name in over:
        if name not in of_args | set(_OF_TARGET) | _OF_COMPILE:
            own = f", parameters of args ({', '.join(sorted(of_args))})" if of_args else ""
            raise CompileError(
                f"a sweep has no setting '{name}'; settings are fields of Target, chip, options of compile{own}"
            )
    if "chip" in over and target is not None:
        raise CompileError("the chip of a target does not vary: leave out target, and give its other fields in over")
    settings, tasks = [dict(zip(over, values, strict=True)) for values in product(*over.values())], []
    for setting in settings:
        own = {name: value for name, value in setting.items() if name in of_args}
        rest = {name: value for name, value in setting.items() if name not in of_args}
        machine = {_OF_TARGET[name]: value for name, value in rest.items() if name in _OF_TARGET}
        further = {name: value for name, value in rest.items() if name not in _OF_TARGET}
        chosen = {**({} if target is None else vars(target)), **machine, "emulated": True}
        given = args(**own) if callable(args) else args
        if front_end_of(function, (given, {})) is not None:
            processes = 1
        tasks.append(partial(_outcome, function, given, chosen, {**options, **further}))
    found, refused = dict[int, Outcome[Setting]](), dict[int, IpuError]()
    for number, result in in_processes(tasks, processes_for(len(tasks), processes)):
        if isinstance(result, IpuError):
            refused[number] = result
        else:
            found[number] = replace(result, setting=settings[number])
        show_progress(f"{len(found) + len(refused)} of {len(tasks)}: {_text(settings[number])}")
    show_progress("")
    if refused and not found:
        raise CompileError(f"with {_text(settings[0])}: {refused[0]}") from refused[0]
    outcomes = with_frontier(found[number] for number in sorted(found))
    return Sweep(tuple(outcomes), tuple((settings[number], str(refused[number])) for number in sorted(refused)))


def _outcome(
    function: Callable[..., Any], args: Sequence[Any], target: Mapping[str, Any], options: Mapping[str, Any]
) -> Outcome[Setting]:
    """What one setting gives; the setting stays where it is, since it may hold what no process hands on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MemoryWarning)
        compiled: Any = compile(function, args=args, target=Target(**target), **options)
        return outcome_of({}, compiled.profile())


def _text(setting: Setting) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in setting.items())


def _cell(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
