"""``python -m linattn_tools`` is the command ``linattn``."""

import sys

from linattn_tools.cli import main

if __name__ == "__main__":
    sys.exit(main())
