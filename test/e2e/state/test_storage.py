"""Files outlive what happens to the processes that write them: kills, full disks, and each other."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("storage_rounds.py")


def rounds(folder: Path, seed: int, count: int) -> dict:
    """What so many iterations found; where the user may, with a disk that is full, which goes with its process."""
    own_mounts = ["unshare", "--mount", "--propagation", "private"]
    may = shutil.which("unshare") and not subprocess.run([*own_mounts, "true"], capture_output=True).returncode
    command = [*(own_mounts if may else []), sys.executable, SCRIPT, folder, str(seed), str(count)]
    settings = {**os.environ, "IPU_MLIR_MAY_MOUNT": "1" if may else ""}
    done = subprocess.run(command, capture_output=True, text=True, env=settings, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    print(found)
    return found


def test_nothing_is_lost_in_some_rounds(tmp_path: Path) -> None:
    assert rounds(tmp_path, seed=1, count=25)["wrongs"] == []


@pytest.mark.slow
def test_nothing_is_lost_in_a_thousand_rounds(tmp_path: Path) -> None:
    found = rounds(tmp_path, seed=int(os.environ.get("IPU_MLIR_FUZZ_SEED", "2")), count=1000)
    assert found["wrongs"] == [] and found["killed"] > 300
