"""The only package that starts git: revisions in, a timeline out.

Its modules, from the bottom up:

- ``repository_place`` finds a repository and ``process`` runs git.
- ``revisions``, ``repository`` (blobs) and ``patches`` each read the output of one git command, ``files_at_commit``
  what is at a path.
- ``layout`` and ``globs`` determine the meaning of a path, and hold an eval's rules in a manifest.
- ``timeline`` folds revisions. ``fold`` handles one commit after the other, and ``eval_fold`` each eval in it, with its
  files (``folder_tree``) and its series (``eval_state``). ``rules_in_force`` handles the files that evals share, and
  ``instructions`` the instruction files.
- ``worktree`` adds the uncommitted state as one more revision.
- ``cache_folder`` decides which memo is believed.
"""
