"""Tools that more than one instrument needs: strict JSON, atomic files, problem records.

Importing it costs the standard library alone.
"""

__version__ = "0.2.0"
