"""Array programs from the text that ``array_ir.printing`` makes."""

from dataclasses import replace

from ipu_mlir.dialects.ipu import HOST_CALLS
from ipu_mlir.runtime.translator.array_ir.access import Access, Role
from ipu_mlir.runtime.translator.array_ir.control import Block, Bound, Branch, Control, ForLoop, WhileLoop
from ipu_mlir.runtime.translator.array_ir.expression import Expression
from ipu_mlir.runtime.translator.array_ir.statements import (
    Check,
    Dot,
    Elementwise,
    FirstExtreme,
    Fold,
    FunctionCall,
    LibraryCall,
    Origin,
    Program,
    Reduce,
    Scan,
    SliceUpdate,
    Statement,
    Transfer,
)
from ipu_mlir.runtime.translator.array_ir.value_parsing import Values


def parse_program(text: str) -> Program:
    """The program that ``text`` describes. Locations in comments are not read.

    Raises:
        ArrayTextError: the text is no array program.
    """
    return _Parser(text).programs()


class _Parser(Values):
    def programs(self) -> Program:
        """A program and the functions that it calls."""
        program, functions = self._program("program"), []
        while self._token == "function":
            functions.append(self._program("function"))
        if self._token:
            self._fail("the end")
        return replace(program, functions=tuple(functions))

    def _program(self, kind: str) -> Program:
        self._buffers = {}
        self._expect(kind)
        self._take("@")
        name = self._name()
        self._expect("(")
        arguments = self._listed(lambda: self._of_kind("word", "an argument"), ")")
        self._expect("->", "(")
        results_at = self._begin
        while self._token not in ("{", ""):
            self._next()  # the results name buffers that are declared below
        self._expect("{")
        while self._token in {role.value for role in Role}:
            self._declaration()
        statements = self._block()
        end = self._at, self._kind, self._token, self._begin
        self._go_to(results_at)
        results = self._listed(self._array, ")")
        self._at, self._kind, self._token, self._begin = end
        accesses, shapes = tuple(a for a, _ in results), tuple(s for _, s in results)
        taken, is_called = tuple(map(self._buffer, arguments)), kind == "function"
        return Program(name, taken, tuple(statements), accesses, shapes, is_called=is_called)

    def _block(self) -> list[Statement]:
        statements = []
        while not self._take("}"):
            statements.append(self._statement())
        return statements

    def _statement(self) -> Statement:
        kind = self._of_kind("word", "a statement")
        origin = Origin("", "")
        if kind in ("for", "while", "if"):
            return self._control(kind, origin)
        if kind == "call":
            is_function = self._kind != "string" and self._token.startswith("@")
            self._take("@")
            name, arrays = self._name(), self._arrays()
            return (
                FunctionCall((), origin, "", *arrays, name) if is_function else LibraryCall((), origin, name, *arrays)
            )
        if kind in HOST_CALLS:
            index = self._integer()
            self._expect("of")
            queue = self._name()
            return Transfer((), origin, kind, *self._arrays(), queue, index)
        first_word = self._next() if kind in ("reduce", "first_extreme") else ""
        unsigned = self._take("unsigned")
        extents = self._shape()
        self._loops = len(extents)
        reduced = [False] * len(extents)
        if self._take("over"):
            for loop in self._loop_list():
                reduced[loop] = True
        if kind == "dot":
            a, b, out = (self._access(end) for end in (",", ",", ""))
            return Dot(extents, origin, a, b, out)
        if kind in ("reduce", "first_extreme"):
            source, out = (self._access(end) for end in (",", ""))
            made = Reduce if kind == "reduce" else FirstExtreme
            return made(extents, origin, tuple(reduced), first_word, source, out, unsigned)
        self._expect("{")
        self._values = {}
        while self._kind == "word" and self._token.startswith("%"):
            name = self._next()
            self._expect("=")
            self._values[name] = self._value()
        statement = self._computed(kind, extents, origin, tuple(reduced))
        self._expect("}")
        return statement

    def _side(self) -> tuple[int, Expression, int]:
        """``d0 from %1 for 3``: a loop, where it begins, and how many points it has."""
        (loop,) = self._loop_list()
        self._expect("from")
        index = self._value()
        self._expect("for")
        return loop, index, self._integer()

    def _loop_list(self) -> list[int]:
        loops = []
        while self._token.startswith("d") and self._token[1:].isdigit():
            loops.append(int(self._next()[1:]))
            if not self._take(","):
                break
        return loops

    def _computed(self, kind: str, extents: tuple[int, ...], origin: Origin, reduced: tuple[bool, ...]) -> Statement:
        if kind == "check":
            self._expect("require")
            value = self._value()
            self._expect(",")
            return Check(extents, origin, (value,), self._name())
        if kind == "slice_update":
            self._expect("replace")
            old = self._access()
            self._expect("along")
            boxes = self._listed(self._side, "by")
            loops, indexes, sizes = (tuple(box[part] for box in boxes) for part in range(3))
            value = self._value()
            self._expect(",")
            return SliceUpdate(extents, origin, loops, indexes, sizes, value, old, self._access())
        values, outputs, inits = [], [], []
        while self._take("update" if kind == "fold" else "store"):
            values.append(self._value())
            self._expect(",")
            outputs.append(self._access())
            if kind == "fold":
                self._expect("from")
                inits.append(self._value())
        match kind:
            case "elementwise":
                return Elementwise(extents, origin, tuple(outputs), tuple(values))
            case "scan":
                return Scan(extents, origin, reduced, tuple(outputs), tuple(values))
            case "fold":
                return Fold(extents, origin, reduced, tuple(outputs), tuple(inits), tuple(values))
        return self._fail(f"a statement, not {kind!r},")

    def _arrays(self) -> tuple[tuple[Access, ...], tuple[Access, ...], tuple[tuple[int, ...], ...], tuple[bool, ...]]:
        """Inputs, outputs, the shapes of both, and which outputs are updated."""
        self._expect("(")
        inputs = self._listed(self._array, ")")
        self._expect("->", "(")
        outputs = self._listed(lambda: (*self._array(), self._take("updated")), ")")
        accesses, shapes = zip(*inputs, strict=True) if inputs else ((), ())
        return (
            accesses,
            tuple(access for access, _, _ in outputs),
            (*shapes, *(shape for _, shape, _ in outputs)),
            tuple(updated for _, _, updated in outputs),
        )

    def _control(self, kind: str, origin: Origin) -> Control:
        self._loops = 0
        if kind == "for":
            unsigned = self._take("unsigned")
            variable = None
            first = self._bound()
            if self._take("="):
                variable, first = first, self._bound()
            self._expect("to")
            upper = self._bound()
            self._expect("step")
            step = self._bound()
            (ids, (body,)) = self._blocks("")
            assert variable is None or isinstance(variable, Access)
            return ForLoop((), origin, ids, first, upper, step, variable, body, unsigned)
        condition = self._access()
        if kind == "while":
            ids, (before, after, leaving) = self._blocks("", "do", "leaving")
            return WhileLoop((), origin, ids, condition, before, after, leaving)
        ids, (yes, no) = self._blocks("", "else")
        return Branch((), origin, ids, condition, yes, no)

    def _blocks(self, *heads: str) -> tuple[tuple[int, ...], list[Block]]:
        ids, blocks = [], []
        for head in heads:
            if head:
                self._expect(head)
            ids.append(int(self._of_kind("word", "the number of a block").removeprefix("#")))
            self._expect("{")
            blocks.append(tuple(self._block()))
        return tuple(ids), blocks

    def _bound(self) -> Bound:
        return self._integer() if self._kind == "number" else self._access()
