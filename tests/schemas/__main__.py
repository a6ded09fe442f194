"""``python -m tests.schemas`` rewrites the schemas; ``git diff`` shows what changed."""

from tests.schemas.forms import FOLDER, generated

for name, body in generated().items():
    (FOLDER / name).write_bytes(body)
    print(f"{len(body):>7,} bytes {name}")
