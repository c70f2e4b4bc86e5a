#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds a source archive, and from it, as users do, a wheel. Checks both, and tests the wheel in an
# environment that has nothing else. Run by the Makefile, which has installed the tools into .venv.
# Usage: build_wheel.sh PYTHON_BASE
set -e
PATH=$PWD/.venv/bin:$PATH
export PATH
unset MAKEFLAGS # or the compiler would share make's jobs
rm -rf dist build/wheel
mkdir -p build/wheel

# Show the output of a command only if it fails.
quietly() {
    "$@" >build/wheel/log.txt 2>&1 || { cat build/wheel/log.txt; exit 1; }
}

echo "building the source archive, and the wheel from it ..."
quietly python -m build --no-isolation --outdir build/wheel .
quietly python -m auditwheel repair --wheel-dir dist build/wheel/*.whl
mv build/wheel/*.tar.gz dist

echo "checking them ..."
quietly python -m twine check --strict dist/*
python scripts/check_wheel.py dist

echo "testing the wheel in an environment of its own ..."
python scripts/requirements.py cibuildwheel >build/wheel/requirements.txt
quietly "$1" -m venv --clear build/wheel/venv
quietly build/wheel/venv/bin/python -m pip install --requirement build/wheel/requirements.txt \
    "$(echo dist/*.whl)[cli]"
sources=$PWD
(cd build/wheel && venv/bin/python "$sources/scripts/test_wheel.py")
ls -l dist | awk 'NF > 2 { printf "dist/%s  %.1f MB\n", $NF, $5 / 1e6 }'
