"""The comparison of what two sites say."""

from pathlib import Path

from tests.site_texts import differences

PAGE = "<main><style>p {{}}</style><h1>Receipts</h1><p{attributes}>F1 <b>{value}</b></p></main>"


def test_a_number_that_changed_is_listed_and_markup_is_not(tmp_path: Path) -> None:
    pages = [PAGE.format(attributes="", value="0.5"), PAGE.format(attributes=" class=n", value="0.5")]
    pages.append(PAGE.format(attributes="", value="0.6"))
    sites = [tmp_path / name for name in ("before", "same", "other")]
    for site, page in zip(sites, pages, strict=True):
        site.mkdir()
        (site / "index.html").write_text(page)
    (sites[2] / "data.json").write_text('{"f1": 0.6}')
    assert list(differences(sites[0], sites[1])) == []
    found = list(differences(sites[0], sites[2]))
    assert [line for line in found if "F1" in line] == ["-F1 0.5", "+F1 0.6"]
    assert "+++ after/data.json" in found
