"""Running models on the benchmark with inspect-ai and lm-evaluation-harness.

`inspect_task.py` is a task of inspect-ai, `lm_eval/` a task folder of lm-evaluation-harness. Both
ask with `drift_onset.prompt`, read with `drift_onset.answers` and score with `scoring`.
"""
