"""The verdict says in words what the numbers say."""

from collections.abc import Callable
from typing import Any

import pytest

from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.report.verdict import Verdict, verdict_of


@pytest.fixture
def verdict(sample: dict[str, Any]) -> Callable[..., Verdict]:
    """The verdict after changes to parts of the sample."""

    def verdict(memory: Any = (), cycles: Any = (), execution: Any = (), compilation: Any = ()) -> Verdict:
        sample["compilation"].update(compilation)
        sample["compilation"]["memory"].update(memory)
        sample["execution"].update(execution)
        sample["execution"]["cycles"].update(cycles)
        return verdict_of(Profile.from_json(sample))

    return verdict


def per_tile(*peak: tuple[int, int]) -> dict[str, Any]:
    return {"per_tile": {name: [list(run) for run in peak] for name in ("peak", "always_live", "without_gaps")}}


def test_it_fits(verdict: Callable[..., Verdict]) -> None:
    memory = {"limit": 1024, "worst_tile": 7, "worst_bytes": 512, **per_tile((512, 8), (256, 56))}
    said = verdict(memory)
    assert said.fit == "fits"
    assert said.memory == (
        "It fits: tile 7, the fullest, uses 512 B of 1 KiB (50 %), 512 B are left there. The average tile is 28 % full."
    )


def test_it_hardly_fits(verdict: Callable[..., Verdict]) -> None:
    assert verdict({"limit": 1000, "worst_bytes": 900}).fit == "fits"
    assert verdict({"limit": 1000, "worst_bytes": 901}).fit == "nearly full"


def test_it_does_not_fit(verdict: Callable[..., Verdict]) -> None:
    memory = {"limit": 1024, "worst_tile": 2, "worst_bytes": 3072, **per_tile((3072, 2), (1024, 62))}
    said = verdict(memory, compilation={"fits": False})
    assert said.fit == "does not fit"
    assert said.memory == (
        "It does not fit: tile 2 needs 3 KiB of its 1 KiB, 2 KiB too many; 2 of 64 tiles are over the limit."
    )


def test_it_does_not_fit_elsewhere_than_on_tiles(verdict: Callable[..., Verdict]) -> None:
    said = verdict({"limit": 1024, "worst_bytes": 512}, compilation={"fits": False})
    assert said.fit == "does not fit"
    assert said.memory.startswith("It does not fit, though not for the memory of its tiles: tile ")


def test_time_speed_and_share_of_peak(verdict: Callable[..., Verdict]) -> None:
    execution = {
        "seconds": 0.0015,
        "flops": 10**11,
        "flops_per_second": 6.7e13,
        "share_of_peak": {"f8": None, "f16": 0.27, "f32": None},
    }
    said = verdict(cycles={"total": 2_000_000}, execution=execution)
    assert said.time == "It takes 2 M cycles, 1.5 ms at 1.325 GHz, and reaches 67 TFLOP/s: 27 % of the f16 peak."


def test_unknown_counts_are_said(verdict: Callable[..., Verdict]) -> None:
    said = verdict(execution={"unknown_counts": ["net.mlir:8:3", "net.mlir:9:3"], "flops": 0})
    assert said.time.endswith(" GHz. How often 2 loops and branches run is not known; each is counted once.")


@pytest.mark.parametrize(
    ("cycles", "said"),
    [
        ((960, 40, 0, 0, 0), "Compute takes nearly all of the time, 96 % of all cycles; exchange between tiles 4 %."),
        (
            (300, 600, 0, 100, 0),
            "Exchange between tiles dominates, 60 % of all cycles; compute 30 % and synchronisation 10 %.",
        ),
        ((0, 300, 400, 300, 0), "Exchange between IPUs takes most, 40 % of all cycles; "),
        (
            (30, 0, 0, 10, 60),
            "Waiting for the host dominates, 60 % of all cycles; compute 30 % and synchronisation 10 %. "
            "Without the host it takes 40 cycles.",
        ),
        ((0, 0, 0, 0, 0), "It takes no cycles at all."),
    ],
)
def test_what_dominates(verdict: Callable[..., Verdict], cycles: tuple[int, ...], said: str) -> None:
    kinds = dict(zip(("compute", "exchange", "inter_ipu", "sync", "host"), cycles, strict=True))
    assert verdict(cycles={"total": sum(cycles), **kinds}).dominant.startswith(said)


@pytest.mark.parametrize(
    ("balance", "said"),
    [(0.95, "spread evenly"), (0.7, "some tiles wait"), (0.2, "most of the compute time is waiting")],
)
def test_balance(verdict: Callable[..., Verdict], balance: float, said: str) -> None:
    assert said in verdict(execution={"tile_balance": balance}).balance


def test_balance_of_a_program_that_only_copies(verdict: Callable[..., Verdict]) -> None:
    assert verdict(cycles={"compute": 0}).balance == "No tile computes."
