#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a command whose Python imports the co2forest of build/asan or build/tsan, and fails if the
# command does or if a sanitizer has anything to report, be it from a process started by a test.
# Usage: sanitized.sh asan|tsan COMMAND [ARGUMENT...]
build=$PWD/build/$1
reports=$build/report
shift
rm -f "$reports".*

# The runtime must be loaded before all else, and the C++ library with it: a runtime that finds none
# when it starts cannot hand on exceptions. Programs of our own come with both.
needed=$(ldd "$build"/site/co2forest/_native*.so | awk '/lib(asan|tsan|stdc\+\+)/ { print $3 }')
case $1 in
build/*) preload= ;;
*) preload=$(echo $needed) ;;
esac

# A file for reports, because pytest hides what a test that dies has printed.
common=log_path=$reports:print_stacktrace=1
# detect_leaks: the interpreter frees much of its memory only by ending.
# allocator_may_return_null: NumPy makes a MemoryError of it.
asan=$common:detect_leaks=0:allocator_may_return_null=1
# ignore_noninstrumented_modules: Python and NumPy know about their locks, the sanitizer does not.
# die_after_fork: some tests fork while threads are there, as users do.
tsan=$common:ignore_noninstrumented_modules=1:die_after_fork=0

# Some kernels place memory at random where ThreadSanitizer cannot have it.
fixed="setarch $(uname -m) -R"
$fixed true 2>/dev/null || fixed=
$fixed env LD_PRELOAD="$preload" PYTHONPATH="$build/site:$PWD/benchmarks:$PWD/tests/helpers" \
    CO2FOREST_TEST_PATIENCE=10 ASAN_OPTIONS="$asan" UBSAN_OPTIONS="$common" TSAN_OPTIONS="$tsan" "$@"
status=$?

for report in "$reports".*; do
    [ -e "$report" ] || continue
    cat "$report"
    status=1
done
exit $status
