"""Numbers as people read them."""

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB")
_SECONDS = ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_LARGE = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def digits(value: float) -> str:
    """Three significant digits, and all of those before the point.

    >>> digits(0.01234), digits(5), digits(12.345), digits(1234.5)
    ('0.0123', '5', '12.3', '1,234')
    """
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return f"{float(text):f}".rstrip("0").rstrip(".") if "e" in text else text


def bytes_text(size: float) -> str:
    """A size in the largest unit that leaves a whole part.

    >>> bytes_text(638_976), bytes_text(100), bytes_text(3 * 2**30)
    ('624 KiB', '100 B', '3 GiB')
    """
    unit = 0
    while abs(size) >= 1024 and unit < len(_BYTES) - 1:
        size, unit = size / 1024, unit + 1
    return f"{digits(size)} {_BYTES[unit]}"


def seconds_text(seconds: float) -> str:
    """A duration in the largest unit that leaves a whole part.

    >>> seconds_text(0.00123), seconds_text(2), seconds_text(0)
    ('1.23 ms', '2 s', '0 s')
    """
    for unit, name in _SECONDS:
        if seconds >= unit:
            return f"{digits(seconds / unit)} {name}"
    return "0 s" if seconds == 0 else f"{digits(seconds * 1e9)} ns"


def large_text(value: float, unit: str) -> str:
    """A count with its unit; above a million (of operations: a thousand) with a prefix.

    >>> large_text(1.25e14, "FLOP/s"), large_text(12_300, "cycles"), large_text(5, "cycles")
    ('125 TFLOP/s', '12,300 cycles', '5 cycles')
    """
    smallest = 1e3 if unit.startswith("FLOP") else 1e6
    for size, prefix in _LARGE:
        if value >= size >= smallest:
            joint = "" if unit.startswith("FLOP") else " "
            return f"{digits(value / size)} {prefix}{joint}{unit}"
    return f"{digits(value)} {unit}"


def percent(share: float) -> str:
    """A share in percent, small ones with two digits or one.

    >>> percent(0.123), percent(0.054), percent(0.004), percent(1), percent(0.00004)
    ('12 %', '5.4 %', '0.4 %', '100 %', '<0.01 %')
    """
    value = 100 * share
    if 0 < value < 0.01:
        return "<0.01 %"
    return f"{value:.0f} %" if abs(value) >= 10 or value == 0 else f"{value:.{2 if abs(value) >= 1 else 1}g} %"
