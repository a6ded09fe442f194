"""A small eval, ``names``: two documents, of which the first has a total that may be wrong."""

TRUTH = "id,name,total\na,Ann,1\nb,Bob,2\n"
MAPPING = "csv_to_json: {name: name, total: total}\ndocuments: {path: docs, key: id}\n"


def output(total: int) -> str:
    """An output whose first document has this total."""
    return f'{{"docs": [{{"id": "a", "name": "Ann", "total": {total}}}, {{"id": "b", "name": "Bob", "total": 2}}]}}'
