"""The views of pages and how they are made, rows and charts that are written without Jinja, and all addresses."""
