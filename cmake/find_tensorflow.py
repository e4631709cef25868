"""Prints "<version>;<folder>" of the installed TensorFlow, found without importing it.

Importing TensorFlow takes seconds. Exits with one line that says what to do where there is none or
one that is too old.
"""

import importlib.metadata
import importlib.util
import pathlib
import sys

OLDEST = (2, 21)  # the first with DT_INT2, DT_UINT2 and DT_FLOAT4_E2M1FN
ADVICE = "pip install 'tensorflow-cpu==2.21.*' and build with --no-build-isolation"


def find() -> tuple[str, pathlib.Path]:
    """Returns the version and the folder of TensorFlow, or raises SystemExit."""
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or spec.origin is None:
        sys.exit(f"tf_qops: TensorFlow is not installed for {sys.executable}: {ADVICE}")
    folder = pathlib.Path(spec.origin).resolve().parent
    for distribution in importlib.metadata.distributions(path=[str(folder.parent)]):
        if "tensorflow" in (distribution.read_text("top_level.txt") or "").split():
            version = distribution.version
            break
    else:
        sys.exit(f"tf_qops: {folder} belongs to no installed package: {ADVICE}")
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        sys.exit(f"tf_qops: TensorFlow {oldest} or later is needed, found {version}: {ADVICE}")
    return version, folder


if __name__ == "__main__":
    print(*find(), sep=";", end="")
