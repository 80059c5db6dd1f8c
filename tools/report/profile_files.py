"""Profiles from files, whole and consistent."""

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import NoReturn

from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.dialects.support.files import FileTooLarge, read_bytes
from ipu_mlir.runtime.profile.compilation import ProgramNode
from ipu_mlir.runtime.profile.model import SCHEMA, VERSION
from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.report import runs

_MOST_DIGITS = 19


class UnreadableProfile(IpuError):
    """A file cannot be read, or is no profile."""


def read_profile(path: str) -> Profile:
    """The profile of the JSON file ``path``.

    Raises:
        UnreadableProfile: there is no such file, or it is not a profile that this version reads; names ``path``.
    """
    try:
        content = read_bytes(path)
    except OSError as error:
        raise UnreadableProfile(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, FileTooLarge) as error:
        raise UnreadableProfile(f"cannot read {path}: {error}") from error
    return named_profile(content, path)


def named_profile(content: bytes, name: str) -> Profile:
    """As ``parse_profile``; errors begin with ``name``."""
    try:
        return parse_profile(content)
    except IpuError as error:
        raise UnreadableProfile(f"{name}: {error}") from error


def parse_profile(content: bytes) -> Profile:
    """The profile that ``content`` holds as JSON.

    Raises:
        IpuError: it is not JSON, not a profile, of a newer version, or contradicts itself.
    """
    try:
        value = json.loads(content.decode(), parse_constant=_refuse_constant, parse_int=_count)
        _check_schema(value)
        profile = Profile.from_json(value)
    except UnicodeDecodeError as error:
        raise UnreadableProfile("not JSON: the file is no UTF-8 text") from error
    except json.JSONDecodeError as error:
        where = f"in line {error.lineno}, column {error.colno}"
        raise UnreadableProfile(f"not JSON: {error.msg} {where}; give what ipu-run --profile wrote") from error
    except RecursionError as error:
        raise UnreadableProfile("nested too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise UnreadableProfile(f"not a profile: {error}") from error
    _check_tiles(profile)
    _check_indices(profile)
    _check_steps(profile)
    return profile


def _refuse_constant(name: str) -> NoReturn:
    raise UnreadableProfile(f"not JSON: {name} is no number")


def _count(text: str) -> int:
    """A number of bytes, cycles or the like, of which sums and shares can be taken."""
    if len(text) > _MOST_DIGITS:
        raise UnreadableProfile(f"not a profile: {text[:_MOST_DIGITS]}... counts nothing; numbers are below 2^63")
    return int(text)


def _check_schema(value: object) -> None:
    found = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(value, dict) or found != SCHEMA:
        raise UnreadableProfile(
            f"not a profile: schema is {found!r:.60}; expected {SCHEMA!r}, as ipu-run --profile writes"
        )
    version = value.get("version")
    if isinstance(version, int) and version > VERSION:
        raise UnreadableProfile(f"version {version} of the profile's schema is newer than {VERSION}; update ipu-mlir")


def _check_tiles(profile: Profile) -> None:
    memory, tiles = profile.compilation.memory, profile.target.num_tiles
    groups = (memory.per_tile, memory.categories)
    lists = [(f"memory of {field.name}", getattr(group, field.name)) for group in groups for field in fields(group)]
    lists += [(f"compilation.tile_bytes[{n}]", runs_) for n, runs_ in enumerate(profile.compilation.tile_bytes)]
    lists += [(f"execution.tile_cycles[{n}]", runs_) for n, runs_ in enumerate(profile.execution.tile_cycles)]
    for place, found in lists:
        if (length := runs.length(found)) != tiles:
            raise UnreadableProfile(f"{place} is of {length} tiles; the target has {tiles}")


def _check_indices(profile: Profile) -> None:
    compilation, execution = profile.compilation, profile.execution
    variables = [each.bytes_per_tile for each in compilation.variables]
    named = (
        ("compilation.variables", variables, "tile_bytes", compilation.tile_bytes),
        ("execution.steps", [each.busy for each in execution.steps], "tile_cycles", execution.tile_cycles),
        ("execution.steps", [each.traffic for each in execution.steps], "traffic", execution.traffic),
    )
    for place, indices, name, entries in named:
        for index in indices:
            if index is not None and not 0 <= index < len(entries):
                raise UnreadableProfile(f"{place} names entry {index} of {name}, which has {len(entries)}")


def _check_steps(profile: Profile) -> None:
    known = {step.id for step in profile.compilation.steps}
    for place, step in _named_steps(profile):
        if step not in known:
            raise UnreadableProfile(f"{place} names step {step}; compilation.steps has no such id")


def _named_steps(profile: Profile) -> Iterator[tuple[str, int | None]]:
    for step in profile.execution.steps:
        yield "execution.steps", step.step
    for compute_set in profile.compilation.compute_sets:
        yield "compilation.compute_sets", compute_set.step
    nodes: list[ProgramNode] = [profile.compilation.program_tree]
    while nodes:
        node = nodes.pop()
        nodes += node.children
        if node.kind == "step":
            yield "compilation.program_tree", node.step
