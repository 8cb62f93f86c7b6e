"""Confidence that holds: how the nets' own probabilities become ones that come true, by writers kept for this."""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from recognize.digits import Odds
from recognize.training.characters import Array


def calibrate_numbers(tops: Array, right: Array) -> dict[str, float]:
    """`Odds` for the likeliest text, by likelihood, and the most that may be claimed.

    `tops` are natural logs of the net's probability of its own answer, `right` whether the answer was right. The
    most ever claimed is one error in as many fields as there were to learn it from.
    """
    tops = np.minimum(tops, -1e-12)
    most = 1 - 1 / (len(right) + 2)

    def cost(at: Array) -> float:
        claimed = np.clip(Odds(at[0], at[1], at[2], most)(tops), 1e-9, most)
        likelihood = np.mean(np.where(right, np.log(claimed), np.log1p(-claimed)))
        # With next to no errors to learn from the net's own odds are kept, somewhat flattened.
        unusual = (at[0] - 0.8) ** 2 + 0.1 * at[1] ** 2 + 0.3 * at[2] ** 2
        return float(-likelihood + unusual / len(right))

    found = minimize(cost, np.array([0.8, 0.0, 0.0]), method="Nelder-Mead", options={"maxiter": 2000})
    slope, shift, steeper = (float(value) for value in found.x)
    return {"slope": slope, "shift": shift, "steeper": steeper, "most": float(most)}


def calibrate_marks(says: Array, truth: Array) -> dict[str, float]:
    """One slope for the log probabilities, by likelihood, and the least probability ever claimed."""
    least = 1 / (len(truth) + 2)

    def cost(at: Array) -> float:
        scaled = at[0] * says
        share = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        share = share / share.sum(axis=1, keepdims=True) * (1 - 3 * least) + least
        return float(-np.mean(np.log(share[np.arange(len(truth)), truth])))

    found = minimize(cost, np.array([0.9]), method="Nelder-Mead")
    return {"slope": float(found.x[0]), "least": float(least)}


def expected_error(claimed: Array, right: Array, bins: int = 15) -> tuple[float, list[dict[str, Any]]]:
    """Expected calibration error over bins of equal count, and the bins: claimed, right, count."""
    order = np.argsort(claimed)
    rows = []
    total = 0.0
    for part in np.array_split(order, bins):
        said, true = float(claimed[part].mean()), float(right[part].mean())
        total += len(part) / len(order) * abs(said - true)
        rows.append({"claimed": said, "right": true, "count": len(part)})
    return total, rows
