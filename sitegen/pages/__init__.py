"""View models and the url scheme: one file a page, no HTML."""
