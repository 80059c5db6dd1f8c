"""What is no profile is refused in one line that says what and where."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.tools.report.profile_files import UnreadableProfile, parse_profile, read_profile

Change = Callable[[dict[str, Any]], object]

WRONG: dict[str, tuple[Change, str]] = {
    "another schema": (lambda value: value.update(schema="other"), "not a profile: schema is 'other'; expected"),
    "no schema": (lambda value: value.pop("schema"), "not a profile: schema is None"),
    "newer": (
        lambda value: value.update(version=5),
        "version 5 of the profile's schema is newer than 4; update ipu-mlir",
    ),
    "missing field": (lambda value: value["compilation"]["memory"].pop("limit"), r"compilation\.memory\.limit"),
    "wrong kind": (lambda value: value["ops"][1].update(cycles="many"), r"ops\[1\]\.cycles is 'many'; expected"),
    "tiles": (
        lambda value: value["compilation"]["memory"]["categories"]["gaps"].append([1, 3]),
        "memory of gaps is of 67 tiles; the target has 64",
    ),
    "list of tiles": (
        lambda value: value["execution"]["tile_cycles"][0].append([1, 3]),
        r"execution\.tile_cycles\[0\] is of 67 tiles; the target has 64",
    ),
    "index of a list": (
        lambda value: value["compilation"]["variables"][0].update(bytes_per_tile=999),
        r"compilation\.variables names entry 999 of tile_bytes, which has",
    ),
    "index of who sends": (
        lambda value: value["execution"]["steps"][1].update(traffic=-1),
        r"execution\.steps names entry -1 of traffic, which has 1",
    ),
    "step": (lambda value: value["execution"]["steps"][0].update(step=99), r"execution\.steps names step 99"),
    "step of the tree": (
        lambda value: value["compilation"]["program_tree"]["children"][0].update(step=98),
        r"compilation\.program_tree names step 98; compilation\.steps has no such id",
    ),
}
"""A change of a sound profile, and what is said of it."""


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_profile_is_refused_with_the_place(
    case: str, sample: dict[str, Any], saved: Callable[..., str]
) -> None:
    change, said = WRONG[case]
    value = copy.deepcopy(sample)
    change(value)
    with pytest.raises(UnreadableProfile, match=f"profile.json: .*{said}") as error:
        read_profile(saved(value))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not JSON: Expecting property name.* in line 1, column 2; give what ipu-run --profile wrote"),
        (b"\xff\xfe", "not JSON: the file is no UTF-8 text"),
        (b"[1, NaN]", "not JSON: NaN is no number"),
        (b"[1, 2]", "not a profile: schema is None"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[1" + b"0" * 400 + b"]", r"not a profile: 1000000000000000000\.\.\. counts nothing"),
        (b"[1" + b"0" * 9000 + b"]", r"not a profile: 1000000000000000000\.\.\. counts nothing"),
    ],
)
def test_what_is_not_json_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(UnreadableProfile, match=said):
        parse_profile(content)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(IpuError, match=r"cannot read .*absent.json: No such file or directory"):
        read_profile(str(tmp_path / "absent.json"))


def test_a_sound_profile_is_read_whole(sample: dict[str, Any], saved: Callable[..., str]) -> None:
    assert read_profile(saved(sample)).to_json() == sample
