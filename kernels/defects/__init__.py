"""Operations with a known fault, one file each. Only ``engine/defects`` may import them, and
``kernels/audit`` where it shows that a check catches one.
"""
