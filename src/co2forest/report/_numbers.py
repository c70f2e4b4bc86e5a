# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as the page writes them."""

import math

NOTHING = "\N{EN DASH}"  # in place of a number that is none


def number(value: float | None, digits: int = 4, *, all_digits: bool = False) -> str:
    """With so many digits, and without zeros at their end unless ``all_digits`` are wanted."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e9:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{float(f'{value:.{digits}g}'):,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text and not all_digits else text
        return minus(text.replace(",", "\u202f"))
    return minus(f"{value:.{digits}g}")


def exact(value: float | None) -> str:
    """With all of four digits, to be compared with others."""
    return number(value, all_digits=True)


def reading(value: float | None) -> str:
    """As a table of data has it: five digits, but never less than the whole part."""
    if value is None or not 1e5 <= abs(value) < 1e9:
        return number(value, 5)
    return number(value, 1 + math.floor(math.log10(abs(value))))


def percent(share: float | None) -> str:
    """A share of one in percent; with a second decimal close to 0 or 100."""
    if share is None or not math.isfinite(share):
        return NOTHING
    decimals = 2 if 0 < share < 0.0995 or 0.9 < share < 1 else 1
    return minus(f"{100 * share:.{decimals}f}\u00a0%")


def short_percent(share: float) -> str:
    """The same for the ticks of an axis."""
    return f"{number(100 * share, 3)} %"


def whole(count: float) -> str:
    """A count with its thousands apart."""
    if not float(count).is_integer():
        return number(count)
    return f"{int(count):,}".replace(",", "\u202f")


def size(n_bytes: int) -> str:
    """A number of bytes."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000 or unit == "GB":
            break
        n_bytes /= 1000  # type: ignore[assignment]
    return f"{number(n_bytes, 3)}\u00a0{unit}"


def minus(text: str) -> str:
    """A real minus sign."""
    return text.replace("-", "\u2212") if "e" not in text else text


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from low to high: multiples of 1, 2 or 5 times a power of ten."""
    rough = (high / most) - (low / most)  # of numbers near 1e308 the difference is none
    if not rough > 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]
