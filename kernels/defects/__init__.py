"""Operations with a known fault, one file each. Only ``engine/defects`` may import them."""
