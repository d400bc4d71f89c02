"""Tools that more than one instrument needs: strict JSON, atomic files, problems, resampling.

Importing any of it costs numpy and the standard library at most.
"""

__version__ = "0.2.0"
