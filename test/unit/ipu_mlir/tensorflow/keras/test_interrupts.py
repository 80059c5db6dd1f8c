"""Ctrl-C waits for the end of a step, once."""

import signal

import pytest

pytest.importorskip("tensorflow")
from ipu_mlir.tensorflow.keras.interrupts import interrupted_afterwards


def test_an_interrupt_comes_after_the_block():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupted_afterwards():
        signal.raise_signal(signal.SIGINT)
        done.append(1)
    assert done == [1]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_second_interrupt_does_not_wait():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupted_afterwards():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done.append(1)
    assert done == []
