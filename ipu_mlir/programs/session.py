"""``Session``: programs that run on state of their own."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ipu_mlir.dialects.storage.npz import read_arrays, write_arrays
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.pictures import table, title
from ipu_mlir.runtime.engine.elements import Statistics
from ipu_mlir.runtime.engine.infeeds import Infeed
from ipu_mlir.runtime.engine.state import State
from ipu_mlir.specs.tensor_types import as_for_users, as_in_programs

if TYPE_CHECKING:
    import os

    from ipu_mlir.programs.trace_all import Declared
    from ipu_mlir.runtime.profile.profile import Profile

Run = Callable[[State, tuple[Any, ...], dict[str, Any]], Any]
"""A program in the caller's structure."""


class Session(Mapping[str, Any]):
    """The variables of a program, and the functions that run on them.

        session = exe.session()
        loss = session.run("train", x, y)
        session["w"], session["w"] = 2 * session["w"], ...

    As a mapping it has the value of each variable and remote buffer by its name. Threads that run on one session take
    turns; sessions do not know of each other. Iterators of infeeds and functions of the host, which runs wait for, must
    not use the session that they serve. A session cannot be copied or pickled.
    """

    def __init__(
        self,
        programs: Mapping[str, Run],
        declared: "Mapping[str, Declared]",
        state: State,
        profile: "Callable[[str], Profile] | None" = None,
    ) -> None:
        """Run ``programs`` on ``state``.

        Args:
            declared: variables and queues that Python made, with their forms.
            profile: gives that of the last run of a program, where runs are counted.
        """
        self._programs = dict(programs)
        self._profile = profile
        self._state = state
        self._infeeds: dict[str, Any] = {name: each for name, each in declared.items() if each.kind == "infeed"}
        self._outfeeds: dict[str, Any] = {name: each for name, each in declared.items() if each.kind == "outfeed"}
        variables: dict[str, Any] = {  # without those whose values no function uses
            name: each
            for name, each in declared.items()
            if each.kind == "variable" and state.cells.keys() >= each.specs.keys()
        }
        inside = {leaf for variable in variables.values() for leaf in variable.specs}
        plain = {name: None for name in state.cells if name not in inside}
        buffers = {name: declared.get(name) for name in state.remote.buffers if name not in state.cells}
        self._variables: dict[str, Any] = {**variables, **plain, **buffers}
        state.turn.session = repr(self)

    def run(self, program: str, *args: Any, **kwargs: Any) -> Any:
        """Run a function of the program by its name.

        Raises:
            RunError: there is no such function; its inputs do not fit; or a variable has no value yet.
        """
        if program not in self._programs:
            raise RunError(f"there is no program {program!r}; there are: {', '.join(self._programs)}")
        return self._programs[program](self._state, args, kwargs)

    def profile(self, program: str | None = None) -> "Profile":
        """The profile of the last run of a program on its target: its loops and branches as often as they ran then.

        Args:
            program: its name; not needed where there is one.

        Raises:
            RunError: the session does not count, has several programs, or the program has not run.
        """
        if self._profile is None:
            raise RunError("runs of this session are not counted; make one with session(counted=True)")
        if program is None and len(self._programs) > 1:
            raise RunError(f"the session has the programs {', '.join(self._programs)}: say of which, by its name")
        return self._profile(next(iter(self._programs)) if program is None else program)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the only function of the program."""
        first, *others = self._programs
        if others:
            raise RunError(
                f"the session has the programs {', '.join(self._programs)}: say which runs, as in "
                f"session.run({first!r}, ...)"
            )
        return self.run(first, *args, **kwargs)

    def __getitem__(self, name: str) -> Any:
        """A copy of the value of a variable, in its structure; the rows of a remote buffer themselves, or a copy of
        those that replicas share among them.

        Raises:
            RunError: it has no value yet.
            KeyError: there is no such variable.
        """
        if name not in self._variables:
            raise KeyError(f"there is no variable {name!r}; there are: {', '.join(self._variables) or 'none'}")
        variable = self._variables[name]
        with self._state.turn:
            if name in self._state.remote.buffers and name not in self._state.cells:
                buffer = self._state.remote.buffers[name]
                array = buffer.array if buffer.spec.whole is None else buffer.value()
                return array if variable is None else as_for_users(array, variable.spec.dtype)
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
        elif variable.kind == "remote":
            self._state.give({name: as_in_programs(value, variable.spec.dtype)})
        else:
            leaves = variable.leaves_of(value)
            self._state.give({leaf: as_in_programs(leaves[leaf], spec.dtype) for leaf, spec in variable.specs.items()})

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def feed(self, name: str, source: Any) -> None:
        """Let an infeed take its elements from ``source``, from the first one on.

        Args:
            source: as of ``ipu.Infeed``; of a program that is no Python function, elements are lists of arrays.

        Raises:
            RunError: there is no such infeed.
        """
        old = self._queue(self._state.streams.infeeds, "infeed", name)
        given = self._infeeds[name].elements(source) if name in self._infeeds else _elements_of(source)
        with self._state.turn:
            old.restart()
            self._state.streams.infeeds[name] = Infeed(old.stream, given)

    def serve(self, name: str, function: Callable[..., Any]) -> None:
        """Let a function of the host that the program calls in its middle be ``function``.

        Args:
            function: takes arrays, copies that it may keep, and gives an array, or a list of them; of several replicas
                it is called for each.

        Raises:
            RunError: there is no such function.
        """
        with self._state.turn:
            self._queue(self._state.streams.functions, "host function", name).function = function

    def restart(self, name: str) -> None:
        """Let an infeed begin again with its first element.

        Raises:
            RunError: there is no such infeed.
        """
        with self._state.turn:
            self._queue(self._state.streams.infeeds, "infeed", name).restart()

    def read(self, name: str) -> Any:
        """The elements in an outfeed now, while the program runs or afterwards.

        In mode ``all`` every tensor has the elements as one more dimension in front, and they are gone from the queue;
        in mode ``last`` it is the last element, which stays.

        Raises:
            RunError: there is no such outfeed, or it has no last element yet.
        """
        arrays = self._queue(self._state.streams.outfeeds, "outfeed", name).read()
        if name in self._outfeeds:
            return self._outfeeds[name].assembled(arrays)
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def elements(self, name: str) -> Iterator[Any]:
        """As ``read`` in mode ``all``, but one element after the other.

        Raises:
            RunError: there is no such outfeed, or it keeps the last element only.
        """
        queue = self._queue(self._state.streams.outfeeds, "outfeed", name)
        if queue.stream.mode != "all":
            raise RunError(f"outfeed {name!r} keeps its last element only; session.read({name!r}) gives that")
        arrays = queue.read()
        for place in range(len(arrays[0])):
            rows = [array[place] for array in arrays]
            yield self._outfeeds[name].assembled(rows) if name in self._outfeeds else (*rows,)

    def statistics(self) -> dict[str, Statistics]:
        """By name of the queue, what it has passed, and how long programs waited for it."""
        streams = self._state.streams
        return {name: queue.statistics() for name, queue in (streams.infeeds | streams.outfeeds).items()}

    def _queue(self, queues: Mapping[str, Any], kind: str, name: str) -> Any:
        if name not in queues:
            raise RunError(f"there is no {kind} {name!r}; there are: {', '.join(queues) or 'none'}")
        return queues[name]

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write the values of all variables into one ``.npz`` file: all of it, or the old file stays.

        Remote buffers in memory are in it as well. Those in files are not: their files have all that was written.

        Raises:
            RunError: a variable has no value yet, or a table has gathered updates that are not added.
            IpuError: the file cannot be written.
        """
        write_arrays(path, self._state.values())

    def load(self, path: "str | os.PathLike[str]") -> None:
        """Take the values of all variables, and of remote buffers in memory, from a file that ``save`` wrote.

        All of them, or none.

        Raises:
            RunError: the file has other variables than the program, or other shapes or types.
            IpuError: there is no such file, or it is damaged.
        """
        in_files = {name for name, buffer in self._state.remote.buffers.items() if buffer.file is not None}
        found, expected = (
            read_arrays(str(path)),
            (self._state.cells.keys() | self._state.remote.buffers.keys()) - in_files,
        )
        if missing := [name for name in expected if name not in found]:
            raise RunError(f"{path} has no value of {', '.join(missing)}; it was saved by another program")
        if more := [name for name in found if name not in expected]:
            raise RunError(f"{path} has values of {', '.join(more)}, which the program does not have")
        self._state.give(found)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse copies and pickles, which would share a part of the state, or have queues that nobody fills.

        Raises:
            RunError: always.
        """
        raise RunError(
            f"{self!r} cannot be copied or pickled; save(path) in one session and load(path) in another one carry its "
            "values over, also between processes"
        )

    def _repr_html_(self) -> str:
        """For notebooks: the variables with their types, without what they hold."""
        rows = [(name, _types_of(each)) for name, each in self._variables.items()]
        return title(repr(self)) + (table(("variable", "type"), rows) if rows else "")

    def __repr__(self) -> str:
        return f"<Session of {', '.join(self._programs)} with {', '.join(self._variables) or 'no variables'}>"


def _types_of(variable: Any) -> str:
    """Shapes and element types; nothing of a variable that only the text of a program has."""
    if variable is None:
        return ""
    return str(variable.spec) if variable.kind == "remote" else ", ".join(map(str, variable.specs.values()))


def _elements_of(source: Any) -> Callable[[], Iterator[Any]]:
    """What gives the elements of ``source`` as they are."""

    def elements() -> Iterator[Any]:
        given: Any = source() if callable(source) else source
        return iter(given)

    return elements
