"""What a profile says of each tile adds up to what it says of the step, and of pairs of groups to what is moved."""

from pathlib import Path

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.runtime.profile.profile import Profile

PROGRAM = Path(__file__).parents[4] / "docs" / "dense.mlir"


@pytest.fixture(scope="module", params=[(3, 1), (5, 2), (32, 1), (96, 1)], ids=str)
def profile(request: pytest.FixtureRequest) -> Profile:
    tiles, ipus = request.param
    return ipu.compile(PROGRAM, target=ipu.Target(tiles_per_ipu=tiles, ipus=ipus)).profile()


def dense(runs: tuple[tuple[int, int], ...]) -> np.ndarray:
    values, counts = zip(*runs, strict=True)
    return np.repeat(values, counts)


def test_the_slowest_tile_is_that_of_the_step(profile: Profile) -> None:
    execution, tiles = profile.execution, profile.target.num_tiles
    for step in execution.steps:
        busy = np.zeros(tiles, int) if step.busy is None else dense(execution.tile_cycles[step.busy])
        assert busy.shape == (tiles,)
        assert busy.max() == max(step.compute, step.exchange)
        assert np.count_nonzero(busy) == step.active_tiles
    assert any(step.busy is not None for step in execution.steps)


def test_bytes_of_variables_add_up(profile: Profile) -> None:
    for variable in profile.compilation.variables:
        held = dense(profile.compilation.tile_bytes[variable.bytes_per_tile])
        assert held.sum() == variable.bytes_total and held.max(initial=0) == variable.bytes_worst_tile


def test_who_sends_to_whom_adds_up(profile: Profile) -> None:
    execution = profile.execution
    groups = profile.target.num_tiles // execution.group_tiles
    assert profile.target.tiles_per_ipu % execution.group_tiles == 0 and groups <= 16
    exchanges = [step for step in execution.steps if step.traffic is not None]
    assert exchanges
    for step in exchanges:
        assert step.traffic is not None
        moved = np.array(execution.traffic[step.traffic])
        assert (moved[:, 0] != moved[:, 1]).all() and (moved[:, 2] > 0).all() and moved[:, :2].max() < groups
        if execution.group_tiles == 1:  # a group takes once what several of its tiles receive
            assert moved[:, 2].sum() == step.bytes_received
        else:
            assert moved[:, 2].sum() <= step.bytes_received


def test_lines_of_the_source_are_those_of_its_file(profile: Profile) -> None:
    text = PROGRAM.read_text().splitlines()
    assert profile.program.lines
    assert all(each.file == "dense.mlir" and each.text == text[each.line - 1].strip() for each in profile.program.lines)


def test_no_other_file_is_read(tmp_path: Path) -> None:
    """Locations are text of the program, and a profile is sent to others."""
    secret = tmp_path / "secret.txt"
    secret.write_text("password\n")
    module = f'{PROGRAM.read_text()}\n#here = loc("{secret}":1:1)\n'
    lines = module.splitlines()
    place = next(n for n, line in enumerate(lines) if "linalg.matmul" in line)
    while "tensor<48x16xf32>" not in lines[place].split("->")[-1]:
        place += 1
    lines[place] += " loc(#here)"
    profile = ipu.compile("\n".join(lines), target=ipu.Target(tiles_per_ipu=3)).profile()
    assert any((op.location or "").startswith("secret.txt:1") for op in profile.ops)
    assert profile.program.lines == ()


def test_lines_of_python_code_that_runs() -> None:
    exe = ipu.compile(lambda x: ipu.nn.relu(x @ x), args=[ipu.TensorSpec((8, 8))], target=ipu.Target(tiles_per_ipu=4))
    lines = exe.profile().program.lines
    assert any(each.file == Path(__file__).name and "x @ x" in each.text for each in lines)
