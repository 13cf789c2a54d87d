"""flash-linear-attention: its Triton kernels, and the plain PyTorch by which it tests them (label ``naive``).

Where there is no GPU the kernels run in Triton's interpreter, which has to be chosen before anything imports Triton:
here. All compute in float32; those that work on chunks round what they multiply to the dtype of the arrays.
"""

import os
import warnings

import torch

from linattn_spec.backends import triton_interpreter

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
os.environ["TRITON_F32_DEFAULT"] = "ieee"  # a GPU would multiply float32 as TF32
if DEVICE == "cpu":
    triton_interpreter.use()

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it says that there is no GPU
    import fla.ops  # noqa: F401
