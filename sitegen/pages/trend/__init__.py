"""The trend page of an eval: its iterations, and what changed between them."""
