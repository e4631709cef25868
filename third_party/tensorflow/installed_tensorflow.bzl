"""The TensorFlow package of a Python, as a repository; nothing is downloaded or copied."""

def _installed_tensorflow(context):
    python = context.os.environ.get("PYTHON_BIN_PATH") or context.which("python3")
    if not python:
        fail("no python3 found: set PYTHON_BIN_PATH to the Python that has TensorFlow")
    found = context.execute([python, context.path(Label("//:cmake/find_tensorflow.py"))])
    if found.return_code:
        fail(found.stderr)
    folder = found.stdout.split(";")[1]
    for name in ("include", "libtensorflow_framework.so.2"):
        context.symlink("%s/%s" % (folder, name), name)
    context.file("python.sh", "#!/bin/sh\nexec '%s' \"$@\"\n" % python)
    context.symlink(Label("//third_party/tensorflow:tensorflow.BUILD"), "BUILD")

installed_tensorflow = repository_rule(
    implementation = _installed_tensorflow,
    configure = True,
    environ = ["PYTHON_BIN_PATH"],
    local = True,
    doc = "Takes TensorFlow from the Python that PYTHON_BIN_PATH names, else from python3.",
)
