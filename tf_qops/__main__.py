"""Runs the command `tf-qops`."""

import sys

from tf_qops.cli import main

if __name__ == "__main__":
    sys.exit(main())
