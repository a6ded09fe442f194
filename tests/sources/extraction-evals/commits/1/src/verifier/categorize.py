# src/verifier/categorize.py
def categorize_error(discrepancy: FieldDiscrepancy, schema: type[BaseModel]) -> str:
    """Categorize error type for improvement loop."""
    if discrepancy.expected is None and discrepancy.actual is not None:
        return "hallucination"

    if discrepancy.actual is None and discrepancy.expected is not None:
        return "omission"

    # Check if type mismatch
    expected_type = get_field_type(schema, discrepancy.field_path)
    actual_type = type(discrepancy.actual)
    if expected_type != actual_type:
        return "format_error"

    # Value mismatch with correct type
    return "wrong_value"
