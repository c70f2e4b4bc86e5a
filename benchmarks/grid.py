# SPDX-License-Identifier: BSD-3-Clause
"""Shared code of the scripts that measure every method on every data set with every seed."""

import argparse
from pathlib import Path

import datasets
import store


def parser(description, sets, methods, seeds):
    """The options that all of them have; --table only prints what is stored."""
    options = argparse.ArgumentParser(description=description)
    folder = datasets.default_folder()
    options.add_argument("--data", type=Path, default=folder, help="folder with NAME.npz files")
    options.add_argument("--sets", nargs="+", default=list(sets), help="names of data sets")
    options.add_argument("--methods", nargs="+", default=list(methods), choices=methods)
    options.add_argument("--seeds", type=int, default=seeds)
    options.add_argument("--table", action="store_true", help="only print the stored results")
    return options


def missing(options, args, results):
    """Yield set, method, seed and data of each run that is not yet in the file of results."""
    if args.table:
        return
    done = {(r["set"], r["method"], int(r["seed"])) for r in store.read(results)}
    datasets.check_folder(options, args.data, args.sets)
    for name in args.sets:
        data = datasets.load(args.data, name)
        for seed in range(args.seeds):
            for method in args.methods:
                if (name, method, seed) not in done:
                    yield name, method, seed, data
