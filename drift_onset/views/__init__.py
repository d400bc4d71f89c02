"""Results as people see them: tables for the terminal, Markdown, HTML pages and plots.

A result is laid out once, as sheets; what shows sheets knows nothing of the result.
"""
