"""Replaces pictures of source pages by a small one, so that the site fits before any report has to be shortened.

A picture keeps its address, so no page is rendered again. It is read from git again when there is room.
"""

from __future__ import annotations

from binascii import a2b_base64
from posixpath import basename, splitext
from typing import Final

from sitegen.pages.links import is_source_picture
from sitegen.render.writer import WrittenFiles
from sitegen.stages.eval_task import owner
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.size_budget.thinning import room_key
from sitegen.stages.timeline import Timeline

LEFT_OUT: Final = a2b_base64(
    "iVBORw0KGgoAAAANSUhEUgAAAOgAAAAwAQAAAAAzvwuXAAABXUlEQVR42u2TvUvDUBTFf+8l1oCiqVOFQiN+LC4ZFMRB0kUEoW4u"
    "KtrFUepiC35FKuKgTu72Lyi6dbODiyDq6Gasgg4OKQjiR1qXahNBJ0EHz3Y43HPvO+9e+MdvQASYBGBZ1qgmLDRLDaq7le/8wqVU"
    "Zv56/fhUu706mrxVd6IZAGom+xevibiRSItes9SVXMuGT3zO2BFyykoliwMgWqL+vlAg58WzaXSAarkUVE2KWJchdLBByE9q3/Th"
    "UHlDOY/tqbHV5ee+4NiWNAI0UAvV3B/7NmkhDOSILgxp0YZaG/k9Z6pQwRUO4NbLVICGAVPI8HB3V352dKld7zjbHu+/+Xjvy33k"
    "4qCoTdkznjHhLTZ7xeSCLw0nFVFWeK0CirQHeGoM+ftuFpriYwA8vth5eJrzJ6mZWA4AIQUV2Kqrgjuzdcg1wKanUzwog7Et68ut"
    "ddVv49H+D/uH8QZK3FcK+z9r4wAAAABJRU5ErkJggg=="
)
"""A PNG with the words "This page was left out to keep the site within limits.site_bytes"."""


def replace_pictures(timeline: Timeline, site_files: SiteFiles, eval_id: str, *, in_full: bool) -> None:
    """Write every picture of an eval with its own content, or if not ``in_full`` with ``LEFT_OUT``."""
    context, rows = timeline.context_for(eval_id), []
    repository, writer = context.open(), context.writer()
    for row in site_files.present_files(owner(eval_id)):
        if not is_source_picture(row.path) or bool(row.full) != in_full:
            rows.append(row)
        elif in_full:
            oid = splitext(basename(row.path))[0]
            writer.write(row.owner, row.path, repository.read_blob(oid).content or LEFT_OUT, oid)
        else:
            writer.write(row.owner, row.path, LEFT_OUT, room_key(row.key), full=row.size)
    site_files.replace(owner(eval_id), WrittenFiles((*rows, *writer.rows), writer.written))
