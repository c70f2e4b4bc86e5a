# SPDX-License-Identifier: BSD-3-Clause
"""Unpacking of .Z files, the format of the Unix program compress, which Python cannot read."""

MAGIC = b"\x1f\x9d"
_CLEAR = 256  # the code that empties the table, in files that have it
_MAX_SIZE = 1 << 28  # bytes; a few packed ones can stand for gigabytes


class LzwError(Exception):
    """The bytes are no .Z file, or only a part of one."""


def decompress(data: bytes) -> bytes:
    """Unpack a whole .Z file."""
    if len(data) < 3 or not data.startswith(MAGIC):
        raise LzwError("not a .Z file")
    max_bits, clears = data[2] & 0x1F, bool(data[2] & 0x80)
    if not 10 <= max_bits <= 16:  # programs disagree about what 9 means
        raise LzwError(f"codes of {max_bits} bits, expected 10 to 16")
    table = _first_table(clears)
    output = bytearray()
    bits, group, position = 9, 3, 3 * 8  # the current width began at byte `group`
    previous = b""
    while position + bits <= 8 * len(data):
        first = position >> 3
        code = int.from_bytes(data[first : first + 3], "little") >> (position & 7)
        code &= (1 << bits) - 1
        position += bits
        if code == _CLEAR and clears:
            table, previous = _first_table(clears), b""
            group = _end_of_group(group, position, bits)
            bits, position = 9, 8 * group
            continue
        if code < len(table):
            entry = table[code]
        elif code == len(table) and previous:
            entry = previous + previous[:1]
        else:
            raise LzwError(f"code {code} before it is defined")
        output += entry
        if len(output) > _MAX_SIZE:
            raise LzwError(f"more than {_MAX_SIZE} bytes unpacked")
        if previous and len(table) < 1 << max_bits:
            table.append(previous + entry[:1])
        previous = entry
        # The program that wrote the file was one entry ahead: it changes the width before the
        # entry that this code completes.
        if len(table) >= 1 << bits and bits < max_bits:
            group = _end_of_group(group, position, bits)
            bits, position = bits + 1, 8 * group
    return bytes(output)


def _first_table(clears: bool) -> list[bytes]:
    table = [bytes([value]) for value in range(256)]
    if clears:
        table.append(b"")
    return table


def _end_of_group(group: int, position: int, bits: int) -> int:
    """Codes are written eight at a time; a group is filled up before the width changes."""
    used = position - 8 * group
    groups = -(-used // (8 * bits))
    return group + groups * bits
