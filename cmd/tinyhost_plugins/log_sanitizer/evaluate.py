"""How well secrets are told from other texts, measured with the labelled texts."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .samples import Sample, load
from .sanitize import sanitize


class Score(NamedTuple):
    """What a run over labelled texts gave.

    secrets, found: secrets in the texts, and how many of them are gone from the result.
    harmless, masked: texts without secrets, and how many of them were changed.
    exact: texts of both sorts that became what they should, with the right class and no
        character more or less.
    wrong: the samples that are not exact, with what became of them.
    """

    secrets: int
    found: int
    harmless: int
    masked: int
    exact: int
    wrong: list[tuple[Sample, str]]
    classes: dict[str, tuple[int, int]]

    @property
    def precision(self) -> float:
        """The share of secrets in all that was masked; a harmless text counts once."""
        return self.found / (self.found + self.masked) if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.found / self.secrets if self.secrets else 1.0


def measure(samples: Iterable[Sample], mask: Callable[[str], str]) -> Score:
    """Run `mask` over the samples."""
    total: Counter[str] = Counter()
    there: Counter[str] = Counter()
    found: Counter[str] = Counter()
    wrong = []
    for sample in samples:
        result = mask(sample.text)
        total["all"] += 1
        if result != sample.expected:
            wrong.append((sample, result))
        if not sample.secrets:
            total["harmless"] += 1
            total["masked"] += result != sample.text
        for label, secret in sample.secrets:
            there[label] += 1
            found[label] += secret not in result
    return Score(
        secrets=there.total(),
        found=found.total(),
        harmless=total["harmless"],
        masked=total["masked"],
        exact=total["all"] - len(wrong),
        wrong=wrong,
        classes={label: (found[label], there[label]) for label in sorted(there)},
    )


def report(score: Score, *, verbose: bool = False) -> str:
    """The score as text: the figures first, then each class, then what went wrong."""
    texts = score.exact + len(score.wrong)
    lines = [
        f"precision {score.precision:.3f}, recall {score.recall:.3f}",
        f"{score.found} of {score.secrets} secrets masked,"
        f" {score.masked} of {score.harmless} harmless texts changed,"
        f" {score.exact} of {texts} texts exactly as expected",
    ]
    if verbose:
        lines += [f"{label:<22} {ok}/{all}" for label, (ok, all) in score.classes.items()]
    for sample, result in score.wrong:
        lines += [f"expected {sample.expected!r}", f"     got {result!r}"]
    return "\n".join(lines)


def main() -> None:
    """Print precision and recall over the labelled texts."""
    parser = argparse.ArgumentParser(
        prog="python -m tinyhost_plugins.log_sanitizer.evaluate", description=main.__doc__
    )
    parser.add_argument("--classes", action="store_true", help="also list each class")
    options = parser.parse_args()
    score = measure(load(), lambda text: sanitize(text).text)
    print(report(score, verbose=options.classes))


if __name__ == "__main__":
    main()
