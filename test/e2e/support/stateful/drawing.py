"""Random programs on state: their variables, queues and functions, drawn from a seed."""

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from support.stateful.operations import FORMS, PURE
from support.stateful.statements import (
    Assign,
    Block,
    Branch,
    Collective,
    CountUp,
    Dequeue,
    Enqueue,
    Fifo,
    Form,
    Kind,
    Load,
    Loop,
    OnShard,
    Outlined,
    Pure,
    Read,
    Scan,
    Store,
    Swap,
    Switch,
    Update,
    Within,
)

SHAPES = [(4,), (4,), (4,), (3,), (2, 4), (4, 4), ()]
DTYPES = [
    "int32",
    "int32",
    "float32",
    "float32",
    "float16",
    "float16",
    "int8",
    "bool",
    "uint8",
    "uint32",
    "int16",
    "int64",
]
ROWS = 5
_SIMPLE = {"pure": 4, "form": 5, "read": 3, "assign": 4, "update": 6, "swap": 1}
_QUEUES = {"load": 2, "store": 2, "dequeue": 1, "enqueue": 2, "fifo": 1, "collective": 2}
_NESTED = {"loop": 3, "count": 1, "branch": 3, "switch": 1, "scan": 1, "outlined": 2}
_ON_SHARDS = {"shard": 5, "within": 1}


@dataclass(frozen=True)
class Variable:
    """A variable; of a partitioned one each replica keeps a part, so that all assign the same."""

    name: str
    kind: Kind
    is_offloaded: bool
    is_partitioned: bool = False


COUNTER = Variable("count", ((), "int32"), is_offloaded=False)
"""A number that is the same in all replicas: only loops that end with it change it."""


@dataclass(frozen=True)
class Entry:
    """A function: the kinds of its arguments besides the number that comes last, and how many values it gives."""

    arguments: tuple[Kind, ...]
    body: Block
    results: int


@dataclass(frozen=True)
class Program:
    """A program on state, and where and how it runs.

    Attributes:
        ipus: of one replica.
        tiles: of one IPU.
        rows: the kind of the rows of its remote buffer.
        partitions_rows: True if each replica keeps a part of each row.
        fed: the kind of the elements of its infeed.
        given: the kind of the elements of its outfeed.
        runs: the functions in the order in which they run, the number that each is given, and whether on the per-tile
            executor.
        in_session: True for a session; else it runs on the state that the ``Variable`` objects hold.
    """

    seed: int
    replicas: int
    ipus: int
    tiles: int
    kernels: str
    variables: tuple[Variable, ...]
    rows: Kind
    partitions_rows: bool
    fed: Kind
    given: Kind
    entries: dict[str, Entry]
    runs: tuple[tuple[str, int, bool], ...]
    in_session: bool

    @property
    def partitioned(self) -> frozenset[str]:
        """The variables of which each replica keeps a part, and perhaps the rows."""
        names = {each.name for each in self.variables if each.is_partitioned}
        return frozenset(names | ({"rows"} if self.partitions_rows else set()))


def array(random: Random, kind: Kind) -> np.ndarray[Any, Any]:
    """Small whole numbers."""
    shape, dtype = kind
    least, most = (0, 1) if dtype == "bool" else (-4, 4)
    size = int(np.prod(shape, dtype=np.int64))
    return np.array([random.randint(least, most) for _ in range(size)]).reshape(shape).astype(dtype)


def program(seed: int) -> Program:
    """The program of a seed."""
    random = Random(seed)
    replicas = random.choice([1, 1, 1, 1, 2, 4])
    ipus = random.choice([1, 1, 2, 4])
    variables = tuple(_variable(random, f"v{number}") for number in range(random.randint(1, 3)))
    drawn = _Drawn(random, replicas, ipus, variables, _kind(random), _kind(random))
    if not drawn.row[0]:
        drawn.row = ((4,), drawn.row[1])
    entries = {}
    for number in range(random.choice([1, 1, 2, 3])):
        arguments = tuple(_kind(random) for _ in range(random.choice([0, 0, 1, 2])))
        entries[f"f{number}"] = Entry(arguments, drawn.block(random.randint(1, 4), 0), random.randint(1, 3))
    in_session = random.random() < 0.5
    per_tile = 0.0 if in_session else 0.35
    runs = tuple(
        (random.choice(list(entries)), random.randint(-2, 4), random.random() < per_tile)
        for _ in range(random.randint(2, 4))
    )
    return Program(
        seed,
        replicas,
        ipus,
        tiles=random.choice([1, 1, 4, 16]),
        kernels=random.choices(["never", "auto", "always", "checked"], [14, 8, 1, 1])[0],
        variables=(*variables, COUNTER),
        rows=drawn.row,
        partitions_rows=random.random() < 0.3,
        fed=_kind(random),
        given=drawn.given,
        entries=entries,
        runs=runs,
        in_session=in_session,
    )


