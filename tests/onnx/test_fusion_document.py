"""docs/qdq_fusion.md says what the table of rules and the list of reasons say.

Run as a program, it prints both tables for the document.
"""

import pathlib

from absl.testing import absltest

from tf_qops.onnx.fusion import reasons, rules

_DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "qdq_fusion.md"


def rules_table():
    """The operators with each way to fuse them, in words of the rules' docstrings."""
    by_rules = {}
    for operator, ways in rules.RULES.items():
        by_rules.setdefault(ways, []).append(operator)
    rows = ["| float operator | becomes |", "|---|---|"]
    for ways, operators in by_rules.items():
        words = "; else ".join(way.__doc__.splitlines()[0].rstrip(".") for way in ways)
        rows.append(f"| {', '.join(sorted(operators))} | {words} |")
    return "\n".join(rows)


def reasons_table():
    """Every reason, by its name."""
    rows = ["| name | reason in the report |", "|---|---|"]
    rows += [f"| {k} | {v} |" for k, v in vars(reasons).items() if k.isupper()]
    return "\n".join(rows)


class DocumentTest(absltest.TestCase):
    def setUp(self):
        super().setUp()
        self.text = _DOCUMENT.read_text(encoding="utf-8")

    def test_the_table_of_rules_is_the_one_in_the_code(self):
        self.assertIn(f"\n{rules_table()}\n", self.text)

    def test_the_table_of_reasons_is_the_one_in_the_code(self):
        self.assertIn(f"\n{reasons_table()}\n", self.text)


if __name__ == "__main__":
    print(rules_table(), reasons_table(), sep="\n\n")
