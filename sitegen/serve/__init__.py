"""``sitegen watch``: a site that follows the work tree, and the local server that shows it."""
