"""Changes one module in many small ways and says which changes no test notices.

    python tests/mutation/mutate.py tinyhost/peer.py tests/tinyhost/test_peer.py [--sample 100]

Each mutant runs in a fork of this process, which has all that is slow to import. A mutant is
killed when a test fails or the time runs out.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
PATH = [str(ROOT), str(ROOT / "sdk"), str(ROOT / "cmd")]
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
}


@dataclass(frozen=True)
class Mutant:
    """The source with the bytes from start to end replaced."""

    line: int
    start: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        """The changed source."""
        return source[: self.start] + self.text.encode() + source[self.end :]


class Finder(ast.NodeVisitor):
    """Collects all mutants of a module."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.mutants: list[Mutant] = []
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.visit(ast.parse(source))

    def _place(self, node: Any) -> tuple[int, int]:
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.AST) -> str:
        start, end = self._place(node)
        return self.source[start:end].decode()

    def _replace(self, node: Any, text: str) -> None:
        start, end = self._place(node)
        self.mutants.append(Mutant(node.lineno, start, end, text))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Its defaults and body, not its annotations."""
        for child in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(child)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Its body, not its decorators."""
        for child in node.body:
            self.visit(child)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value alone."""
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """The opposite condition."""
        if self._text(node.test) == "TYPE_CHECKING":
            return
        self._replace(node.test, f"not ({self._text(node.test)})")
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        """Never."""
        self._replace(node.test, "False")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Another operator."""
        if len(node.ops) == 1:
            self._operator(node.left, node.ops[0], node.comparators[0])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Another operator."""
        self._operator(node.left, node.op, node.right)
        self.generic_visit(node)

    def _operator(self, left: ast.AST, operator: ast.AST, right: Any) -> None:
        other = _OPERATORS.get(type(operator))
        if other is not None and self._text(right)[0] not in "\"'":
            end, start = self._place(left)[1], self._place(right)[0]
            self.mutants.append(Mutant(right.lineno, end, start, f" {other} "))

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Each operand left out."""
        for index in range(len(node.values)):
            rest = [self._text(value) for value in node.values if value is not node.values[index]]
            word = " and " if isinstance(node.op, ast.And) else " or "
            self._replace(node, f"({word.join(rest)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Another number or truth value."""
        if type(node.value) is bool:
            self._replace(node, str(not node.value))
        elif type(node.value) in (int, float):
            self._replace(node, f"({self._text(node)} + 1)")

    def visit_Return(self, node: ast.Return) -> None:
        """Nothing is returned."""
        if node.value is not None and self._text(node.value) != "None":
            self._replace(node, "return None")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """The statement left out."""
        if isinstance(node.value, ast.Constant) or self._text(node).startswith("_log."):
            return
        self._replace(node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """What outlives the function is not set."""
        if self._text(node.targets[0]) == "__slots__":
            return
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self._replace(node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Not changed."""
        self._replace(node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Not raised."""
        self._replace(node, "pass")

    def visit_Delete(self, node: ast.Delete) -> None:
        """Kept."""
        self._replace(node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        """Go on."""
        self._replace(node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        """Leave."""
        self._replace(node, "break")


class Importer(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Gives a module the mutated source."""

    def __init__(self, name: str, path: Path, source: bytes) -> None:
        self._name, self._path, self._source = name, path, source

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's own place."""
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._path, loader=self)

    def get_source(self, name: str) -> str:
        """The mutated text."""
        return self._source.decode()


def module_name(path: Path) -> str:
    """tinyhost/peer.py -> tinyhost.peer"""
    parts = path.with_suffix("").parts
    return ".".join(parts[1:] if parts[0] in ("sdk", "cmd") else parts)


def run(module: Path, source: bytes, tests: Sequence[str], seconds: float) -> str:
    """Run the tests against that source: "survived", "killed" or "timeout"."""
    pid = os.fork()
    if pid == 0:
        _run_in_child(module, source, tests)
    fd = os.pidfd_open(pid)
    ended, _, _ = select.select([fd], [], [], seconds)
    os.close(fd)
    os.killpg(pid, signal.SIGKILL)  # what the tests may have left, too
    _, status = os.waitpid(pid, 0)
    if not ended:
        return "timeout"
    return "survived" if status == 0 else "killed"


def _run_in_child(module: Path, source: bytes, tests: Sequence[str]) -> None:
    import pytest

    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    sys.meta_path.insert(0, Importer(module_name(module), ROOT / module, source))
    plugins = ["-p", "no:cacheprovider", "-p", "no:xdist"]
    plugins += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # imported before the fork
    try:
        status = pytest.main(["-c", "setup.cfg", "-x", "-q", *plugins, *tests])
    except BaseException:
        status = 1
    os._exit(int(status))


def survivors(module: Path, tests: Sequence[str], mutants: Sequence[Mutant]) -> Iterator[Mutant]:
    """Run them one after the other. Raises SystemExit when the tests fail by themselves."""
    source = (ROOT / module).read_bytes()
    began = time.monotonic()
    if run(module, source, tests, 600) != "survived":
        raise SystemExit("the tests fail without any change")
    seconds = 5 + 4 * (time.monotonic() - began)
    for mutant in mutants:
        if run(module, mutant.apply(source), tests, seconds) == "survived":
            yield mutant


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each survivor as a change of one line, then the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--sample", type=int, default=0, help="only so many mutants; 0 is all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    sys.path[:0] = PATH
    for slow in ("pytest", "hypothesis", "trio.testing", "attrs", "cattrs", "msgspec"):
        importlib.import_module(slow)
    source = (ROOT / options.module).read_bytes()
    mutants = Finder(source).mutants
    everything = len(mutants)
    if options.sample:
        sample = random.Random(options.seed).sample(mutants, min(options.sample, everything))
        mutants = sorted(sample, key=lambda mutant: mutant.start)
    count = 0
    for mutant in survivors(options.module, options.tests, mutants):
        count += 1
        was = source[mutant.start : mutant.end].decode()
        print(f"{options.module}:{mutant.line}: {was!r} -> {mutant.text!r}", flush=True)
    killed = len(mutants) - count
    print(f"{options.module}: {killed} of {len(mutants)} killed ({everything} mutants in all)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
