"""Run steps on a module: C++ passes of upstream and ours, checked in between and timed."""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from ipu_mlir.dialects.support.bindings import ir, passmanager
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic, collect
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.nesting import check_nesting
from ipu_mlir.dialects.support.remembered import keep_analyses, remembering
from ipu_mlir.passes.core.base import PassFailed
from ipu_mlir.passes.core.interrupts import LaterInterrupts
from ipu_mlir.passes.core.pipeline_steps import MODULE, NestStep, PassStep, Step, UpstreamStep, upstream_manager


class PassTime(NamedTuple):
    """Wall time that one run of one pass took; ``verify`` stands for the check after it."""

    name: str
    seconds: float


class Observer(Protocol):
    """Looks on while passes run."""

    def before_pass(self, name: str, op: ir.Operation) -> None:
        """The pass ``name`` is about to run on ``op``."""

    def after_pass(self, name: str, op: ir.Operation) -> None:
        """The pass ``name`` has run on ``op`` and left it valid."""

    def pass_failed(self, name: str, op: ir.Operation) -> None:
        """The pass ``name`` refused ``op``, or left it broken."""


def run_steps(
    module: ir.Module | ir.Operation,
    steps: Sequence[Step],
    *,
    verify: bool | Collection[str] = True,
    observers: Sequence[Observer] = (),
) -> list[PassTime]:
    """Run ``steps`` on ``module``, in place; what each pass took comes back in the order of the runs.

    Args:
        module: keep the owner of the IR in a variable of yours: MLIR frees it with its last reference.
        verify: check the IR after each pass, which takes about as long as the passes do; names: only after the passes
            of these names and at the end. False: IR that a pass broke shows only where it is checked next.
        observers: told before and after each pass.

    Raises:
        DiagnosedError: a pass refused the program (then it is a ``PassFailed``), or left IR that does not verify, or
            the program is nested too deeply; one line per error, each with its place.
    """
    root = module.operation
    if steps:
        check_nesting(root)
    with (
        remembering(),
        LaterInterrupts() as interrupts,
        root.context,
        root.location,
    ):  # the place of what has none of its own
        run = _Run(root.context, verify, tuple(observers), interrupts)
        try:
            run.steps(root, steps, MODULE)
        finally:
            keep_analyses(False)
        if not isinstance(verify, bool):
            run.check(root, "")
    return run.times


@dataclass(frozen=True)
class _Run:
    context: ir.Context
    verify: bool | Collection[str]
    observers: tuple[Observer, ...]
    interrupts: LaterInterrupts
    managers: dict[tuple[str, str], passmanager.PassManager] = field(default_factory=dict)
    """By the op that they run on and the text of the step: one for all functions of a module."""
    times: list[PassTime] = field(default_factory=list)

    def steps(self, op: ir.Operation, steps: Iterable[Step], anchor: str) -> None:
        """Run ``steps``, which stand inside ``anchor(...)``, on ``op``."""
        for step in steps:
            if isinstance(step, NestStep):
                for child in _children(op, step.anchor):
                    self.steps(child, step.steps, step.anchor)
            else:
                self._step(op, step, anchor)

    def _step(self, op: ir.Operation, step: UpstreamStep | PassStep, anchor: str) -> None:
        for observer in self.observers:
            observer.before_pass(step.name, op)
        try:
            self._checked(op, step, anchor)
        except Exception:
            for observer in self.observers:
                observer.pass_failed(step.name, op)
            raise
        for observer in self.observers:
            observer.after_pass(step.name, op)

    def _checked(self, op: ir.Operation, step: UpstreamStep | PassStep, anchor: str) -> None:
        started = time.perf_counter()
        self._run(op, step, anchor)
        self.times.append(PassTime(step.name, time.perf_counter() - started))
        self.interrupts.check()
        if self.verify if isinstance(self.verify, bool) else step.name in self.verify:
            self.check(op, step.name)

    def check(self, op: ir.Operation, after: str) -> None:
        """Verify ``op``, and note how long that took."""
        started = time.perf_counter()
        verify_op(op, after)
        self.times.append(PassTime("verify", time.perf_counter() - started))

    def _run(self, op: ir.Operation, step: UpstreamStep | PassStep, anchor: str) -> None:
        failed: PassFailed | None = None
        keep_analyses(isinstance(step, PassStep) and step.instance.keeps_analyses)
        with collect(self.context) as errors:
            try:
                if isinstance(step, PassStep):
                    step.instance.run(op)
                else:
                    self._manager(step, anchor).run(op)
            except (PassFailed, ir.MLIRError) as failure:
                if not errors:
                    raise _without_place(step.name, failure) from failure
                failed = failure if isinstance(failure, PassFailed) else None
            except RecursionError as error:
                message = f"pass '{step.name}': too much stands inside each other; break long expressions up"
                raise CompileError(message) from error
            except Exception as bug:
                bug.add_note(f"while pass '{step.text}' ran")
                raise
        if failed is not None and len(failed.diagnostics) == len(errors):
            raise failed  # what it raised itself may say more than the errors do
        if errors:
            raise PassFailed(errors)

    def _manager(self, step: UpstreamStep, anchor: str) -> passmanager.PassManager:
        key = anchor, step.text
        if key not in self.managers:
            self.managers[key] = upstream_manager(step, anchor)
        return self.managers[key]


def verify_op(op: ir.Module | ir.Operation, after: str = "") -> None:
    """Check ``op`` and everything inside it; a message says which pass it came ``after``, if that is given.

    Raises:
        DiagnosedError: one line per error, each with its place.
    """
    with collect(op.operation.context) as errors:
        try:
            op.operation.verify()
        except ir.MLIRError as failure:
            if not errors:
                errors.append(Diagnostic(failure.message or "the IR does not verify"))
    if errors:
        told = f" (after pass '{after}')" if after else ""
        raise DiagnosedError(replace(error, message=error.message + told) for error in errors)


def _without_place(name: str, failure: Exception) -> CompileError:
    """The error of a pass that failed and emitted nothing."""
    if isinstance(failure, PassFailed):
        return failure
    return CompileError(f"pass '{name}' failed: {str(failure).partition(chr(10))[0] or 'it gave no reason'}")


def _children(op: ir.Operation, anchor: str) -> list[ir.Operation]:
    return [
        child.operation
        for region in op.regions
        for block in region
        for child in block
        if anchor in ("any", child.operation.name)
    ]
