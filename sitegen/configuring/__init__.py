"""Reading ``sitegen.toml`` and the manifest: text into the frozen values of ``sitegen.config``, or an error that helps.

pydantic and yaml are imported where they are needed: a build whose configuration is known needs neither.
"""

from sitegen.configuring.found_evals import with_found_evals
from sitegen.configuring.looked import Looked, looked_into
from sitegen.configuring.manifest import (
    overlaid,
    read_entry,
    read_manifest,
    read_manifest_leniently,
    read_manifest_with_remarks,
)
from sitegen.configuring.site import read_site, read_site_file, site_config_bytes

__all__ = [
    "Looked",
    "looked_into",
    "overlaid",
    "read_entry",
    "read_manifest",
    "read_manifest_leniently",
    "read_manifest_with_remarks",
    "read_site",
    "read_site_file",
    "site_config_bytes",
    "with_found_evals",
]
