"""A sweep: which settings there are, what each gives, which are on the frontier, and how all of it is shown."""

import csv
import json
from pathlib import Path

import pytest

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.inspect.outcomes import Outcome, fastest_that_fits, with_frontier
from ipu_mlir.tools import ipu_sweep
from ipu_mlir.tools.sweep.page import page
from ipu_mlir.tools.sweep.settings import Setting, settings
from ipu_mlir.tools.sweep.sweep import Sweep

DOCS = Path(__file__).parents[4] / "docs"
PRODUCT = DOCS / "product.mlir"


def outcome(cycles: int, tile_bytes: int, fits: bool = True, tiles: int = 64, **changes: object) -> Outcome:
    values = {"compute": cycles, "exchange": 0, "sync": 0, "seconds": cycles / 1e9, "tile": 3, "unknown_counts": ()}
    setting = Setting(0.6, tiles, None)
    return Outcome(setting, cycles, tile_bytes=tile_bytes, fits=fits, **{**values, **changes})


def test_what_is_not_given_stays_at_its_default() -> None:
    assert list(settings(None, [8, 16], None, 64)) == [Setting(0.6, 8, None), Setting(0.6, 16, None)]
    assert list(settings(None, None, [1, None], 64)) == [Setting(0.6, 64, 1), Setting(0.6, 64, None)]
    both = list(settings([0.1, 0.2], [8, 16], [4], 64))
    assert both == [Setting(p, tiles, 4) for tiles in (8, 16) for p in (0.1, 0.2)]


@pytest.mark.parametrize(
    "figures,frontier",
    [
        ([(10, 5), (9, 6), (11, 4)], [True, True, True]),
        ([(10, 5), (10, 6), (11, 5)], [True, False, False]),
        ([(10, 5), (10, 5), (12, 7)], [True, True, False]),
        ([(10, 5), (11, 6), (12, 4), (13, 5)], [True, False, True, False]),
    ],
)
def test_the_frontier_is_what_no_other_beats(figures: list[tuple[int, int]], frontier: list[bool]) -> None:
    found = with_frontier([outcome(*each) for each in figures])
    assert [each.frontier for each in found] == frontier
    for each in found:
        beaten = any(
            (x.cycles, x.tile_bytes) != (each.cycles, each.tile_bytes)
            and x.cycles <= each.cycles
            and x.tile_bytes <= each.tile_bytes
            for x in found
        )
        assert each.frontier is not beaten


def test_the_fastest_that_fits() -> None:
    outcomes = [outcome(5, 900, fits=False), outcome(9, 40), outcome(7, 60), outcome(7, 50)]
    assert fastest_that_fits(outcomes) == outcomes[3]
    assert fastest_that_fits(outcomes[:1]) is None


def test_a_setting_that_is_refused_is_named_and_ends_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    placed = tmp_path / "placed.mlir"
    mapping = "#ipu.mapping<4, [[4, 4, 1, 0]], 0, 6>"
    placed.write_text(
        f"func.func @main(%x: tensor<4xf32> {{ipu.map = {mapping}}}) -> tensor<4xf32> {{\n"
        "  %y = arith.addf %x, %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n"
    )
    assert ipu_sweep.main([str(placed), "--tiles", "8,4"]) == 0
    assert "refused with proportion 0.6, 4 tiles: " in capsys.readouterr().out
    assert ipu_sweep.main([str(placed), "--tiles", "4,5"]) == 1
    assert "with proportion 0.6, 4 tiles: " in capsys.readouterr().err


