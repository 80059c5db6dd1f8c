"""``Programs``: functions that were compiled together, and the variables and queues that they share."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.programs.session import Run, Session
from ipu_mlir.runtime.engine.infeeds import Infeed
from ipu_mlir.runtime.engine.outfeeds import Outfeed
from ipu_mlir.runtime.engine.remote import RemoteArray, RemoteMemory
from ipu_mlir.runtime.engine.state import RemoteCell, State
from ipu_mlir.runtime.engine.turns import Turn

if TYPE_CHECKING:
    import os

    from ipu_mlir.compilation.executable import Executable
    from ipu_mlir.programs.trace_all import Declared
    from ipu_mlir.runtime.profile.profile import Profile

_TURN = Turn("a variable or a program that takes turns with it")
"""Of whatever runs outside of sessions: the values are those of the ``Variable`` objects, which anyone may share."""


class Programs(Mapping[str, "Executable"]):
    """The functions of one module that run, by name: they share its variables, which lie in one place for all.

    exe = ipu.compile({"train": train, "predict": predict}, args={"train": (x, y), "predict": (x,)})
    session = exe.session()
    """

    def __init__(self, programs: Mapping[str, "Executable"], declared: "Mapping[str, Declared]") -> None:
        """Put ``programs`` together; ``declared`` are the variables and queues that Python made, by name."""
        self._programs = dict(programs)
        self._declared = dict(declared)
        self._own_state: State | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """As another process gets them: together, with variables and queues as they begin."""
        return put_together, (self._programs, self._declared)

    def session(
        self,
        *,
        synthetic: bool = False,
        counted: bool = False,
        files: "Mapping[str, str | os.PathLike[str]] | None" = None,
    ) -> Session:
        """A session: all programs, with variables and queues of their own that begin as the program says.

        Args:
            synthetic: infeeds and functions of the host give zeros, and outfeeds keep nothing: what a run takes
                without the host.
            counted: runs count how often loops and branches run whose bounds are not constants, for
                ``Session.profile``; they take a little longer.
            files: by name of a remote buffer, the file in which its rows lie, in place of what the program says.

        Raises:
            RunError: there is no remote buffer of a name, or its file holds something else.
        """
        state = self._state(files=files)
        if synthetic:
            state.streams = state.streams.synthetic()
        else:
            infeeds = state.streams.infeeds
            for name, each in infeeds.items():
                if name in self._declared:
                    infeeds[name] = Infeed(each.stream, self._declared[name].elements())
        if not counted:
            return Session({name: _run(program) for name, program in self._programs.items()}, self._declared, state)
        entered: dict[str, dict[int, int]] = {}
        runs = {name: _counted_run(program, entered) for name, program in self._programs.items()}

        def profile(name: str) -> "Profile":
            program = self[name]
            if program.entry not in entered:
                raise RunError(f"program {name!r} has not run in this session, and nothing was counted; run it first")
            return program.profile_of_run(entered[program.entry])

        return Session(runs, self._declared, state, profile)

    @property
    def own_state(self) -> State:
        """The state that runs outside of sessions work on: that of ``Variable``, ``Infeed`` and ``Outfeed`` objects."""
        if self._own_state is None:
            with _TURN:
                self._own_state = self._own_state or self._begin()
        return self._own_state

    def _begin(self) -> State:
        variables = [each for each in self._declared.values() if each.kind == "variable"]
        shared = {name: cell for variable in variables for name, cell in variable.cells.items()}
        buffers: list[Any] = [each for each in self._declared.values() if each.kind == "remote"]
        used = {each.name: each.own for each in buffers if each.own is not None}
        used |= {name: cell.buffer for name, cell in shared.items() if isinstance(cell, RemoteCell)}
        state = self._state(shared, _TURN, used)
        for each in buffers:
            each.own = state.remote.buffers.get(each.name)
        for variable in variables:
            variable.cells.update({name: state.cells[name] for name in variable.specs if name in state.cells})
        infeeds, outfeeds = state.streams.infeeds, state.streams.outfeeds
        owner: Any
        for name, owner in self._declared.items():
            if owner.kind == "infeed" and name in infeeds:
                owner.own = owner.own or Infeed(infeeds[name].stream, owner.elements())
                infeeds[name] = owner.own
            elif owner.kind == "outfeed" and name in outfeeds:
                owner.own = owner.own or Outfeed(outfeeds[name].stream)
                outfeeds[name] = owner.own
        return state

    def _state(
        self,
        shared: Mapping[str, Any] | None = None,
        turn: Turn | None = None,
        shared_buffers: Mapping[str, RemoteArray] | None = None,
        files: Mapping[str, Any] | None = None,
    ) -> State:
        engines = [program.engine for program in self._programs.values()]
        variables = [each for engine in engines for each in engine.variables]
        queues = [each for engine in engines for each in engine.queues]
        specs = [each for engine in engines for each in engine.remote]
        places = {name: each.file for name, each in self._declared.items() if each.kind == "remote"}
        for name in files or ():
            if name not in (own := dict.fromkeys(spec.name for spec in specs if not spec.variables)):
                known = ", ".join(own) or "none"
                raise RunError(f"there is no remote buffer {name!r}; there are: {known}")
        state = State(variables, shared, turn, queues, RemoteMemory(specs, shared_buffers, {**places, **(files or {})}))
        owner: Any
        for name, owner in self._declared.items():
            if owner.kind == "function" and name in state.streams.functions:
                state.streams.functions[name].function = owner.function
        return state

    def __getitem__(self, name: str) -> "Executable":
        if name not in self._programs:
            raise RunError(f"there is no program {name!r}; there are: {', '.join(self._programs)}")
        return self._programs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._programs)

    def __len__(self) -> int:
        return len(self._programs)

    def __repr__(self) -> str:
        return f"<Programs {', '.join(self._programs)}>"


def put_together(programs: Mapping[str, "Executable"], declared: "Mapping[str, Declared]") -> Programs:
    """Let ``programs`` share their variables and queues, in sessions and outside of them."""
    together = Programs(programs, declared)
    for program in programs.values():
        program.put_together(together)
    return together


def _run(program: "Executable") -> Run:
    def run(state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return program.call_on(state, args, kwargs)

    return run


def _counted_run(program: "Executable", entered: dict[str, dict[int, int]]) -> Run:
    def run(state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return program.call_counted(state, args, kwargs, entered)

    return run
