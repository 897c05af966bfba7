"""Kernels on a GPU, measured: at production's sizes, beside torch and the floor of their bytes.

Rule: what is compared was timed in one run on one device, with nothing else running.
"""
