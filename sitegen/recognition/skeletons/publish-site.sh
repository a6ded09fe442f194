#!/bin/sh
# Builds the site and copies it to a web server: sh publish-site.sh ann@example.org:/var/www/evals
set -eu
target="${1:?Say where to, such as ann@example.org:/var/www/evals.}"
cd "$(dirname "$0")"
# --public stops what looks like a secret; --strict would stop any problem.
sitegen build --out site --public
rsync --archive --delete --exclude='.sitegen*' --exclude=.gitignore site/ "$target/"
