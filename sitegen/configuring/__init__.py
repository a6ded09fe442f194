"""Reading ``sitegen.toml`` and the manifest: text into the frozen values of ``sitegen.config``, or an error that helps.

pydantic and yaml are imported where they are needed: a build whose configuration is known needs neither.
"""

from sitegen.configuring.evaluation import (
    evaluated_entry,
    evaluated_llm,
    evaluation_methods,
    read_named,
    significance_level,
)
from sitegen.configuring.found_evals import with_found_evals
from sitegen.configuring.found_test_cases import case_file_entry, found_evaluation
from sitegen.configuring.looked import Looked, looked_into
from sitegen.configuring.manifest import (
    overlaid,
    read_manifest,
    read_manifest_leniently,
    read_manifest_with_remarks,
)
from sitegen.configuring.site import read_site, read_site_file, site_config_bytes

__all__ = [
    "Looked",
    "case_file_entry",
    "evaluated_entry",
    "evaluated_llm",
    "evaluation_methods",
    "found_evaluation",
    "looked_into",
    "overlaid",
    "read_manifest",
    "read_manifest_leniently",
    "read_manifest_with_remarks",
    "read_named",
    "read_site",
    "read_site_file",
    "significance_level",
    "site_config_bytes",
    "with_found_evals",
]
