"""The report: tables and figures from the stored cells."""

import csv
import io

import store
from paper import cells, drawings, measured, tables


def write(config, results, documents, formats):
    """Write all that the stored cells allow."""
    documents.mkdir(parents=True, exist_ok=True)
    curves = measured.curves(results)
    if curves:
        write_text(documents / "table1.md", tables.markdown(config, curves))
        write_csv(documents / "table1.csv", tables.TABLE_FIELDS, tables.table_rows(config, curves))
        orderings = tables.ordering_rows(config, curves)
        write_csv(documents / "orderings.csv", tables.ORDERING_FIELDS, orderings)
        drawings.save(drawings.figure2(config, curves), documents, "figure2", formats)
    depth, nu = cells.read(results, "depth"), cells.read(results, "nu")
    if depth:
        drawings.save(drawings.figure1(depth), documents, "figure1", formats)
    if nu:
        drawings.save(drawings.nu_study(config, nu), documents, "nu_study", formats)
    print(f"wrote the report to {documents}")


def write_csv(path, fields, rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(store.rounded(row) for row in rows)
    write_text(path, text.getvalue())


def write_text(path, text):
    """Replace a file as a whole."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text)
    temporary.replace(path)
