"""Two profiles: totals side by side, ops matched by name and location."""

import copy
from typing import Any

import pytest

from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.report.comparison import compare


@pytest.fixture
def pair(sample: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    return copy.deepcopy(sample), sample


def compared(pair: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    return compare(Profile.from_json(pair[0]), Profile.from_json(pair[1]))


def test_totals_stand_side_by_side(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    pair[0]["execution"]["cycles"]["total"] = 90
    pair[1]["execution"]["cycles"]["total"] = 100
    found = compared(pair)
    assert found["totals"][0] == {"name": "all cycles", "unit": "cycles", "this": 90, "other": 100}
    assert found["words"].startswith("It takes 10 % fewer cycles than the other; its fullest tile holds as much as ")


def test_ops_are_matched_by_name_and_location(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    this, other = pair
    this["ops"][0].update(cycles=10**9)
    this["ops"][1].update(name="linalg.exp")
    other["ops"][2].update(location=None)
    rows = {(row["name"], row["location"]): row for row in compared(pair)["ops"]}
    same = rows["linalg.matmul", "net.mlir:10:8"]
    assert (same["this"]["cycles"], same["other"]["cycles"]) == (10**9, other["ops"][0]["cycles"])
    assert rows["linalg.exp", "net.mlir:11:8"]["other"] is None
    assert rows["linalg.generic", "net.mlir:11:8"]["this"] is None
    assert rows["linalg.softmax", None]["this"] is None
    assert compared(pair)["ops"][0] == same, "the most changed op comes first"


def test_ops_of_one_name_and_location_are_added_up(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    for op in pair[0]["ops"][:3]:
        op.update(name="linalg.generic", location="net.mlir:1:1", cycles=5)
    (row,) = [row for row in compared(pair)["ops"] if row["location"] == "net.mlir:1:1"]
    assert row["this"]["cycles"] == 15 and row["other"] is None


@pytest.mark.parametrize(
    ("this", "other", "said"),
    [
        (True, True, "other's."),
        (True, False, "It fits, and the other does not."),
        (False, True, "It does not fit, and the other does."),
        (False, False, "Neither fits."),
    ],
)
def test_whether_they_fit(pair: tuple[dict[str, Any], dict[str, Any]], this: bool, other: bool, said: str) -> None:
    pair[0]["compilation"]["fits"], pair[1]["compilation"]["fits"] = this, other
    assert compared(pair)["words"].endswith(said)
