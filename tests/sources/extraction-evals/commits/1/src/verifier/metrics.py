# src/verifier/metrics.py
from typing import Dict, List

def compute_field_level_metrics(discrepancies: List[FieldDiscrepancy], total_fields_gt: int, total_fields_extracted: int) -> Dict[str, float]:
    """
    Compute precision, recall, F1 at field level.

    Each field is a binary classification:
    - True Positive (TP): field present in both, values match
    - False Positive (FP): field in extracted but wrong/hallucinated
    - False Negative (FN): field in ground truth but omitted
    """
    # Count error types
    omissions = sum(1 for d in discrepancies if d.error_type == "omission")
    hallucinations = sum(1 for d in discrepancies if d.error_type == "hallucination")
    wrong_values = sum(1 for d in discrepancies if d.error_type in ["wrong_value", "format_error"])

    # True positives: fields in ground truth that were correctly extracted
    true_positives = total_fields_gt - omissions - wrong_values

    # False positives: hallucinations + wrong values
    false_positives = hallucinations + wrong_values

    # False negatives: omissions
    false_negatives = omissions

    # Compute metrics with zero-division handling
    precision = true_positives / (true_positives + false_positives) if (true_positives + false_positives) > 0 else 0
    recall = true_positives / (true_positives + false_negatives) if (true_positives + false_negatives) > 0 else 0
    f1 = 2 * (precision * recall) / (precision + recall) if (precision + recall) > 0 else 0

    return {
        'precision': precision,
        'recall': recall,
        'f1': f1,
        'true_positives': true_positives,
        'false_positives': false_positives,
        'false_negatives': false_negatives,
        'total_fields': total_fields_gt,
        'correct_fields': true_positives
    }
