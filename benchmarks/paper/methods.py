"""Forests by the names that the configuration gives them."""

import importlib

from paper import cells


def make(config, method, seed, threads, **parameters):
    settings = config["methods"][method]
    module, _, name = settings["class"].rpartition(".")
    kind = getattr(importlib.import_module(module), name)
    fixed = settings.get("parameters", {})
    return kind(**fixed | parameters, random_state=seed, n_jobs=threads)


def source_of_selection(config, method):
    """The method whose selection cell holds the parameters, or None."""
    selection = config["methods"][method]["selection"]
    way = selection["way"]
    return {"none": None, "same_as": selection.get("method")}.get(way, method)


def selected_parameters(config, folder, cell):
    """What was chosen for a forest cell; None if the selection is still to be made."""
    source = source_of_selection(config, cell.method)
    if source is None:
        return {}
    return cells.selected(folder, cell.set, source, cell.seed)
