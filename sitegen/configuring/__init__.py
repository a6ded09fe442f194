"""Reads ``sitegen.toml`` and the manifest into the frozen values of ``sitegen.config``, or raises a helpful error.

pydantic and yaml are imported only where they are needed: a build whose configuration the memo holds needs neither.
"""

from sitegen.configuring.evaluation import (
    evaluated_entry,
    evaluated_llm,
    evaluation_methods,
    project_evaluation,
    read_named,
    significance_level,
)
from sitegen.configuring.finders.case_files import case_file_entry
from sitegen.configuring.finders.searched_files import SearchedFiles, work_tree_files
from sitegen.configuring.found_evals import with_found_evals
from sitegen.configuring.manifest import (
    overlaid,
    read_manifest,
    read_manifest_leniently,
    read_manifest_with_remarks,
)
from sitegen.configuring.site import read_site, read_site_file, site_config_bytes

__all__ = [
    "SearchedFiles",
    "case_file_entry",
    "evaluated_entry",
    "evaluated_llm",
    "evaluation_methods",
    "overlaid",
    "project_evaluation",
    "read_manifest",
    "read_manifest_leniently",
    "read_manifest_with_remarks",
    "read_named",
    "read_site",
    "read_site_file",
    "significance_level",
    "site_config_bytes",
    "with_found_evals",
    "work_tree_files",
]
