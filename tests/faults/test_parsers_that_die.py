"""Files that end or starve the library that reads them: each is a finding, and everything else is read."""

import json
import os
import signal
from base64 import b85decode
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile, ZipInfo
from zlib import decompress

import pytest

from sitegen.data_files.reading import UnreadableError
from sitegen.importers import inspect_archive, parquet
from sitegen.model.problems import Finding
from tests.gitrepo import GitRepo
from tests.sites import build_site, problems_text

DEADLY = decompress(
    b85decode(
        b"c-n1~-)a*<6vod?mT8cnO>veP2og%OR7|U_q(q6}*|bTD5tCq4yxYblsisYuL|gL!;-y#Om5<?5cqjNE-gxVo+0CC)huyQoneY3Z"
        b"vxnUVwsxc=Z^`w#6cW||ZWI{+1STAr(2*c-N|mSMRk}rH4>nmxu^^qM(`y@?qF_9+0srG%nDEhrDRI`NmzT*Ihi|f}Vi%T^er!02"
        b"WWvP1U~wR?%QaIMtX?su7`WszPwQGy)|Ft=(ftA_G4AxjlRyfPsT^1AEC=-rDGFRUlb}16T#9<hBpl`RkH-_qBjrli4^P6=NvxMZ"
        b"IX-v?uFx4>@*pEqx&UHT6H{_mxSyH(g?SY(xjYV?rxAc*0=*-L64{0JKoD|?QMA3-`m?&kOuAp0`<;2enfHw?59bQ?HZcX)72tC+"
        b"=$rs;TDILicVBrwc<IW-G$}30GPpx-_YWDor28pBrz(Z5*0YxnqcN(V{H|SSRuiN31o0gGE>;k`Snk@K?;}1nn=;~|O)Q=m9hKW="
        b"SD&NGhcVgrdp6l#=rKki9_@}1Yi~(;XFSvI`?i(NLVs}CUu*SV-?#1HutBB=#$PnLidFjExe4d}_`^5V7n7*nsnIu)>QEC^Q))kk"
        b"&rQv?ZK8T<H1W1}5c8YM@AC*$b{LG#-iMQ|&TzODj7Ed=?1ykPJ|3KAclWmMZSUw3eSOgdzv$C$(BJtF?pLN@"
    )
)
"""A table of 930 bytes whose footer has one wrong byte: pyarrow 26 calls std::terminate."""


def table() -> bytes:
    from pyarrow import table
    from pyarrow.parquet import write_table

    buffer = BytesIO()
    write_table(table({"q": ["a", "b"], "ok": [True, False]}), buffer)
    return buffer.getvalue()


def refused(content: bytes) -> str:
    with pytest.raises(UnreadableError) as error:
        parquet.read_parquet(content)
    return error.value.message


def test_a_table_that_ends_its_reader_is_a_finding_and_the_next_one_is_read() -> None:
    assert "pyarrow does not survive it" in refused(DEADLY) or "not a valid Parquet file" in refused(DEADLY)
    assert parquet.read_parquet(table()) == [{"q": "a", "ok": True}, {"q": "b", "ok": False}]


def test_a_reader_that_is_killed_or_silent_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    parquet.read_parquet(table())
    os.kill(parquet._process_of(os.getpid())._process.pid, signal.SIGKILL)
    assert "pyarrow does not survive it" in refused(table())
    parquet.read_parquet(table())
    os.kill(parquet._process_of(os.getpid())._process.pid, signal.SIGSTOP)
    monkeypatch.setattr(parquet, "PATIENCE", 0.5)
    assert "takes longer than 0.5 s" in refused(table())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_build_with_a_deadly_table_ends_well(tmp_path: Path, jobs: int) -> None:
    repo = GitRepo(tmp_path / "project")
    columns = "{id: q, passed: ok}"
    manifest = f"evals:\n  q: {{kind: judged, outputs: results.parquet, settings: {{columns: {columns}}}}}\n"
    repo.commit({"evals/manifest.yaml": manifest, "evals/q/results.parquet": table()})
    repo.commit({"evals/q/results.parquet": DEADLY})
    repo.commit({"evals/q/results.parquet": table()})
    build_site(repo.path, tmp_path / "site", jobs=jobs)
    points = json.loads((tmp_path / "site/data/evals/q.json").read_bytes())["points"]
    assert [point["status"] for point in points] == ["scored", "unreadable", "scored"]
    assert "evals/q/results.parquet" in problems_text(tmp_path / "site")


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
