"""The only package that touches git: revisions in, a timeline out."""
