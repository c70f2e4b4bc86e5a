# SPDX-License-Identifier: BSD-3-Clause
"""From Parquet files to Parquet files: train and predict on a Dask cluster.

    python examples/dask_parquet.py
    python examples/dask_parquet.py --data FOLDER --target COLUMN --out ANOTHER_FOLDER

Without --data, the program first writes eight files, sorted by their label. Four fifths of the rows
train a forest, and the others are predicted. --out is a new folder, which gets

    model.safetensors    for co2forest.load_model, which needs no Dask
    predictions/         a Parquet file for each file of the data
    data/                the generated files

No process ever holds more than a few partitions and the rows of the trees that it grows.

Needs co2forest[dask] and pyarrow.
"""

import argparse
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from co2forest import CO2ForestClassifier
from co2forest.dask import DaskForest

N_FILES, N_ROWS, N_FEATURES = 8, 1500, 10


def generate(folder):
    """Write files with the labels "low", "medium" and "high"; most files have only one of them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N_FILES * N_ROWS, N_FEATURES)).astype(np.float32)
    score = X[:, 0] - X[:, 1] + 0.5 * X[:, 2]
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(N_FEATURES)])
    frame["label"] = np.array(["low", "medium", "high"])[np.digitize(score, [-0.7, 0.7])]
    frame = frame.iloc[np.argsort(score)]
    folder.mkdir(parents=True)
    for i in range(N_FILES):
        part = frame.iloc[i * N_ROWS : (i + 1) * N_ROWS]
        part.to_parquet(folder / f"part-{i:03d}.parquet", index=False)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of Parquet files, which all workers see")
    parser.add_argument(
        "--target", default="label", help="column to predict; all others must be numbers"
    )
    parser.add_argument("--out", type=Path, default=Path("dask_parquet"), help="a new folder")
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--max-samples", type=int, default=4000, help="rows that a tree draws")
    parser.add_argument("--scheduler", help="address of a cluster; default: starts one here")
    parser.add_argument("--workers", type=int, default=2, help="processes of the cluster here")
    parser.add_argument("--memory", default="1GB", help="of each of them")
    args = parser.parse_args()
    if args.out.exists():
        parser.error(f"{args.out} exists; name another folder with --out, or delete it")
    args.out = args.out.absolute()  # workers may be elsewhere
    args.data = args.data.absolute() if args.data else None
    return args


def train_and_predict(args, client):
    frame = dd.read_parquet(args.data)
    train, new = frame.random_split([0.8, 0.2], random_state=0)
    print(f"{frame.npartitions} partitions in {args.data}")

    local = CO2ForestClassifier(
        args.trees, bootstrap=True, max_samples=args.max_samples, random_state=0, verbose=1
    )
    forest = DaskForest(local, client=client)
    forest.fit(train.drop(columns=args.target), train[args.target])

    args.out.mkdir(parents=True, exist_ok=True)
    forest.save(args.out / "model.safetensors")
    print(f"the model is in {args.out / 'model.safetensors'}")

    # Nothing is predicted before to_parquet asks for it, one partition at a time.
    rows = new.drop(columns=args.target)
    probabilities = forest.predict_proba(rows)
    result = new[[args.target]].assign(
        prediction=forest.predict(rows), confidence=probabilities.max(axis=1)
    )
    result.to_parquet(args.out / "predictions")
    print(f"predictions are in {args.out / 'predictions'}")

    stored = dd.read_parquet(args.out / "predictions")
    right = (stored[args.target] == stored.prediction).mean().compute()
    print(f"{100 * right:.1f} % of {len(stored)} new rows are right")


def main():
    args = parse_arguments()
    if args.data is None:
        args.data = args.out / "data"
        generate(args.data)
    cluster = args.scheduler or LocalCluster(
        n_workers=args.workers,
        threads_per_worker=1,
        memory_limit=args.memory,
        dashboard_address=":0",
    )
    train_and_predict(args, Client(cluster))


if __name__ == "__main__":  # processes of the cluster import this file
    main()
