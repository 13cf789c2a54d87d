"""``onnx.reference``: the operator as the ONNX project itself evaluates it, in NumPy."""

from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from linattn_spec.backend import Backend
from linattn_spec.backends import onnx_operator
from linattn_spec.profiles import PROFILES

FP16 = PROFILES["fp16-io"].with_dtypes(gate="float16")

backend = Backend("onnx.reference", version=onnx.__version__, profiles=("fp32", FP16))


def evaluator(model: Any) -> onnx_operator.Runner:
    reference = ReferenceEvaluator(model)

    def run(feed: dict[str, np.ndarray]) -> Any:
        with np.errstate(all="ignore"):
            return reference.run(None, feed)

    return run


RUN = """\
from onnx.reference import ReferenceEvaluator
output, state = ReferenceEvaluator(model).run(None, feed)"""

onnx_operator.register(backend, "", evaluator, RUN, accepts="Hq % Hv == 0 and Hk == Hv")
