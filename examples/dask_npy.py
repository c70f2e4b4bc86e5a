# SPDX-License-Identifier: BSD-3-Clause
"""From .npy files to .npy files: predict numbers on a Dask cluster.

    python examples/dask_npy.py
    python examples/dask_npy.py --data FOLDER --out ANOTHER_FOLDER

FOLDER has pairs of files: X-0.npy with rows of numbers and y-0.npy with their targets, X-1.npy and
y-1.npy, and so on. Without --data it first writes some. --out is a new folder, which gets

    model.safetensors    for co2forest.load_model, which needs no Dask
    prediction-0.npy     and so on, one for each of the data

Needs co2forest[dask].
"""

import argparse
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client

from co2forest import CO2ForestRegressor
from co2forest.dask import DaskForest


def generate(folder):
    random = np.random.default_rng(0)
    folder.mkdir(parents=True)
    for i in range(6):
        X = random.normal(size=(1500, 8)).astype(np.float32)
        np.save(folder / f"X-{i}.npy", X)
        np.save(folder / f"y-{i}.npy", X[:, 0] * 3 + X[:, 1] ** 2)


def lazy(files):
    """One array of Dask with a block for each file. Only the headers are read here."""
    blocks = []
    for file in files:
        like = np.load(file, mmap_mode="r")
        block = dask.delayed(np.load)(file, mmap_mode="r")  # to draw some rows, only these are read
        blocks.append(da.from_delayed(block, like.shape, like.dtype))
    return da.concatenate(blocks)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of X-*.npy and y-*.npy")
    parser.add_argument("--out", type=Path, default=Path("dask_npy"), help="a new folder")
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--max-samples", type=int, default=3000, help="rows that a tree draws")
    args = parser.parse_args()
    if args.out.exists():
        parser.error(f"{args.out} exists; name another folder with --out, or delete it")
    args.out = args.out.absolute()
    if args.data is None:
        args.data = args.out / "data"
        generate(args.data)

    names = sorted(path.name.removeprefix("X-") for path in args.data.glob("X-*.npy"))
    X = lazy([args.data / f"X-{name}" for name in names])
    y = lazy([args.data / f"y-{name}" for name in names])
    print(f"{X.shape[0]} rows of {X.shape[1]} features in {len(names)} files")
    client = Client(n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0")
    local = CO2ForestRegressor(
        args.trees,
        bootstrap=True,
        max_samples=args.max_samples,
        oob_score=True,
        random_state=0,
        verbose=1,
    )
    forest = DaskForest(local, client=client).fit(X, y)
    print(f"R squared on rows that trees did not draw: {forest.oob_score_:.3f}")
    args.out.mkdir(parents=True, exist_ok=True)
    forest.save(args.out / "model.safetensors")

    # Lazy until compute: then each block goes from its file into another on one worker.
    blocks = forest.predict(X).to_delayed().ravel()
    save = dask.delayed(np.save)
    files = [args.out / f"prediction-{name}" for name in names]
    dask.compute(*map(save, files, blocks))
    print(f"the model and predictions are in {args.out}")


if __name__ == "__main__":  # processes of the cluster import this file
    main()
