"""Packed sequences of PyTorch in programs, whose lengths may be arguments: all steps of all sequences in a row.

The data has the steps beyond the end of a sequence as well, whose values reach no result.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

_CLOSED = 60.0
"""What closes the gates of an LSTM: its sigmoid is 1, that of its negative next to 0, and its power of e is finite."""


def _pack(x: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
    x = x.transpose(0, 1) if batch_first else x
    batch_sizes = _in_sequence(lengths, x.shape[0]).sum(1)
    batch_sizes.batch_of_padded = x.shape[1]  # its first number, which layers ask for
    return x.flatten(0, 1), batch_sizes


def _pad(
    data: Tensor, batch_sizes: Tensor, batch_first: bool, padding_value: float, total_length: int
) -> tuple[Tensor, Tensor]:
    x, lengths = _unpacked(data, batch_sizes)
    more = total_length - x.shape[0]
    x = functional.pad(x, [0, 0] * (x.dim() - 1) + [0, more]) if more else x
    mask = _in_sequence(lengths, total_length).reshape(*x.shape[:2], *[1] * (x.dim() - 2))
    x = torch.where(mask, x, padding_value)
    return (x.transpose(0, 1) if batch_first else x), lengths


def _unpacked(data: Tensor, batch_sizes: Tensor) -> tuple[Tensor, Tensor]:
    """The steps, ``(time, batch, ...)``, and the lengths of the sequences."""
    x = data.unflatten(0, (len(batch_sizes), -1))
    return x, (batch_sizes[:, None] > torch.arange(x.shape[1])).sum(0)


def _in_sequence(lengths: Tensor, steps: int) -> Tensor:
    return torch.arange(steps)[:, None] < lengths


def _layers(function: Any, *args: Any, **options: Any) -> Any:
    """A recurrent layer of PyTorch, on packed data if it gets such, else as it is."""
    is_lstm = function is torch.lstm
    if options or len(args) != 9 or not isinstance(args[1 if is_lstm else 2], Tensor):
        return function(*args, **options)
    data, batch_sizes, states, weights, has_biases, count, dropout, train, bidirectional = args
    states, directions = list(states) if is_lstm else [states], 1 + bidirectional
    each = len(weights) // (count * directions)
    if each != (4 if has_biases else 2):
        raise NotImplementedError("packed sequences go through LSTMs without projections only; let proj_size be 0")
    x, lengths = _unpacked(data, batch_sizes)
    ends = []
    for layer in range(count):
        x = functional.dropout(x, dropout, train) if layer and dropout else x
        found = []
        for place in range(layer * directions, (layer + 1) * directions):
            turned = _turned if place % directions else lambda x, _: x
            own = [every[place : place + 1] for every in states]
            result, *end = _layer(
                function, turned(x, lengths), lengths, own, weights[place * each :][:each], has_biases
            )
            found.append(turned(result, lengths))
            ends.append(end)
        x = torch.cat(found, -1)
    return x.flatten(0, 1), *(torch.cat(each) for each in zip(*ends, strict=True))


def _layer(
    function: Any, x: Tensor, lengths: Tensor, states: list[Tensor], weights: Sequence[Tensor], has_biases: bool
) -> list[Tensor]:
    """What a layer gives in one direction, and its states at the ends of the sequences.

    The cells of an LSTM stay as they are beyond an end, because one more number of each step closes and opens gates.
    """
    is_lstm = function is torch.lstm
    if is_lstm:
        size = states[1].shape[-1]
        gates = torch.tensor([-_CLOSED, _CLOSED, 0.0, 0.0]).repeat_interleave(size)[:, None]
        is_over = ~_in_sequence(lengths, x.shape[0])
        x = torch.cat([x, is_over[..., None].to(x.dtype)], -1)
        weights = [torch.cat([weights[0], gates.to(x.dtype)], 1), *weights[1:]]
    result, *ends = function(
        x, states if is_lstm else states[0], list(weights), has_biases, 1, 0.0, False, False, False
    )
    return [result, torch.take_along_dim(result, (lengths - 1)[None, :, None], 0), *ends[1:]]


def _turned(x: Tensor, lengths: Tensor) -> Tensor:
    """Each sequence from its end to its beginning."""
    steps = torch.arange(x.shape[0])[:, None]
    return torch.take_along_dim(x, torch.where(steps < lengths, lengths - 1 - steps, steps)[..., None], 0)


PLAIN = {
    torch._VF._pack_padded_sequence: _pack,
    torch._VF._pad_packed_sequence: _pad,
    **{each: partial(_layers, each) for each in (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu)},
}
"""Functions of PyTorch, and those that take their places while programs are traced."""
