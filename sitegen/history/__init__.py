"""The only package that touches git: revisions in, a timeline out.

Its modules, from the bottom up:

- ``repository_place`` finds a repository and ``process`` runs git; ``blobs``, ``files_at_commit``, ``revisions``,
  ``patches`` and ``index`` each read what one of its commands prints; ``repository`` is all of that as one object.
- ``layout`` and ``globs`` say what a path means; ``renames`` which deletion and which addition are one move.
- ``timeline`` folds revisions. ``history_fold`` takes one commit after the other, ``rules_in_force`` what evals share,
  ``instructions`` the instruction files, ``eval_fold`` one eval: its files (``folder_tree``), its iterations
  (``iterations``, ``case_sides``) and what these start (``snapshots``). ``fold_state`` is kept for the next time.
- ``worktree`` adds the uncommitted state as one more revision; ``cache_folder`` says which memo may be believed.
"""
