"""The examples run, and show what they promise."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.passes.plugins import load_plugin
from ipu_mlir.tools import ipu_opt

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PROGRAM = (ROOT / "docs" / "dense.mlir").read_text()

pytestmark = pytest.mark.pages


def run(name: str, *arguments: object) -> str:
    """What an example prints."""
    command = [sys.executable, EXAMPLES / name, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def load(name: str) -> ModuleType:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{Path(name).stem}", EXAMPLES / name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


def code_lines(name: str) -> int:
    """Lines that are neither empty nor docstring nor import."""
    text = re.sub(r'""".*?"""', "", (EXAMPLES / name).read_text(), flags=re.DOTALL)
    return sum(bool(line.strip()) and not line.startswith(("import ", "from ")) for line in text.splitlines())


def test_custom_pass_works_in_ipu_opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "dense.mlir"
    program.write_text(PROGRAM)
    arguments = ["--load", str(EXAMPLES / "custom_pass.py"), "--ipu-set-target=tiles=4", "--ipu-compile"]
    assert ipu_opt.main([str(program), *arguments, "--report-exchanges", "-o", "/dev/null"]) == 0
    # w (512 elements) and b (16 elements) go whole to four tiles, which have their homes' share already.
    shown = capsys.readouterr().out.splitlines()
    assert shown == ["exchange: 6,144 bytes to 4 tiles, at most 1,536", "exchange: 192 bytes to 4 tiles, at most 48"]
    assert ipu_opt.main([str(program), *arguments, "--report-exchanges=limit-bytes=1500", "-o", "/dev/null"]) == 1
    assert "sends 1,536 bytes to one tile; the limit is 1,500" in capsys.readouterr().err


def test_custom_pass_works_in_compile(capsys: pytest.CaptureFixture[str]) -> None:
    (report,) = load_plugin(EXAMPLES / "custom_pass.py").passes
    target = ipu.Target(tiles_per_ipu=3)
    ipu.compile(PROGRAM, target=target, pipeline=["ipu-compile", report()])
    assert capsys.readouterr().out.count("exchange: ") == 2
    with pytest.raises(ipu.CompileError, match="the limit is 90"):
        ipu.compile(PROGRAM, target=target, pipeline=["ipu-compile", report(limit_bytes=90)])


def test_custom_planner_uses_the_first_tiles_only() -> None:
    shown = run("custom_planner.py")
    default, by_rows = shown.split("rows on the first 8 tiles:")
    tiles = re.findall(r"^(?:argument|result)\s+\w+\s+float32\[[\d, ]+\]\s+(\d+)\s.*?(\d+)$", by_rows, re.MULTILINE)
    assert len(tiles) == 4
    assert all(int(count) <= 8 and int(last) <= 7 for count, last in tiles)
    assert re.search(r"result .* 64 .* 0 \.\. 63$", default, re.MULTILINE)
    assert float(shown.rpartition("at most ")[2]) < 1e-5


def test_mlp_shows_its_levels_and_agrees_with_numpy() -> None:
    shown = run("mlp.py")
    l0, l2, l3, source = (
        shown.index(f"---- {title}") for title in ("l0: linalg", "l2: placed", "l3: supersteps", "the NumPy source")
    )
    assert l0 < l2 < l3 < source
    assert "#ipu.mapping" not in shown[l0:l2]
    assert "tensor.cast" in shown[l2:l3]
    assert "ipu.exchange" in shown[l3:source] and "ipu.compute_set" in shown[l3:source]
    assert "dot(" in shown[source:]
    assert "argument  w1 " in shown
    assert "as by hand: True" in shown
    assert "tile by tile: True" in shown


def test_bert_overflows_a_part_of_a_chip_and_fits_as_advised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bert = load("bert_memory.py")
    sizes = bert.Sizes(batch=1, sequence=128, hidden=256, heads=4, feed_forward=1024, layers=1)
    bert.main(tmp_path, sizes, tiles=2)
    part, emulated, whole = capsys.readouterr().out.split("\n---- ")
    needed, has = re.search(r"error: .* needs ([\d,]+) B on tile \d+, which has ([\d,]+) B", part).groups()
    assert "largest there: %layers[0]['" in part
    assert re.search(r"^- more tiles: .* an ipu2 has 1,472 \(tiles_per_ipu=1472\)$", part, re.MULTILINE)
    assert f"warnings: 1\nit does not fit: {needed} of {has} B on tile " in emulated
    assert "needs" in (tmp_path / "part.json").read_text() and (tmp_path / "part.html").stat().st_size > 100_000
    assert whole.startswith("as advised, on 1,472 tiles") and "it fits: " in whole and "TFLOP/s" in whole


def test_bert_is_as_large_as_it_says() -> None:
    bert = load("bert_memory.py")
    tokens, layers, heads = bert.Sizes().specs()
    weights = [weight.shape for pair in layers[0].values() for weight in pair]
    assert (tokens.shape, len(layers), heads) == ((1, 512, 1024), 2, 16)
    assert sum(map(np.prod, weights)) == 12_596_224, "of a layer of BERT-large"


def test_bert_base_is_cut_evenly_over_four_ipus() -> None:
    """No stage takes more than 1.15 of the mean, and a cut that is moved by hand is worse."""
    shown = run("cut_bert.py")
    slowest, by_hand = (float(each) for each in re.findall(r"is the slowest, ([0-9.]+) of the mean", shown))
    assert 1 <= slowest <= 1.15 < by_hand
    assert shown.count("Sequential") == 12 + 3, "a row for each block, and three that would move"
    shares = [float(each) for each in re.findall(r"([0-9.]+)%$", shown, re.MULTILINE)]
    assert len(shares) == 8 and max(shares[:4]) <= 90


@pytest.mark.slow
def test_a_network_trains_only_where_it_computes_again_and_offloads() -> None:
    """The rows are those of the page; the example compares the losses with those of a machine that has the memory."""
    shown = [line for line in run("train_in_less_memory.py").splitlines() if line.startswith("| ")]
    assert len(shown) == 4 and [line.endswith("| fits |") for line in shown] == [False, False, False, True]
    page = (ROOT / "docs" / "memory.md").read_text().splitlines()
    assert [line for line in shown if line not in page] == []


def test_replicas_train_with_a_gradient_of_their_own_and_state_in_remote_memory() -> None:
    assert run("train_on_replicas.py").startswith("loss 7.23 -> ")


@pytest.mark.parametrize("name", ["custom_pass.py", "custom_planner.py"])
def test_extension_fits_on_a_screen(name: str) -> None:
    assert code_lines(name) <= 30


def test_planner_of_the_example_gives_right_results_on_ragged_sizes() -> None:
    planner = load("custom_planner.py").RowsOnFirstTiles(tiles=4)
    exe = ipu.compile(PROGRAM, target=ipu.Target(tiles_per_ipu=16), planner=planner)
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(shape, dtype=np.float32) for shape in [(48, 32), (32, 16), (16,)])
    assert np.allclose(exe(x, w, b), np.maximum(x @ w + b, 0), atol=1e-6)
    assert max(each.last_tile for each in exe.placements()) <= 3


def test_the_demonstration_learns_digits_on_replicas_as_on_one(tmp_path: Path) -> None:
    shown, losses = {}, {}
    for replicas in (1, 4):
        shown[replicas] = run("digits/train.py", "--epochs", "12", "--replicas", replicas, "--save", tmp_path / "w.npz")
        losses[replicas] = float(re.search(r"epoch +12/12 +loss ([0-9.]+)", shown[replicas])[1])
        assert float(re.search(r"held back: ([0-9.]+)", shown[replicas])[1]) >= 0.95
    assert "compiled for 4 replicas of 1472 tiles" in shown[4] and "network['w1']" in shown[4]
    assert abs(losses[1] - losses[4]) < 1e-3


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Its cells, in order, as one program."""
    notebook = json.loads((EXAMPLES / "digits.ipynb").read_text())
    assert notebook["nbformat"] == 4 and not any(cell.get("outputs") for cell in notebook["cells"])
    monkeypatch.chdir(EXAMPLES)
    names = {"__name__": "digits_notebook"}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"digits.ipynb, cell {number}", "exec"), names)
    shown = capsys.readouterr().out
    assert "linalg.matmul" in shown and "cycles" in shown
    assert shown.index("before training") < shown.index("after training") < shown.index("rate 0.50: loss")


