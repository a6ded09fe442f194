"""Files that end or starve the library that reads them: each is a finding, and everything else is read."""

import json
from io import BytesIO
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile, ZipInfo

import pytest

from sitegen.data_files.reading import UnreadableError
from sitegen.importers import inspect_archive
from sitegen.model.problems import Finding


def archive(samples: int, method: int = ZIP_DEFLATED) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w", method) as file:
        file.writestr("header.json", '{"status": "success"}')
        for number in range(samples):
            file.writestr(f"samples/{number}_epoch_1.json", json.dumps({"id": number, "epoch": 1}))
    return buffer.getvalue()


def test_every_file_of_an_archive_is_read() -> None:
    findings: list[Finding] = []
    assert len(list(inspect_archive.unpacked(archive(200), findings)[1])) == 200
    assert findings == []


@pytest.mark.parametrize("method", [ZIP_LZMA, ZIP_BZIP2])
def test_an_archive_is_not_unpacked_by_methods_that_take_any_memory(method: int) -> None:
    with pytest.raises(UnreadableError, match="cannot be unpacked"):
        inspect_archive.unpacked(archive(1, method), [])


def test_an_archive_whose_files_share_their_bytes_is_damaged() -> None:
    buffer = BytesIO(archive(1))
    with ZipFile(buffer, "a") as file:
        shared = file.getinfo("samples/0_epoch_1.json")
        for number in range(1, 50):
            same = ZipInfo(f"samples/{number}_epoch_1.json")
            same.header_offset, same.compress_size, same.CRC = shared.header_offset, 10_000, shared.CRC
            file.filelist.append(same)
            file.NameToInfo[same.filename] = same
        file._didModify = True  # type: ignore[attr-defined]
    with pytest.raises(UnreadableError, match="damaged"):
        inspect_archive.unpacked(buffer.getvalue(), [])
