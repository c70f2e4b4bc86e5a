# SPDX-License-Identifier: BSD-3-Clause
"""Write the newest versions and their hashes into the files of ``requirements``; needs uv.

Usage: lock.py [OPTION OF uv pip compile]...
"""

import subprocess
import sys
from pathlib import Path

from requirements import requirements

FOLDER = Path(__file__).parents[1] / "requirements"

# What each file locks, by the names of requirements.py. A file is installed as a whole, so what
# builds a wheel comes without the tests' libraries, which some platforms lack.
LOCKS = {
    "backend": ["backend"],
    "release": ["backend", "release"],
    "test": ["build", "lint", "test", "docs", "wheel"],
}

# For all platforms and Pythons. Only wheels: to build a source archive runs code without a hash.
# The index is the reader's own, so that the files name none.
OPTIONS = [
    *("--universal", "--python-version", "3.11", "--upgrade", "--quiet"),
    *("--generate-hashes", "--only-binary", ":all:", "--emit-build-options"),
    # A release that steals secrets is usually found within days.
    *("--exclude-newer", "7 days"),
    *("--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
    *("--custom-compile-command", "python scripts/lock.py"),
]


def main() -> None:
    """Write all files."""
    for name, parts in LOCKS.items():
        wanted = "\n".join(line for part in parts for line in requirements(part))
        command = [sys.executable, "-m", "uv", "pip", "compile", *OPTIONS, *sys.argv[1:]]
        command += ["--output-file", str(FOLDER / f"{name}.txt"), "-"]
        subprocess.run(command, check=True, input=wanted, text=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
