"""Stands for a repository that Bazel would otherwise download."""

def _stub_repository(context):
    for path, content in context.attr.files.items():
        context.file(path, content)

stub_repository = repository_rule(
    implementation = _stub_repository,
    attrs = {"files": attr.string_dict(mandatory = True, doc = "Contents by path.")},
)
