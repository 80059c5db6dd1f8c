"""Loops over blocks as source: a function for one block, a copy of it per thread, and the call of all blocks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ipu_mlir.runtime.translator.codegen.memory_plan import MemoryPlan, plan
from ipu_mlir.runtime.translator.codegen.module_source import comment
from ipu_mlir.runtime.translator.codegen.operand_texts import OperandTexts, Scope
from ipu_mlir.runtime.translator.codegen.schedule import BlockLoop, Call, View
from ipu_mlir.runtime.translator.statements.access import Role
from ipu_mlir.runtime.translator.statements.expression import LoopNumber
from ipu_mlir.runtime.translator.statements.statements import Origin


def block_loop(loop: BlockLoop, texts: OperandTexts, text_of: Callable[[Call, Scope], str]) -> str:
    """The call that runs all blocks of ``loop``; the function for one block is appended to the set-up.

    ``text_of`` gives the text of a call with the names of a scope.
    """
    function, copies = texts.names.fresh("block"), texts.names.fresh("blocks")
    scratch = scratch_plan(loop, texts)
    names = _Names(loop, texts, scratch)
    for call in loop.calls:
        for operand in (*call.operands, call.out):
            if isinstance(operand, View) and operand not in names.inner.views:
                names.bind(operand)
            elif isinstance(operand, LoopNumber):
                names.parameters[texts.numbers[operand.buffer]] = None
    lines = [text_of(call, names.inner) for call in loop.calls]
    texts.setup.lines += [
        "",
        f"    def {function}(scratch):",
        *names.own.lines,
        f"        def run({', '.join(['lo', 'hi', *names.parameters])}):",
        *names.inner.lines,
        *_with_comments(loop.calls, lines, names.inner.indent),
        "",
        "        return run",
        "",
        f"    {copies} = memory.per_thread({function}, {scratch.total_bytes})",
    ]
    return f"memory.run_blocks({', '.join([copies, str(loop.units), str(loop.block), *names.parameters])})"


@dataclass
class _Names:
    """Names inside of a block: ``own`` are bound once per thread, ``inner`` for each block.

    ``parameters`` are what every run has others of, in order.
    """

    loop: BlockLoop
    texts: OperandTexts
    scratch: MemoryPlan
    own: Scope = field(default_factory=lambda: Scope("        "))
    inner: Scope = field(default_factory=lambda: Scope("            "))
    parameters: dict[str, None] = field(default_factory=dict)

    def bind(self, view: View) -> None:
        """Name ``view``: a slice of the whole where it moves with the block."""
        loop, inner, place = self.loop, self.inner, self.texts.place(view.buffer)
        in_scratch = view.buffer.role is Role.TEMPORARY and place in self.scratch.offsets
        if in_scratch:
            whole = self.texts.scratch_view(view, self.scratch.offsets[place], self.own)
        else:
            whole = self.texts.text(view, self.texts.body)
            if self.texts.per_run(view):
                self.parameters[whole] = None
        if view.block_axis is None or (in_scratch and loop.units % loop.block == 0):
            inner.views[view] = whole
            return
        step = view.block_step
        ends = ("lo", "hi") if step == 1 else (f"lo * {step}", f"hi * {step}")
        if in_scratch:
            ends = ("", "hi - lo" if step == 1 else f"(hi - lo) * {step}")
        index = ":, " * view.block_axis + f"{ends[0]}:{ends[1]}"
        text = f"{whole}[{index}]"
        if text not in inner.views:
            inner.views[text] = self.texts.names.fresh(f"{whole}_b")
            inner.lines.append(f"{inner.indent}{inner.views[text]} = {text}")
        inner.views[view] = inner.views[text]


def scratch_plan(loop: BlockLoop, texts: OperandTexts) -> MemoryPlan:
    """Where in the memory of a thread the places are that it has of its own."""
    views = [view for call in loop.calls for view in (*call.operands, call.out) if isinstance(view, View)]
    shared = {texts.place(view.buffer) for view in views} - {place for place, _ in loop.scratch}
    return plan(list(loop.calls), texts.places, shared, dict(loop.scratch))


def _with_comments(calls: Sequence[Call], lines: Sequence[str], indent: str) -> Iterator[str]:
    """``lines`` of ``calls``, with a comment wherever another op begins."""
    last: Origin | None = None
    for call, line in zip(calls, lines, strict=True):
        if call.origin != last:
            yield indent + comment(call.origin)
            last = call.origin
        yield indent + line
