#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles the fuzz targets of the core, then fuzzes them and those in tests/fuzz. The corpora in build/fuzz grow from
# run to run, and an input that breaks something stays there.
# Usage: fuzz.sh CLANGXX SECONDS
set -e
clang=$1
seconds=$2
PATH=$PWD/.venv/bin:$PATH
export PATH
unset MAKEFLAGS # or the compiler would share make's jobs
mkdir -p build/fuzz

# quietly LOG COMMAND...: show its output only if it fails.
quietly() {
    log=$1
    shift
    "$@" >"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
}

fuzz() {
    name=$1
    shift
    echo "fuzzing $name for $seconds s ..."
    mkdir -p "build/fuzz/$name-corpus"
    quietly "build/fuzz/$name.log" "$@" "build/fuzz/$name-corpus" "-max_total_time=$seconds" -timeout=10 \
        -print_final_stats=1 "-artifact_prefix=build/fuzz/$name-"
    awk '/number_of_executed_units/ { print $2 " executions" }' "build/fuzz/$name.log"
}

echo "compiling the fuzz targets into build/fuzz ..."
quietly build/fuzz/cmake.log cmake -S . -B build/fuzz/cmake -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER="$clang" -DPython_EXECUTABLE="$PWD/.venv/bin/python" \
    -DCO2FOREST_SANITIZE=address,undefined -DCO2FOREST_FUZZ=ON -DCO2FOREST_WERROR=ON
quietly build/fuzz/ninja.log cmake --build build/fuzz/cmake --target co2forest_fuzz_forest co2forest_fuzz_views
fuzz forest build/fuzz/cmake/co2forest_fuzz_forest
fuzz views build/fuzz/cmake/co2forest_fuzz_views
for target in load_model table_encoding read_table; do
    fuzz $target .venv/bin/python tests/fuzz/$target.py
done
