"""Files for programs: series, results, the search index, the feed, badges, the summary."""
