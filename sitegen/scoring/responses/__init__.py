"""Kind ``responses``: the responses of prompts to test cases (rules 29 to 32).

``files`` reads the test cases, and the responses of every variant as judged cases. ``measures`` judges them and
computes the metrics, ``scorer`` builds the result with its details for reports, and ``document`` writes it for other
programs.
"""
