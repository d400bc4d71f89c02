"""Tools that more than one instrument needs: strict JSON, atomic files, problems, resampling.

Importing any of it costs numpy and the standard library at most.
"""

__version__ = "0.2.0"
CITATION = """\
@misc{caplan2026reasoningdrift,
  author = {Caplan, M.},
  title = {Reasoning Drift Onset Detection v0.2},
  year = {2026},
  publisher = {Clarus Invariant / SIOS},
  note = {Dataset}
}
"""
