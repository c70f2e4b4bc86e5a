"""The report: tables and figures from the stored cells."""


def write(config, results, documents, formats):
    """Write all that the stored cells allow."""