@pytest.mark.parametrize(
    ("framework", "name"),
    [
        ("torch", "torch_encoder"),
        ("torch", "torch_pipeline"),
        ("jax", "jax_training"),
        ("keras", "keras_model"),
        ("tensorflow", "keras_pipeline"),
        ("onnx", "onnx_model"),
    ],
)
def test_programs_of_frameworks_agree_with_them(framework: str, name: str) -> None:
    pytest.importorskip(framework)
    shown = run(f"frontends/{name}.py")
    assert shown.count(": True") >= 1 and ": False" not in shown


def test_stochastic_rounding_learns_where_rounding_to_the_nearest_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    example = load("stochastic_rounding.py")
    monkeypatch.setattr(example, "ROUNDS", 3)
    digits = np.load(EXAMPLES / "digits" / "digits.npz")
    x = digits["images"][:64].reshape(64, -1).astype(np.float32) / 16
    labels = np.eye(10, dtype=np.float32)[digits["labels"][:64]]
    curves = {name: example.losses(dtype, modes, x, labels) for name, (dtype, modes) in example.RUNS.items()}
    single, stochastic, nearest = (values[0] - values[-1] for values in curves.values())
    assert abs(stochastic - single) < 0.05 * single and nearest < 0.7 * single
    assert example.plot(curves).count("<polyline") == 3


def test_weights_do_not_depend_on_the_schedule_of_a_pipeline() -> None:
    *rows, last = run("pipeline_schedules.py").splitlines()
    assert [row.split(":")[0].strip() for row in rows] == ["grouped", "interleaved", "sequential"]
    cycles = [int(re.search(r"([0-9,]+) cycles", row)[1].replace(",", "")) for row in rows]
    assert cycles[0] < cycles[2] and "wait in 75% of the slots" in rows[2]
    assert last == "the weights are the same"


def test_newtons_method_ends_where_the_gradient_is_zero() -> None:
    assert run("newton.py").startswith("right in 86% of the rows; the steepest slope is ")
