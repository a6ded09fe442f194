"""Blobs are requested before they are needed, and answered as if each had been read alone."""

from sitegen.config.models import Manifest, SiteConfig
from sitegen.history.blobs import LONGEST_HELD
from sitegen.history.layout import Layout
from sitegen.history.process import share_processes
from sitegen.history.repository import Repository
from sitegen.history.timeline import advance
from tests.gitrepo import GitRepo, Link


def test_requested_blobs_have_the_same_answers_in_any_order(repo: GitRepo) -> None:
    contents = {f"{name}.txt": name * 10 for name in "abcdefghijklmnopqrstuvwxyz"}
    contents["long.txt"] = "x" * (LONGEST_HELD + 1)
    sha = repo.commit(contents)
    oids = {path: repo.oid(sha, path) for path in contents}
    requests = (("b.txt", "long.txt", "a.txt", "b.txt"), (*contents, "a.txt"), ("c.txt",), ())
    reads = ("a.txt", "z.txt", "long.txt", "b.txt", "a.txt", "y.txt")
    repository = Repository.open(repo.path)
    with share_processes():
        for requested in requests:
            repository.request(oids[path] for path in requested)
            assert [repository.read_blob(oids[path]).content for path in reads] == [
                contents[path].encode() for path in reads
            ]


def test_requests_whose_answers_nobody_reads_do_not_stop_git(repo: GitRepo) -> None:
    sha = repo.commit({"long": "x" * 300_000, "short": "y"})
    long, short = repo.oid(sha, "long"), repo.oid(sha, "short")
    repository = Repository.open(repo.path)
    with share_processes():
        for _ in range(2_000):
            repository.request([long])
        assert repository.read_blob(short).content == b"y"


def test_problems_of_commits_that_are_read_ahead_stay_in_the_order_of_the_commits(repo: GitRepo) -> None:
    repo.commit({"evals/trees/ground_truth.csv": "field,value\nname,Oak\n"})
    place = "evals/trees/results/iteration-{}/{}".format
    record = repo.commit({place("001", "extracted.json"): '{"name": "Oak"}', place("001", "metadata.json"): "no JSON"})
    link = repo.commit({place("002", "extracted.json"): Link("elsewhere")})
    repository = Repository.open(repo.path)
    layout = Layout(SiteConfig(), Manifest())
    advanced = advance(repository, layout, head=repository.resolve("HEAD"))
    assert [problem.commit for problem in advanced.problems] == [record, link]
