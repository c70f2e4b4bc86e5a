# SPDX-License-Identifier: BSD-3-Clause
"""Which words the names of a C file may begin with."""

import re
from typing import Any

from co2forest.files.messages import shown

_IDENTIFIER = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = re.compile("_.*|.*_|.*__.*")  # of names that a prefix and an underscore begin

# Keywords up to C23 and C++23, and what the file has from the standard library.
_TAKEN = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
constinit continue decltype default delete do double dynamic_cast else enum explicit export
extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public register reinterpret_cast requires restrict
return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using
virtual void volatile wchar_t while xor xor_eq

NULL exp int16_t int32_t int64_t int8_t log main memcpy memset pow size_t std strcmp uint16_t
uint32_t uint64_t uint8_t
"""


def check_prefix(prefix: Any) -> None:
    """Raise unless a program in C or C++ may have names that begin with it, and itself as one.

    ``int_predict`` would compile. But a program could call nothing by the prefix alone, such as
    the struct or the namespace around a model.
    """
    if not (isinstance(prefix, str) and _IDENTIFIER.fullmatch(prefix)):
        raise ValueError(
            "prefix must be an identifier in C, which has only letters, digits and underscores and "
            f"does not start with a digit, such as 'model'; got {shown(prefix)}"
        )
    if _RESERVED.fullmatch(prefix):
        raise ValueError(
            "prefix must not begin or end with an underscore, nor have two in a row, because C and "
            f"C++ reserve such names for themselves; write one such as 'my_model', not {prefix!r}"
        )
    if prefix in _TAKEN.split():
        raise ValueError(
            f"prefix must be a name of your own, such as '{prefix}_model', not {prefix!r}, which "
            "has a meaning in C or C++"
        )
