"""Rounds of saves, remote files and caches in threads and processes, some of which are killed or find the disk full.

    python test/e2e/state/storage_rounds.py FOLDER SEED ROUNDS

prints as JSON how many rounds of each kind there were and what went wrong in them; all wrongs should be empty. It is a
process of its own, for it forks.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import ipu_mlir as ipu
from ipu_mlir.runtime.engine import code_cache

ROWS, COLUMNS = 12, 512
TARGET = ipu.Target(tiles_per_ipu=16)
SHAPE = (40, 256)
FULL_BYTES = 64 << 10
"""Of the disk that gets full: less than a state or a file of rows, and more than a page."""

Act = Callable[[Callable[[], None]], None]


def counting() -> "ipu.Executable":
    """A program that adds one to all elements of two variables."""
    w, v = (ipu.Variable(np.zeros(SHAPE, np.float32), name=name) for name in "wv")

    def main() -> None:
        w.assign(w.value + 1)
        v.assign(v.value + 1)

    return ipu.compile(main, args=[], target=TARGET, kernels="never")


def adding(rows: int = ROWS) -> "ipu.Executable":
    """A program that adds one to a row of a buffer, which begins with ones."""
    table = ipu.RemoteBuffer(np.ones((rows, COLUMNS), np.float32), name="t")
    return ipu.compile(
        lambda row: table.store(row, table.load(row) + 1), args=[np.int32(0)], target=TARGET, kernels="never"
    )


class Worker:
    """A child of this process that does ``act``, which calls its argument after each thing that is done."""

    def __init__(self, act: Act) -> None:
        self._reading, writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            status = 1
            try:
                os.close(self._reading)
                act(lambda: os.write(writing, b"."))
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writing)
        self.is_killed = False

    def kill(self) -> None:
        self.is_killed = True
        os.kill(self.pid, signal.SIGKILL)

    def ended(self) -> tuple[int, int]:
        """How many things it did for sure, and its exit status, negative for a signal that was not ours."""
        done = 0
        while part := os.read(self._reading, 1 << 12):
            done += len(part)
        os.close(self._reading)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return done, 0 if self.is_killed and status == -signal.SIGKILL else status


class Rounds:
    """Rounds in one folder.

    Attributes:
        wrongs: in words, with the number of the round.
        counts: of rounds by kind, and of processes that were killed.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.random = folder, random.Random(seed)
        self.wrongs: list[str] = []
        self.counts: Counter[str] = Counter()
        self.counting, self.adding, self.larger = counting(), adding(), adding(64)
        self.number = 0
        self.foreign = self._foreign_files()
        self.full = self._full_disk()

    def run(self, rounds: int) -> None:
        kinds = [self.saves, self.remote_files, self.caches, self.full_disks, self.threads]
        for self.number in range(rounds):
            kind = kinds[self.number % len(kinds)]
            self.counts[kind.__name__] += 1
            kind(self.folder / f"{kind.__name__}{self.number}")
            self._check_foreign_files()

    def _wrong(self, what: str) -> None:
        self.wrongs.append(f"round {self.number}: {what}")

    def _foreign_files(self) -> dict[Path, tuple[bytes, int, int]]:
        cache = self.folder / "cache"
        cache.mkdir(mode=0o700)
        os.environ[code_cache.FOLDER] = str(cache)
        code_cache._MOST_FILES = 6
        for folder in (self.folder, cache):
            for name in ("photo.jpg", "0" * 64, f"{'a' * 64}.kernel", ".ipu-mlir-notes.unfinished", "x.part", "y.new"):
                (folder / name).write_bytes(name.encode())
                (folder / name).chmod(0o640)
                os.utime(folder / name, (1, 1))
        return {path: _state(path) for folder in (self.folder, cache) for path in folder.iterdir() if path.is_file()}

    def _check_foreign_files(self) -> None:
        for path, before in self.foreign.items():
            if not path.exists() or _state(path) != before:
                self._wrong(f"{path.name}, a file of somebody else, is gone or another one")

    def _workers(self, acts: list[Act], kills: bool = True) -> list[tuple[int, bool]]:
        """Let all of them act at once, and kill some; by each, how much it did and whether it was killed."""
        workers = [Worker(act) for act in acts]
        for worker in workers:
            if kills and self.random.random() < 0.5:
                time.sleep(self.random.random() ** 2 * 0.04)
                worker.kill()
                self.counts["killed"] += 1
        found = []
        for worker in workers:
            done, status = worker.ended()
            if status:
                self._wrong(f"a process ended with {status}")
            found.append((done, worker.is_killed))
        return found

    def _check_leftovers(self, folder: Path) -> None:
        left = [path.name for path in folder.glob("*.unfinished") if path not in self.foreign]
        if left:
            self._wrong(f"left over: {left}")

    def saves(self, folder: Path) -> None:
        """Processes save into one file."""
        folder.mkdir()
        path = folder / "state.npz"

        def act(done: Callable[[], None]) -> None:
            session = self.counting.session()
            for _ in range(3):
                session()
                session.save(path)
                done()

        found = self._workers([act] * self.random.randint(1, 4))
        if path.exists() or any(done for done, _ in found):
            self._check_state(path, range(1, 4))
        self.counting.session().save(path)
        self._check_state(path, (0,))
        if os.listdir(folder) != ["state.npz"]:
            self._wrong(f"left over: {os.listdir(folder)}")

    def _check_state(self, path: Path, values: "range | tuple[int, ...]") -> None:
        session = self.counting.session()
        try:
            session.load(path)
        except ipu.IpuError as error:
            self._wrong(f"the state is lost: {error}")
            return
        if {*session["w"].flat, *session["v"].flat} not in [{value} for value in values]:
            self._wrong("the state is that of several moments")

    def remote_files(self, folder: Path) -> None:
        """Processes begin at once with one file, and add to rows of their own."""
        folder.mkdir()
        path, runs = folder / "rows.npy", 4

        def act(row: int) -> Act:
            def of_row(done: Callable[[], None]) -> None:
                session = self.adding.session(files={"t": path})
                for _ in range(runs):
                    session(np.int32(row))
                    done()

            return of_row

        found = self._workers([act(row) for row in range(self.random.randint(2, 4))])
        if not path.exists():
            if any(done for done, _ in found):
                self._wrong("rows that were stored are gone with their file")
            return
        self._check_rows(path, found)
        self.adding.session(files={"t": path})
        self._check_leftovers_after_write(folder)

    def _check_rows(self, path: Path, found: list[tuple[int, bool]]) -> None:
        rows = np.load(path)
        for row, (done, was_killed) in enumerate(found):
            in_flight = 1 if was_killed else 0
            if not (rows[row] >= 1 + done).all() or not (rows[row] <= 1 + done + in_flight).all():
                self._wrong(f"row {row} was added to {done} times and is {np.unique(rows[row])}")
                self.counts["rows_lost"] += 1
        if not (rows[len(found) :] == 1).all():
            self._wrong("rows that nobody wrote are others")

    def _check_leftovers_after_write(self, folder: Path) -> None:
        self.counting.session().save(folder / "state.npz")
        self._check_leftovers(folder)

    def caches(self, folder: Path) -> None:
        """Processes keep object code in one folder, in which the oldest make room."""

        def act(seed: float) -> Act:
            def of_seed(done: Callable[[], None]) -> None:
                chosen = random.Random(seed)
                for _ in range(10):
                    key, other = (f"key {chosen.randrange(12)}" for _ in range(2))
                    code_cache.write(key, key.encode() * 500)
                    assert code_cache.read(key) in (key.encode() * 500, None)
                    assert code_cache.read(other) in (other.encode() * 500, None)
                    done()

            return of_seed

        self._workers([act(self.random.random()) for _ in range(3)])
        code_cache.write("last", b"code")
        if code_cache.read("last") != b"code":
            self._wrong("what was kept last is not there")
        self._check_leftovers(self.folder / "cache")
        if (count := sum(name.endswith(".kernel") for name in os.listdir(self.folder / "cache"))) > 6 + 1:
            self._wrong(f"{count} files are kept")

    def full_disks(self, folder: Path) -> None:
        """States and rows that the disk cannot take are refused, and what was there stays."""
        if self.full is not None:
            folder = self.full / folder.name
        folder.mkdir()
        old, rows, holes = folder / "state.npz", folder / "rows.npy", folder / "holes.npy"
        np.savez(old, w=np.zeros(3))
        before = old.read_bytes()
        np.lib.format.open_memmap(holes, "w+", np.dtype(np.float32), (64, COLUMNS))

        def act(done: Callable[[], None]) -> None:
            if self.full is None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (FULL_BYTES // 2, resource.RLIM_INFINITY))
            session = self.counting.session()
            self._refused(lambda: session.save(old))
            self._refused(lambda: self.larger.session(files={"t": rows}))
            if self.full is not None:
                self._refused(lambda: self.larger.session(files={"t": holes}))
            done()

        self._workers([act], kills=False)
        if old.read_bytes() != before or rows.exists():
            self._wrong("a file that did not fit is another one now")
        self._check_leftovers(folder)
        for path in (old, holes):
            path.unlink()

    @staticmethod
    def _refused(action: Callable[[], object]) -> None:
        try:
            action()
        except ipu.IpuError as error:
            assert "too few" in str(error) or "File too large" in str(error), error
        else:
            raise AssertionError("it fitted")

    def threads(self, folder: Path) -> None:
        """Threads save into one file, load it, and add to rows of one remote file that is new."""
        folder.mkdir()
        path, rows = folder / "state.npz", folder / "rows.npy"
        self.counting.session().save(path)
        together, failed = threading.Barrier(6), []

        def saver() -> None:
            session = self.counting.session()
            together.wait()
            for _ in range(3):
                session()
                session.save(path)

        def loader() -> None:
            together.wait()
            for _ in range(3):
                self._check_state(path, range(4))

        def adder(row: int) -> None:
            together.wait()
            session = self.adding.session(files={"t": rows})
            for _ in range(3):
                session(np.int32(row))

        def guarded(action: Callable[..., None], *args: int) -> None:
            try:
                action(*args)
            except BaseException as error:
                failed.append(repr(error))

        acts = [(saver,), (saver,), (loader,), *((adder, row) for row in range(3))]
        started = [threading.Thread(target=guarded, args=each) for each in acts]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        self.wrongs += [f"round {self.number}: a thread ended with {each}" for each in failed]
        self._check_rows(rows, [(3, False)] * 3)
        if sorted(os.listdir(folder)) != ["rows.npy", "state.npz"]:
            self._wrong(f"left over: {os.listdir(folder)}")

    def _full_disk(self) -> Path | None:
        """A small disk in memory, where this process may have one; else None, and files get a limit."""
        place = self.folder / "full"
        place.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={FULL_BYTES}", "tmpfs", str(place)]
        if os.environ.get("IPU_MLIR_MAY_MOUNT") and not subprocess.run(mount, capture_output=True).returncode:
            return place
        return None


def _state(path: Path) -> tuple[bytes, int, int]:
    about = path.stat()
    return path.read_bytes(), about.st_mode, about.st_mtime_ns


if __name__ == "__main__":
    rounds = Rounds(Path(sys.argv[1]), int(sys.argv[2]))
    rounds.run(int(sys.argv[3]))
    print(json.dumps({"wrongs": rounds.wrongs, "full_disk": rounds.full is not None, **rounds.counts}))
