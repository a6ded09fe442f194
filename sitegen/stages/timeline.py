"""First stage: the configuration, and the history folded up to the commit that is built."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sitegen import __version__
from sitegen.analysis.memo import Memo
from sitegen.config import Engine, Manifest, SiteConfig
from sitegen.configuring import read_manifest, read_site
from sitegen.history.files import content_at
from sitegen.history.globs import compiled
from sitegen.history.repository import Repository
from sitegen.history.state import Store
from sitegen.history.timeline import advance
from sitegen.model.commits import Commit
from sitegen.model.problems import Problem
from sitegen.model.series import EvalInfo
from sitegen.model.site import SiteInfo
from sitegen.model.timeline import InstructionHistory, Update
from sitegen.project import Project
from sitegen.render.environment import find_templates
from sitegen.render.writer import digest
from sitegen.stages.workshop import Workshop


class Timeline(NamedTuple):
    """What is known after the walk."""

    project: Project
    config: SiteConfig
    manifest: Manifest
    shop: Workshop
    update: Update
    head: Commit
    commits: int
    instructions: tuple[InstructionHistory, ...]
    """All of them, by path."""
    problems: tuple[Problem, ...]
    """Of history."""

    @property
    def engine(self) -> Engine:
        """How the work is spread; the command line wins over the configuration."""
        jobs = self.project.options.jobs
        return replace(self.config.engine, jobs=jobs) if jobs else self.config.engine

    @property
    def new_snapshots(self) -> int:
        """Snapshots that the previous build did not have: the work of scoring."""
        return sum(len(one.history.snapshots) - one.first_new for one in self.update.evals)

    @property
    def new_edits(self) -> int:
        """Edits by the new commits."""
        return sum(len(record.edits) for record in self.update.records)

    def info(self, eval_id: str) -> EvalInfo:
        """What the manifest says of an eval for readers."""
        entry = self.manifest.entry(eval_id)
        return EvalInfo(
            id=eval_id,
            name=entry.name or eval_id,
            description=entry.description,
            kind=entry.kind,
            thresholds=entry.thresholds,
            metadata=entry.metadata,
        )

    def drivers(self, eval_id: str) -> tuple[InstructionHistory, ...]:
        """The instruction files that drive an eval: those that its globs name by any path they ever had."""
        globs = self.manifest.entry(eval_id).instructions
        if not globs:
            return self.instructions
        pattern = compiled(globs)
        return tuple(file for file in self.instructions if any(pattern.fullmatch(edit.path) for edit in file.edits))


def read_timeline(project: Project, memo: Memo, *, trusted_head: str | None) -> Timeline:
    """Read the configuration and bring the folded history to the commit that is built.

    ``trusted_head`` is the commit that the output folder shows. If the memo's fold stands elsewhere, what it calls new
    is not what is new to the folder, so the fold starts from the root.
    """
    options, root = project.options, None if project.place.bare else project.place.root
    repository = Repository.open(project.place.root)
    head = repository.resolve(project.revision)
    config = read_site(root, read=lambda path: content_at(repository, head, path))
    repository = Repository.open(project.place.root, max_blob_bytes=config.limits.max_blob_bytes)
    manifest = _manifest(repository, head, config)
    if memo.get("build", "head") != (trusted_head or "").encode():
        Store(memo).clear()
    advanced = advance(
        repository,
        config,
        memo,
        head=head,
        manifest=manifest,
        structure=digest(repr((config, manifest))),
        allow_shallow=options.allow_shallow,
    )
    memo.put("build", "head", head.encode())
    instructions = Store(memo).instructions()
    return Timeline(
        project=project,
        config=config,
        manifest=manifest,
        shop=_workshop(project, repository, config),
        update=advanced.update,
        head=advanced.head,
        commits=advanced.commits,
        instructions=tuple(instructions),
        problems=advanced.problems,
    )


def _manifest(repository: Repository, head: str, config: SiteConfig) -> Manifest:
    path = f"{config.evals_dir}/manifest.yaml"
    content = content_at(repository, head, path)
    return read_manifest(content, path, config.evals_dir) if content is not None else Manifest()


def _workshop(project: Project, repository: Repository, config: SiteConfig) -> Workshop:
    url = config.repository_url or repository.origin_url()
    site = SiteInfo(
        title=config.title or (url.rpartition("/")[2] if url else repository.name),
        version=__version__,
        repository_url=url,
        base_url=config.base_url,
        shallow=bool(repository.shallow_boundary),
    )
    return Workshop(
        repository=project.place.root,
        max_blob_bytes=config.limits.max_blob_bytes,
        site=site,
        template_folders=(find_templates(),),
        overlay=(),
        templates=digest(project.templates, repr(site)),
        bytecode=project.cache / "templates",
        out=project.out,
        discrepancies_per_type=config.limits.discrepancies_per_type,
    )
