"""The only package that knows Jinja and SVG: view models in, bytes on disk out."""
