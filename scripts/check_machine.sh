#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints the first thing this machine lacks to build co2forest, as one line; nothing if all is there.
# Usage: check_machine.sh PYTHON [CXX [SANITIZERS]]
python=$1
cxx=$2
sanitizers=$3

missing() {
    echo "$1"
    exit 0
}

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
    missing "co2forest needs Python 3.11 or newer, but '$python' does not run: install python3, or name yours with PYTHON_BASE=..."
case $version in
3.[0-9] | 3.10 | [0-2].*)
    missing "co2forest needs Python 3.11 or newer, but '$python' is Python $version: install a newer one and name it, as in: make demo PYTHON_BASE=python3.12"
    ;;
esac
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    missing "co2forest needs Python's venv module, which '$python' lacks: install it (Debian, Ubuntu: apt install python3-venv)"
"$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    missing "co2forest needs the header Python.h, which '$python' lacks: install it (Debian, Ubuntu: apt install python3-dev)"

for candidate in ${cxx:-c++ g++ clang++}; do
    command -v "$candidate" >/dev/null 2>&1 && compiler=$candidate && break
done
[ -n "$compiler" ] ||
    missing "co2forest needs a C++20 compiler, and ${cxx:-c++, g++ or clang++} was not found: install one (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install)"
echo '#include <version>' | "$compiler" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null ||
    missing "co2forest needs a C++20 compiler, and '$compiler' is not one: install GCC 11, Clang 14 or newer and name it, as in: make demo CXX=g++-12"

[ -n "$sanitizers" ] || exit 0
case $sanitizers in
fuzzer*)
    program='extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
    packages="Debian, Ubuntu: apt install clang libclang-rt-14-dev, or the version of your clang; Fedora: dnf install clang compiler-rt"
    ;;
*)
    program='int main() {}'
    packages="Debian, Ubuntu: it comes with g++; Fedora: dnf install libasan libubsan libtsan"
    ;;
esac
binary=$(mktemp)
trap 'rm -f "$binary"' EXIT
echo "$program" | "$compiler" -fsanitize="$sanitizers" -x c++ -o "$binary" - 2>/dev/null ||
    missing "this needs the runtime of -fsanitize=$sanitizers, which '$compiler' lacks: install it ($packages)"
