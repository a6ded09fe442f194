"""Ground truth files (rules 17 and 18): one file a layout, tried in the order of ``LAYOUTS``."""

from sitegen.scoring.ground_truth.reader import read_ground_truth
from sitegen.scoring.ground_truth.truth import GroundTruth

__all__ = ["GroundTruth", "read_ground_truth"]
