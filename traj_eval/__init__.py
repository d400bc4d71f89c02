"""Metrics over the denoising trajectory of diffusion language models."""
