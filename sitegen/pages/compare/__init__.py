"""The compare page: any two iterations of an eval side by side."""
