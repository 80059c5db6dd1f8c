"""``Session``: programs that run on state of their own."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.npz import read_arrays, write_arrays
from ipu_mlir.runtime.engine.state import State

if TYPE_CHECKING:
    import os

    from ipu_mlir.programs.variable import Variable

Run = Callable[[State, tuple[Any, ...], dict[str, Any]], Any]
"""A program in the caller's structure."""


class Session(Mapping[str, Any]):
    """The variables of a program, and the functions that run on them.

        session = exe.session()
        loss = session.run("train", x, y)
        session["w"], session["w"] = 2 * session["w"], ...

    As a mapping it has the value of each variable by its name. Threads that run on one session take turns; sessions do
    not know of each other.
    """

    def __init__(self, programs: Mapping[str, Run], variables: "Mapping[str, Variable]", state: State) -> None:
        """Run ``programs`` on ``state``; ``variables`` are those with a structure that Python gave them."""
        self._programs = dict(programs)
        self._state = state
        inside = {leaf for variable in variables.values() for leaf in variable.specs}
        plain = {name: None for name in state.cells if name not in inside}
        self._variables: dict[str, Variable | None] = {**variables, **plain}

    def run(self, program: str, *args: Any, **kwargs: Any) -> Any:
        """Run a function of the program by its name.

        Raises:
            RunError: there is no such function; its inputs do not fit; or a variable has no value yet.
        """
        if program not in self._programs:
            raise RunError(f"there is no program {program!r}; there are: {', '.join(self._programs)}")
        return self._programs[program](self._state, args, kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the only function of the program."""
        if len(self._programs) > 1:
            names = ", ".join(self._programs)
            raise RunError(
                f"the session has the programs {names}: say which runs, as in session.run({names[0]!r}, ...)"
            )
        return self.run(next(iter(self._programs)), *args, **kwargs)

    def __getitem__(self, name: str) -> Any:
        """A copy of the value of a variable, in its structure.

        Raises:
            RunError: it has no value yet.
            KeyError: there is no such variable.
        """
        variable = self._variables[name]
        with self._state.turn:
            if variable is None:
                return self._state.cells[name].value(name)
            return variable.assembled({leaf: self._state.cells[leaf].value(leaf) for leaf in variable.specs})

    def __setitem__(self, name: str, value: Any) -> None:
        """Give a variable another value, which is copied: all of its tensors, or none.

        Raises:
            RunError: there is no such variable, or ``value`` has another structure, shape or element type.
        """
        variable = self._variables.get(name)
        if variable is None:
            self._state.give({name: value})
            return
        self._state.give(variable.leaves_of(value))

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write the values of all variables into one ``.npz`` file: all of it, or the old file stays.

        Raises:
            RunError: a variable has no value yet.
            IpuError: the file cannot be written.
        """
        write_arrays(path, self._state.values())

    def load(self, path: "str | os.PathLike[str]") -> None:
        """Take the values of all variables from a file that ``save`` wrote: all of them, or none.

        Raises:
            RunError: the file has other variables than the program, or other shapes or types.
            IpuError: there is no such file, or it is damaged.
        """
        found, expected = read_arrays(str(path)), self._state.cells
        if missing := [name for name in expected if name not in found]:
            raise RunError(f"{path} has no value of {', '.join(missing)}; it was saved by another program")
        if more := [name for name in found if name not in expected]:
            raise RunError(f"{path} has values of {', '.join(more)}, which the program does not have")
        self._state.give(found)

    def __repr__(self) -> str:
        return f"<Session of {', '.join(self._programs)} with {', '.join(self._variables) or 'no variables'}>"
