"""Wavefront OBJ: the positions and faces, without what modelling tools add for rendering."""

from itertools import pairwise
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int


def read_obj(path: Path) -> tuple[Float[np.ndarray, "points 3"], Int[np.ndarray, "triangles 3"]]:
    """Vertices (``v``) and faces (``f``); polygons are cut into fans of triangles."""
    points: list[list[float]] = []
    triangles: list[list[int]] = []
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            keyword, *words = line.split() or [""]
            if keyword == "v":
                x, y, z, *_ = words  # some tools append a colour
                points.append([float(x), float(y), float(z)])
            elif keyword == "f":
                first, *others = [_corner(word, len(points)) for word in words]
                triangles += [[first, *pair] for pair in pairwise(others)]
    return np.reshape(points, (-1, 3)), np.array(triangles, dtype=np.int64).reshape(-1, 3)


def _corner(word: str, count: int) -> int:
    """The point of ``7``, ``7/1`` or ``7/1/3``; negative numbers count from the last point."""
    number = int(word.split("/")[0])
    return count + number if number < 0 else number - 1
