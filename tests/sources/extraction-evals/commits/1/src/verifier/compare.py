# src/verifier/compare.py
from typing import Dict, Any, List
from pydantic import ValidationError

class FieldDiscrepancy:
    def __init__(self, field_path: str, expected: Any, actual: Any, error_type: str):
        self.field_path = field_path
        self.expected = expected
        self.actual = actual
        self.error_type = error_type

def compare_fields(ground_truth: Dict, extracted: Dict, schema: type[BaseModel]) -> List[FieldDiscrepancy]:
    """Compare extracted data against ground truth, return field-level discrepancies."""
    discrepancies = []

    # Validate extracted data against schema first
    try:
        validated = schema(**extracted)
    except ValidationError as e:
        for error in e.errors():
            field_path = '.'.join(str(loc) for loc in error['loc'])
            discrepancies.append(FieldDiscrepancy(
                field_path=field_path,
                expected="valid value",
                actual=extracted.get(field_path),
                error_type="format_error"
            ))
        return discrepancies

    # Field-by-field comparison
    for field_path, expected_value in flatten_dict(ground_truth).items():
        actual_value = get_nested_value(extracted, field_path)

        if actual_value is None:
            discrepancies.append(FieldDiscrepancy(
                field_path, expected_value, None, "omission"
            ))
        elif not values_match(expected_value, actual_value):
            discrepancies.append(FieldDiscrepancy(
                field_path, expected_value, actual_value, "wrong_value"
            ))

    # Check for hallucinated fields (present in extracted but not in ground truth)
    for field_path, actual_value in flatten_dict(extracted).items():
        if field_path not in flatten_dict(ground_truth):
            discrepancies.append(FieldDiscrepancy(
                field_path, None, actual_value, "hallucination"
            ))

    return discrepancies
