"""The inputs and states that many variants share, described once. ``replace`` adapts one where a variant differs."""

from dataclasses import replace

import numpy as np

from linattn.record import Input, State

QUERY = Input("q", "T K", "query", heads="q")
KEY = Input("k", "T K", "key", heads="k")
UNIT_KEY = replace(KEY, doc="key, of unit length", typical="unit")
VALUE = Input("v", "T V", "value", heads="v")

LOG_DECAY = Input(
    "log_decay",
    "T 1",
    "natural logarithm of the decay",
    heads="v",
    kind="log",
    domain=(-np.inf, 0),
    neutral=0,
    role="gate",
    typical="mild",
)
CHANNEL_LOG_DECAY = replace(LOG_DECAY, axes="T K", doc="natural logarithm of the decay of each key channel")
BETA = Input("beta", "T 1", "writing strength", heads="v", domain=(0, 2), neutral=1, role="gate", typical="strength")
SCALE = Input("scale", "", "factor on the read", default="K ** -0.5", role="parameter")

MEMORY = State("S", "K V", "associative memory: keys are rows, values columns")