def test_processes_print_what_one_prints(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for processes in "12":
        assert ipu_sweep.main([str(PRODUCT), "--tiles", "4,16", "--processes", processes]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


def test_the_table_has_a_row_per_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert ipu_sweep.main([str(PRODUCT), "--tiles", "4,16", "--most-partials", "1,none"]) == 0
    shown = capsys.readouterr()
    title, head, *rows = shown.out.splitlines()
    assert title == "product.mlir: main on 1 IPU of the kind ipu2"
    assert head.split()[:4] == ["proportion", "tiles", "partials", "cycles"]
    cells = [row.removeprefix("*").split() for row in rows[:4]]
    assert [each[:3] for each in cells] == [["0.6", t, p] for t in ("4", "16") for p in ("1", "none")]
    for _, _, _, cycles, compute, exchange, sync, *_ in cells:
        total, *parts = (int(each.replace(",", "")) for each in (cycles, compute, exchange, sync))
        assert total == sum(parts)
    assert any(row.startswith("*") for row in rows[:4])
    assert "leave out what the host transfers" in rows[5]
    assert shown.err == "", "progress is for terminals"


def test_the_machine_varies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "sweep.json"
    assert ipu_sweep.main([str(PRODUCT), "--chip", "mk1,bow", "--ipus", "1,2", "-o", str(data)]) == 0
    title, head, *rows = capsys.readouterr().out.splitlines()
    assert title == "product.mlir: main by chip, ipus"
    assert head.split()[:4] == ["chip", "ipus", "proportion", "tiles"]
    cells = [row.removeprefix("*").split()[:4] for row in rows[:4]]
    assert cells == [["mk1", "1", "0.6", "1,216"], ["mk1", "2", "0.6", "1,216"], *_OF_BOW]
    assert rows[5].endswith("a tile of ipu1 has 262,144 B, a tile of ipu21 has 638,976 B")
    assert rows[6].startswith("fastest that fits: bow, 1 IPU, proportion 0.6, 1,472 tiles: ")
    assert [row["bytes_per_tile"] for row in json.loads(data.read_text())["rows"]] == [262_144] * 2 + [638_976] * 2


_OF_BOW = [["bow", "1", "0.6", "1,472"], ["bow", "2", "0.6", "1,472"]]


def test_what_does_not_fit_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = "#ipu.target<{tiles_per_ipu = 4, bytes_per_tile = BYTES}>"
    program = tmp_path / "small.mlir"
    text = f"module attributes {{ipu.target = {target}}} {{\n{PRODUCT.read_text()}\n}}\n"
    program.write_text(text.replace("BYTES", "400000"))
    assert ipu_sweep.main([str(program), "--tiles", "4,64"]) == 0
    few, many, *_, best = capsys.readouterr().out.splitlines()[2:]
    assert few.endswith("does not fit") and not many.endswith("does not fit")
    assert best.startswith("fastest that fits: proportion 0.6, 64 tiles: ")
    program.write_text(text.replace("BYTES", "600"))
    assert ipu_sweep.main([str(program), "--tiles", "4,64"]) == 0
    *rows, last = capsys.readouterr().out.splitlines()
    least = min(int(row.removesuffix("does not fit").split()[-3].replace(",", "")) for row in rows[2:4])
    assert last == f"nothing fits; the nearest is proportion 0.6, 64 tiles: {least - 600:,} B too much"


def test_progress_on_a_terminal_goes_away(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert ipu_sweep.main([str(PRODUCT), "--tiles", "4,8"]) == 0
    shown = capsys.readouterr().err.split("\r\x1b[K")
    assert shown == ["", "1 of 2: proportion 0.6, 4 tiles", "2 of 2: proportion 0.6, 8 tiles", ""]


def test_loops_that_nobody_counted_are_said() -> None:
    found = outcome(5, 6, unknown_counts=("a.mlir:3:4",))
    sweep = Sweep("a.mlir: main", {found.setting: Target()}, [found])
    assert "not known how often control flow runs at a.mlir:3:4: taken once" in sweep.table()


def test_data_files_have_the_same_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / f"sweep{suffix}" for suffix in (".json", ".csv", ".html")]
    options = [text for file in files for text in ("-o", str(file))]
    assert ipu_sweep.main([str(PRODUCT), "--chip", "ipu1", "--tiles", "16", *options]) == 0
    data = json.loads(files[0].read_text())
    assert (data["schema"], data["version"], data["bytes_per_tile"]) == ("ipu-mlir.sweep", 1, 262_144)
    assert data["target"] == {"name": "ipu1", "ipus": 1, "clock_hz": 1.6e9}
    (row,), (line,) = data["rows"], csv.DictReader(files[1].open())
    assert line == {name: "" if value is None else str(value) for name, value in row.items()}
    assert line["most_partials"] == "" and line["fits"] == line["frontier"] == "True"
    assert data["rows"][0]["seconds"] == data["rows"][0]["cycles"] / 1.6e9
    assert files[2].stat().st_size < 1_000_000


def test_the_page_has_its_data_and_cannot_be_broken_by_names() -> None:
    found = outcome(5, 6)
    sweep = Sweep("</script><b>.mlir: main", {found.setting: Target()}, with_frontier([found]))
    text = page(sweep)
    assert "</script><b>" not in text and "&lt;/script&gt;&lt;b&gt;" in text
    data = text.partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(data) == sweep.plain()


@pytest.mark.parametrize(
    "option,value,message",
    [
        ("--available-memory-proportion", "0.2,1.5", "a proportion is more than 0 and at most 1, got '1.5'"),
        ("--available-memory-proportion", "0", "a proportion is more than 0 and at most 1, got '0'"),
        ("--available-memory-proportion", "much", "a proportion is more than 0 and at most 1, got 'much'"),
        ("--available-memory-proportion", "nan", "a proportion is more than 0 and at most 1, got 'nan'"),
        ("--tiles", "4,,8", "expected whole numbers from 1, separated by commas, got ''"),
        ("--ipus", "1,two", "expected whole numbers, separated by commas, got 'two'"),
        ("--tiles", "0", "expected whole numbers from 1, separated by commas, got '0'"),
        ("--most-partials", "1,few", "expected whole numbers from 1 or none, separated by commas, got 'few'"),
        ("--output", "sweep.txt", "'sweep.txt' says not what to write; it ends in .html, .json, .csv"),
        ("--chip", "ipu9", "no chip is called 'ipu9'; there are ipu1 (mk1), ipu2 (mk2), ipu21 (bow)"),
    ],
)
def test_wrong_usage_is_one_line(option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ipu_sweep.main([str(PRODUCT), option, value]) == 2
    said = capsys.readouterr().err
    assert said.startswith("ipu-sweep: error: argument ") and message in said and said.count("\n") == 1


def test_a_folder_that_is_not_there_is_said_before_it_takes_long(capsys: pytest.CaptureFixture[str]) -> None:
    assert ipu_sweep.main(["no-such-program.mlir", "-o", "absent/sweep.csv"]) == 1
    said = capsys.readouterr().err
    assert said == "ipu-sweep: error: cannot write absent/sweep.csv: there is no folder absent\n"
