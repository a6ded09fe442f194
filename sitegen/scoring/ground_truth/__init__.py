"""Ground truth files (rules 17 and 18). Each layout of CSV files has a module; ``reader.LAYOUTS`` lists them."""

from sitegen.scoring.ground_truth.reader import read_ground_truth
from sitegen.scoring.ground_truth.truth import GroundTruth

__all__ = ["GroundTruth", "read_ground_truth"]
