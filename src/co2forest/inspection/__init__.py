"""Looking inside of forests: trees, weights, importances, and why a row got its answer."""

from co2forest.inspection._explain import Explanation, explain

__all__ = ["Explanation", "explain"]
