"""The stages of a build, which ``sitegen.build`` calls in order, and the tasks that they run in several processes.

A stage is a function of the results of earlier stages. A task and its result are frozen values that are sent between
processes; each task opens git and the templates itself (``worker_context.py``).

The modules in the order in which a build uses them:

1. The output folder: ``output_folder`` (what a build may touch there), ``writer`` (whole files, by key), ``built_site``
   (what the last build left), ``site_files`` (what this build writes).
2. Where tasks are run: ``pool`` chooses between this process, several processes and a ``cluster``.
3. History: ``timeline``.
4. Evals. ``evals`` is the stage. It makes a task for each eval, which ``eval_job`` runs: ``scorecard_store`` reads the
   scores that the memo has, and computes the others. Further tasks write the pages from these, in ``eval_pages``.
   ``sources`` finds the documents behind the outputs.
5. Edits and commits: ``instructions``; ``commits``.
6. The whole site: ``site``, with ``summary``; ``unmatched`` and ``missing_files`` find its last problems.

Pages are rendered with Jinja, which ``jinja_classes`` and ``jinja_setup`` adapt. ``own_templates`` has the sandbox for
templates of a project. ``memo`` is the SQLite file, ``cached_kinds`` declares what it keeps, and ``failures`` turns
faults of sitegen into problems.
"""
