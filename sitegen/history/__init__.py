"""The only package that starts git: revisions in, a timeline out.

Its modules, from the bottom up:

- ``repository_place`` finds a repository and ``process`` runs git.
- ``blobs``, ``files_at_commit``, ``revisions`` and ``patches`` each read the output of one git command.
- ``repository`` offers blobs and patches as one object.
- ``layout`` and ``globs`` determine the meaning of a path, and hold an eval's rules in a manifest.
- ``timeline`` folds revisions. ``history_fold`` handles one commit after the other, ``rules_in_force`` the files that
  evals share, ``instructions`` the instruction files, and ``eval_fold`` a single eval: its files (``folder_tree``) and
  its series (``eval_state``).
- ``worktree`` adds the uncommitted state as one more revision.
- ``cache_folder`` decides which memo is believed.
"""
