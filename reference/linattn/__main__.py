"""``python -m linattn`` is the command ``linattn``. It is run by name: the mathematics imports nothing from the
tools.
"""

import runpy

if __name__ == "__main__":
    runpy.run_module("linattn_tools", run_name="__main__", alter_sys=True)
