"""The arguments that measures of epsilon and delta share, declared once and checked where they enter."""

from __future__ import annotations

from discreet.noise.parameters import (
    Domain,
    Parameter,
    non_negative,
    non_negative_whole,
    positive,
    positive_whole,
    share,
)

positive_share = Domain("above 0 and below 1", lambda value: share.contains(value) and value > 0)

EPSILON = Parameter("ε", non_negative, (0.1, 10.0), 0, "logarithm of the factor that a person's presence may make")
DELTA = Parameter("δ", share, (1e-10, 1e-3), 0, "probability left out of the promise")
EXCESS = Parameter("δ'", share, (1e-10, 1e-3), 0, "delta above what the bound of the noise costs")
SLACK = Parameter("δ'", positive_share, (1e-10, 1e-3), 0, "delta above what the bound of the noise costs")
BUDGET = Parameter("ε", positive, (0.1, 10.0), 0, "privacy budget of a whole output")
STATISTICS = Parameter("t", positive_whole, (1, 10_000), 0, "published counts that contain one person")
COUNT = Parameter("i", non_negative_whole, (0, 10), 0, "true count without the person")
HOUSEHOLD = Parameter("h", positive_whole, (1, 10), 0, "persons who are protected together")
STEP = Parameter("s", positive, (1e-4, 1e-2), 0, "multiples that losses are rounded to")
