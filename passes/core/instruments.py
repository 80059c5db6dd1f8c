"""Passes seen while they run: the IR in between, and where the time went."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ipu_mlir.dialects.support.bindings import ADVANCE, ir
from ipu_mlir.dialects.support.printing import to_text
from ipu_mlir.passes.core.manager import PassTime


@dataclass(frozen=True)
class PassLog:
    """Gives ``write`` a line when a pass begins, and one when it ends: on which op, and how many ops there are."""

    write: Callable[[str], object]

    def before_pass(self, name: str, op: ir.Operation) -> None:
        """Say that pass ``name`` begins."""
        self.write(f"[pass] {name} begins on {_described(op)}, {count_ops(op)} ops\n")

    def after_pass(self, name: str, op: ir.Operation) -> None:
        """Say that pass ``name`` has ended."""
        self.write(f"[pass] {name} leaves {count_ops(op)} ops\n")

    def pass_failed(self, name: str, op: ir.Operation) -> None:
        """Say that pass ``name`` has failed."""
        self.write(f"[pass] {name} fails on {_described(op)}\n")


@dataclass(frozen=True)
class IrPrinter:
    """Gives ``write`` the IR before and after passes, under a line that says which; ``None`` stands for all passes.

    Attributes:
        write: takes the text.
        before: the passes before which it is written.
        after: the passes after which it is written, also where they fail.
        changed_only: after a pass only if the pass changed it.
        failed: after every pass that fails.
        whole_module: all of the IR, not only the op that the pass ran on.
        printing: options of ``to_text``.
    """

    write: Callable[[str], object]
    before: Collection[str] | None = ()
    after: Collection[str] | None = ()
    changed_only: bool = False
    failed: bool = False
    whole_module: bool = False
    printing: Mapping[str, Any] = field(default_factory=dict)
    _texts: list[str] = field(default_factory=list)
    """Before the pass that runs, where ``changed_only`` asks for it."""

    def before_pass(self, name: str, op: ir.Operation) -> None:
        """Write ``op`` if the IR before pass ``name`` is wanted."""
        if self.before is None or name in self.before:
            self._dump(f"Before {name}", op)
        if self.changed_only:
            self._texts[:] = [to_text(op, locations=True)]

    def after_pass(self, name: str, op: ir.Operation) -> None:
        """Write ``op`` if the IR after pass ``name`` is wanted."""
        if (self.after is None or name in self.after) and not self._is_unchanged(op):
            self._dump(f"After {name}", op)

    def pass_failed(self, name: str, op: ir.Operation) -> None:
        """Write ``op`` if the IR after pass ``name`` is wanted, or that after any that fails."""
        if self.failed or self.after is None or name in self.after:
            self._dump(f"After {name} Failed", op)

    def _is_unchanged(self, op: ir.Operation) -> bool:
        return self.changed_only and self._texts == [to_text(op, locations=True)]

    def _dump(self, title: str, op: ir.Operation) -> None:
        if self.whole_module and op.parent is not None:
            title += f" ({_described(op)})"
            while op.parent is not None:
                op = op.parent.operation
        self.write(f"// -----// IR Dump {title} //----- //\n{to_text(op, **self.printing)}\n")


def _described(op: ir.Operation) -> str:
    name = op.attributes.get("sym_name")
    return f"'{op.name}' operation" + ("" if name is None else f": @{ir.StringAttr(name).value}")


@dataclass
class OpCounter:
    """Counts the ops before and after every run of a pass."""

    rows: list[tuple[str, int, int]] = field(default_factory=list)

    def before_pass(self, name: str, op: ir.Operation) -> None:
        """Begin a row."""
        self.rows.append((name, count_ops(op), 0))

    def after_pass(self, name: str, op: ir.Operation) -> None:
        """End the row."""
        self.rows[-1] = (*self.rows[-1][:2], count_ops(op))

    def pass_failed(self, name: str, op: ir.Operation) -> None:
        """Count nothing that a pass leaves which fails."""
        self.rows.pop()


def statistics_report(rows: Iterable[tuple[str, int, int]]) -> str:
    """A table of ops before and after each run of a pass, in the order of the runs.

    >>> print(statistics_report([("cse", 120, 96)]))
    ===-------------------------------------------------------------------------===
                             ... Pass statistics report ...
    ===-------------------------------------------------------------------------===
      ----Ops before----  ----Ops after----  ----Change----  ----Name----
                     120                 96             -24  cse
    <BLANKLINE>
    """
    head = _head("Pass statistics report")
    titles = "  ----Ops before----  ----Ops after----  ----Change----  ----Name----"
    lines = [f"  {before:18}  {after:17}  {after - before:+14}  {name}" for name, before, after in rows]
    return "\n".join([*head, titles, *lines, ""])


def timing_report(times: Iterable[PassTime]) -> str:
    """A table of wall times, one row per name in the order of first runs, with the runs added up.

    >>> print(timing_report([PassTime("cse", 0.002), PassTime("verify", 0.001), PassTime("cse", 0.001)]))
    ===-------------------------------------------------------------------------===
                             ... Execution time report ...
    ===-------------------------------------------------------------------------===
      Total Execution Time: 0.0040 seconds
    <BLANKLINE>
      ----Wall Time----  ----Runs----  ----Name----
        0.0030 ( 75.0%)             2  cse
        0.0010 ( 25.0%)             1  verify
        0.0040 (100.0%)             3  Total
    <BLANKLINE>
    """
    sums: dict[str, tuple[float, int]] = {}
    for name, seconds in times:
        so_far, runs = sums.get(name, (0.0, 0))
        sums[name] = (so_far + seconds, runs + 1)
    total = sum(seconds for seconds, _ in sums.values())
    sums["Total"] = (total, sum(runs for _, runs in sums.values()))
    rows = [
        f"  {seconds:8.4f} ({100 * seconds / total if total else 100:5.1f}%)  {runs:12}  {name}"
        for name, (seconds, runs) in sums.items()
    ]
    head = [*_head("Execution time report"), f"  Total Execution Time: {total:.4f} seconds", ""]
    return "\n".join([*head, "  ----Wall Time----  ----Runs----  ----Name----", *rows, ""])


def _head(title: str) -> list[str]:
    rule = "===" + 73 * "-" + "==="
    return [rule, f"... {title} ...".center(79).rstrip(), rule]


def count_ops(op: ir.Operation) -> int:
    """Number of ops below ``op`` and of itself."""
    count = 0

    def visit(_: ir.Operation) -> ir.WalkResult:
        nonlocal count
        count += 1
        return ADVANCE

    op.operation.walk(visit)
    return count