def _variable(random: Random, name: str) -> Variable:
    is_offloaded = random.random() < 0.2
    return Variable(name, _kind(random), is_offloaded, is_offloaded and random.random() < 0.5)


def _kind(random: Random) -> Kind:
    return random.choice(SHAPES), random.choice(DTYPES)


class _Drawn:
    """Draws statements."""

    def __init__(
        self, random: Random, replicas: int, ipus: int, variables: tuple[Variable, ...], row: Kind, given: Kind
    ) -> None:
        self.random, self.replicas, self.ipus, self.variables = random, replicas, ipus, variables
        self.row, self.given = row, given
        self.fifos = 0
        self.deepest = random.choice([2, 2, 2, 3])

    def block(self, length: int, depth: int, *, with_queues: bool = True) -> Block:
        weights = dict(_SIMPLE)
        if with_queues:
            weights |= _QUEUES if self.replicas > 1 else {k: v for k, v in _QUEUES.items() if k != "collective"}
        if depth < self.deepest:
            weights |= _NESTED
        if self.ipus > 1 and depth <= self.deepest:
            weights |= _ON_SHARDS
        names = self.random.choices(list(weights), list(weights.values()), k=length)
        return tuple(self._statement(name, depth, with_queues) for name in names)

    def _variable(self) -> str:
        return self.random.choice(self.variables).name

    def _places(self, most: int) -> tuple[float, ...]:
        return tuple(self.random.random() for _ in range(self.random.randint(1, most)))

    def _statement(self, name: str, depth: int, with_queues: bool) -> Any:
        random = self.random
        place, other = random.random(), random.random()

        def inner(least: int, most: int, *, queues: bool = with_queues) -> Block:
            return self.block(random.randint(least, most), depth + 1, with_queues=queues)

        match name:
            case "pure":
                return Pure(random.choice(list(PURE)), place, other)
            case "form":
                return Form(random.choice(list(FORMS)), place, other)
            case "read":
                return Read(self._variable())
            case "assign":
                return Assign(self._variable(), random.choice(list(PURE)), place, random.random() < 0.5)
            case "update":
                return Update(self._variable(), random.choice(list(FORMS)), place, random.random() < 0.3)
            case "swap":
                one = random.choice(self.variables)
                return Swap(one.name, random.choice([each.name for each in self.variables if each.kind == one.kind]))
            case "load":
                return Load(place)
            case "store":
                return Store(place, other, self.row)
            case "dequeue":
                return Dequeue()
            case "enqueue":
                return Enqueue(place, self.given)
            case "fifo":
                self.fifos += 1
                return Fifo(self.fifos, random.randint(1, 3), place, random.random() < 0.3)
            case "collective":
                name = random.choice(["sum", "max", "min", "index", "last", "gather"])
                return Collective(name, place, random.choice([self.replicas, self.replicas, 2]))
            case "loop":
                form = random.choice(["for", "for", "given", "while"])
                return Loop(form, random.randint(0, 3), inner(1, 3), self._places(3), random.random() < 0.3)
            case "count":
                return CountUp(COUNTER.name, random.randint(0, 2), inner(1, 3))
            case "branch":
                tested = self._variable() if self.replicas == 1 and random.random() < 0.4 else None
                return Branch(random.randint(-1, 2), tested, inner(1, 3), inner(0, 2), self._places(2))
            case "switch":
                arms = tuple(inner(0, 2) for _ in range(random.randint(2, 4)))
                return Switch(arms, place, self._places(2))
            case "shard":
                return OnShard(random.randint(-1, self.ipus - 1), inner(1, 3))
            case "within":
                return Within(random.choice(["sum", "max", "gather"]), place, self.ipus, random.randrange(self.ipus))
            case "scan":
                return Scan(inner(1, 2), place, other)
            case _:
                return Outlined(inner(1, 3, queues=False), self._places(2), random.choice([1, 2, 2]))
