"""``Programs``: functions that were compiled together, and the variables that they share."""

import threading
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.programs.session import Run, Session
from ipu_mlir.runtime.engine.state import State

if TYPE_CHECKING:
    from ipu_mlir.compilation.executable import Executable
    from ipu_mlir.programs.variable import Variable

_TURN = threading.RLock()
"""Of whatever runs outside of sessions: the values are those of the ``Variable`` objects, which anyone may share."""


class Programs(Mapping[str, "Executable"]):
    """The functions of one module that run, by name: they share its variables, which lie in one place for all.

    exe = ipu.compile({"train": train, "predict": predict}, args={"train": (x, y), "predict": (x,)})
    session = exe.session()
    """

    def __init__(self, programs: Mapping[str, "Executable"], variables: "Mapping[str, Variable]") -> None:
        """Put ``programs`` together; ``variables`` are those with a structure that Python gave them."""
        self._programs = dict(programs)
        self._variables = dict(variables)

    def session(self) -> Session:
        """A session: all programs, with variables of their own that begin as the program says."""
        return self._session_on(State(self._declared()))

    @cached_property
    def own_state(self) -> State:
        """The variables of runs outside of sessions: what ``Variable`` objects hold, and the rest of this program."""
        with _TURN:
            shared = {name: cell for variable in self._variables.values() for name, cell in variable.cells.items()}
            state = State(self._declared(), shared, _TURN)
            for variable in self._variables.values():
                variable.cells.update({name: state.cells[name] for name in variable.specs if name in state.cells})
        return state

    def _declared(self) -> list[Any]:
        return [each for program in self._programs.values() for each in program.engine.variables]

    def _session_on(self, state: State) -> Session:
        return Session({name: _run(program) for name, program in self._programs.items()}, self._variables, state)

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


def _run(program: "Executable") -> Run:
    def run(state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return program.call_on(state, args, kwargs)

    return run
