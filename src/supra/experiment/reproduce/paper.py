"""The paper's numbers: relative L2 errors in per cent."""

from math import nan

PROBLEMS = ("darcy", "navier_stokes", "plasticity", "airfoil", "pipe")

# Table 1, by problem.
ACCURACY: dict[str, dict[str, float]] = {
    "darcy": {"galerkin": 0.84, "gnot": 1.05, "transolver": 0.50, "lno": 0.49, "supra": 0.43},
    "navier_stokes": {
        "galerkin": 14.0, "gnot": 13.8, "transolver": 7.83, "lno": 8.45, "supra": 6.25,
    },
    "plasticity": {"galerkin": 1.20, "gnot": 3.36, "transolver": 0.08, "lno": 0.29, "supra": 0.04},
    "airfoil": {"galerkin": 1.18, "gnot": 0.76, "transolver": 0.43, "lno": 0.51, "supra": 0.34},
    "pipe": {"galerkin": 0.98, "gnot": 0.47, "transolver": 0.32, "lno": 0.26, "supra": 0.31},
}  # fmt: skip

# By problem and family: number of basis functions -> error.
BASIS_NUMBER: dict[tuple[str, str], dict[int, float]] = {
    ("navier_stokes", "fourier"): {64: 6.86, 144: 6.32, 256: 6.50},
    ("darcy", "fourier"): {64: 0.433, 100: 0.436, 144: 0.466},
    ("darcy", "chebyshev"): {64: 0.432, 100: 0.449, 144: 0.454},
    ("plasticity", "fourier"): {64: 0.062, 100: 0.056, 144: 0.044},
    ("airfoil", "laplacian"): {64: 0.446, 128: 0.340, 192: 0.342},
}

BASIS_CHOICE: dict[str, dict[str, float]] = {
    "navier_stokes": {"fourier": 6.32, "chebyshev": 6.60},
    "darcy": {"fourier": 0.466, "chebyshev": 0.454},
    "plasticity": {"fourier": 0.044, "chebyshev": 0.049},
}

# (train, test)
AIRFOIL_BASIS: dict[str, tuple[float, float]] = {
    "laplacian": (0.074, 0.340),
    "fourier": (0.093, 0.458),
}

# Not a number: the training blew up.
NORMALIZATION: dict[str, dict[str, float]] = {
    "navier_stokes": {"layer": 6.92, "instance": 6.50, "none": nan},
    "airfoil": {"layer": 0.340, "instance": 0.350, "none": nan},
    "darcy": {"layer": 0.433, "instance": 0.463, "none": 0.479},
    "plasticity": {"layer": 0.046, "instance": 0.044, "none": nan},
}

LAYERS: dict[str, dict[int, float]] = {
    "navier_stokes": {4: 6.89, 6: 6.25, 8: 6.32},
    "airfoil": {4: 0.510, 6: 0.340, 8: 0.340},
    "darcy": {4: 0.512, 6: 0.471, 8: 0.432},
}

WIDTHS: dict[str, dict[int, float]] = {
    "navier_stokes": {64: 11.1, 128: 7.99, 196: 6.58},
    "airfoil": {32: 0.484, 64: 0.340, 96: 0.371},
    "darcy": {64: 0.488, 128: 0.432, 196: 0.432},
}
