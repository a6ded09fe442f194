"""Blobs are requested before they are needed, and answered as if each had been read alone."""

from collections.abc import Iterable, Iterator

from sitegen.config.models import Manifest, SiteConfig
from sitegen.history.blobs import BlobRead
from sitegen.history.layout import Layout
from sitegen.history.repository import LONGEST_HELD, MOST, ReadAhead, Repository
from sitegen.history.timeline import advance
from tests.gitrepo import GitRepo, Link


class CountingRepository(Repository):
    """Answers each id with itself, and holds what was asked for at once."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def read_blobs(self, oids: Iterable[str]) -> Iterator[BlobRead]:
        several = tuple(oids)
        self.asked.append(several)
        return (BlobRead(oid, oid.encode()) for oid in several)


def test_requested_blobs_are_read_together_in_any_order_and_others_alone() -> None:
    repository = CountingRepository()
    ahead = ReadAhead(repository)
    ahead.request(["a", "b", "a", "c"])
    assert [ahead.read(oid).content for oid in ("b", "x", "a", "b", "c")] == [b"b", b"x", b"a", b"b", b"c"]
    assert repository.asked == [("a", "b", "c"), ("x",)]


def test_a_new_request_drops_the_answers_to_the_one_before() -> None:
    repository = CountingRepository()
    ahead = ReadAhead(repository)
    ahead.request(["a", "b"])
    assert ahead.read("b").content == b"b"
    ahead.request(["c"])
    assert [ahead.read(oid).content for oid in ("a", "c")] == [b"a", b"c"]
    assert repository.asked == [("a", "b"), ("c",), ("a",)]


def test_no_more_blobs_are_held_than_the_limit() -> None:
    repository = CountingRepository()
    ahead = ReadAhead(repository)
    ahead.request(str(number) for number in range(MOST + 2))
    assert ahead.read(str(MOST)).content == str(MOST).encode()
    assert [len(asked) for asked in repository.asked] == [MOST, 1]


def test_long_contents_are_not_held_but_read_again() -> None:
    repository = CountingRepository()
    ahead = ReadAhead(repository)
    held, long, longer = ("a" * (LONGEST_HELD + more) for more in (0, 1, 2))
    ahead.request([held, long, longer])
    assert [ahead.read(oid).content for oid in (longer, held, long)] == [longer.encode(), held.encode(), long.encode()]
    assert repository.asked == [(held, long, longer), (long,)]


def test_problems_of_commits_that_are_read_ahead_stay_in_the_order_of_the_commits(repo: GitRepo) -> None:
    repo.commit({"evals/trees/ground_truth.csv": "field,value\nname,Oak\n"})
    place = "evals/trees/results/iteration-{}/{}".format
    record = repo.commit({place("001", "extracted.json"): '{"name": "Oak"}', place("001", "metadata.json"): "no JSON"})
    link = repo.commit({place("002", "extracted.json"): Link("elsewhere")})
    repository = Repository.open(repo.path)
    layout = Layout(SiteConfig(), Manifest())
    advanced = advance(repository, layout, head=repository.resolve("HEAD"))
    assert [problem.commit for problem in advanced.problems] == [record, link]
