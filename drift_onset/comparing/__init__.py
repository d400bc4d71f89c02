"""Two systems, a folder of reports, some raters, and what guessing reaches."""
