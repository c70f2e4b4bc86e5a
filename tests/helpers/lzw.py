# SPDX-License-Identifier: BSD-3-Clause
"""The Unix program compress in a few lines, for tests of the .Z files that it writes."""


def compress(data, max_bits=16, *, clear=False):
    """A .Z file; a full table stays as it is, or is cleared."""
    single = {bytes([value]): value for value in range(256)}
    table = dict(single)
    next_code, bits = 257, 9
    packed, group = bytearray(b"\x1f\x9d" + bytes([0x80 | max_bits])), []

    def flush():
        number = sum(code << (bits * place) for place, code in enumerate(group))
        packed.extend(number.to_bytes(bits, "little"))
        group.clear()

    def put(code):
        group.append(code)
        if len(group) == 8:
            flush()

    word = b""
    for value in data:
        longer = word + bytes([value])
        if longer in table:
            word = longer
            continue
        put(table[word])
        if next_code < 1 << max_bits:
            table[longer] = next_code
            next_code += 1
            if next_code > 1 << bits and bits < max_bits:
                if group:
                    flush()
                bits += 1
        elif clear:
            put(256)
            if group:
                flush()
            table, next_code, bits = dict(single), 257, 9
        word = bytes([value])
    if word:
        group.append(table[word])
        number = sum(code << (bits * place) for place, code in enumerate(group))
        packed.extend(number.to_bytes(-(-len(group) * bits // 8), "little"))
    return bytes(packed)
