"""ONNX Runtime on the CPU: the standard operator, which it expands into a Scan, and its ``com.microsoft`` kernel."""

from typing import Any

import onnxruntime

from linattn_spec.backend import Backend
from linattn_spec.backends import onnx_operator
from linattn_spec.profiles import PROFILES

FP16 = PROFILES["fp16-io"].with_dtypes(gate="float16")

backend = Backend("ONNX Runtime (CPU)", version=onnxruntime.__version__, profiles=("fp32", FP16))


def session(model: Any) -> onnx_operator.Runner:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # failures come as exceptions
    opened = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda feed: opened.run(None, feed)


RUN = """\
import onnxruntime
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
output, state = session.run(None, feed)"""

onnx_operator.register(backend, "", session, RUN, accepts="Hq % Hv == 0 and Hk == Hv", label="ai.onnx")
onnx_operator.register(backend, "com.microsoft", session, RUN, label="com.microsoft")
