"""SVG drawn on the server, in data coordinates."""
