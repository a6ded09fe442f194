"""Kind ``judged``: the results of an external judge, which sitegen sums up and does not judge again."""
