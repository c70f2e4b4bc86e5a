"""Looking inside of forests: trees, weights, importances, and why a row got its answer."""
