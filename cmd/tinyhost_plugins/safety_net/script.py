"""Walks through a script, in the order in which a shell would run it, without running it.

Every command that could run is judged, in whatever branch it stands; what it would print
is followed into the pipes, variables and shells that take it in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import grammar, limits, marks
from .catalog import Finding
from .grammar import text_of
from .limits import TooMuch
from .tables import names
from .words import Scope, Words

if TYPE_CHECKING:
    from tree_sitter import Node

Run = Callable[[tuple[str, ...], "str | None", Scope], str]


class Script:
    """A walk over one command text and all scripts in it.

    `run` is called for each simple command with its words, its standard input and the
    scope, and gives back what it prints. `redirect` is called for each file that is
    written to, with its word, whether it is appended to, and the scope.
    """

    def __init__(
        self,
        run: Run,
        redirect: Callable[[str, bool, Scope], None],
        report: Callable[[Finding], None],
    ) -> None:
        self._run = run
        self._redirect = redirect
        self._report = report
        self._words = Words(self._substitute)
        self._depth = 0
        self._nesting = 0
        self._parsed = 0
        self._steps = 0
        self._active: set[int] = set()

    def count(self) -> None:
        """Account for one command or statement. Raises TooMuch."""
        self._steps += 1
        if self._steps > limits.MAX_STEPS:
            raise TooMuch(f"more than {limits.MAX_STEPS} commands and statements to follow")

    def text(self, text: str, stdin: str | None, scope: Scope) -> str:
        """Walk through a script given as text; what it prints. Raises TooMuch."""
        self._parsed += len(text) + 16
        if self._depth >= limits.MAX_SCRIPTS_INSIDE:
            raise TooMuch(f"more than {limits.MAX_SCRIPTS_INSIDE} shells inside each other")
        if self._parsed > limits.MAX_PARSED:
            raise TooMuch(f"more than {limits.MAX_PARSED} characters of script to follow")
        self._depth += 1
        try:
            root = grammar.parse(text)
            printed = self.node(root, stdin, scope)
            if root.has_error:
                for words in grammar.fallback_commands(text):
                    self._run(words, stdin, scope.copy())
            return printed
        finally:
            self._depth -= 1

    def call_function(
        self, body: Node, argv: tuple[str, ...], stdin: str | None, scope: Scope
    ) -> str:
        """Walk through the body of a function with its arguments."""
        if body.id in self._active:
            return marks.ANY
        self._active.add(body.id)
        outer, scope.positional = scope.positional, argv
        try:
            return self.node(body, stdin, scope)
        finally:
            scope.positional = outer
            self._active.discard(body.id)

    def node(self, node: Node, stdin: str | None, scope: Scope) -> str:
        """Walk through one statement, or a group of them; what it prints."""
        self.count()
        self._nesting += 1
        try:
            if self._nesting > limits.MAX_NESTING:
                raise TooMuch(f"more than {limits.MAX_NESTING} levels of nesting")
            handler = _HANDLERS.get(node.type)
            if handler is not None:
                return handler(self, node, stdin, scope)
            if node.child_count and node.type in _GROUPS:
                return self._group(node, stdin, scope)
            self._look_inside(node, scope)
            return ""
        finally:
            self._nesting -= 1

    def _group(self, node: Node, stdin: str | None, scope: Scope) -> str:
        printed = [self.node(part, stdin, scope) for part in _flat(node) if part.is_named]
        return limits.joined([f"{text}\n" for text in printed if text]).removesuffix("\n")

    def _look_inside(self, node: Node, scope: Scope) -> None:
        """Run the substitutions in something that is not a command, such as [[ ]]."""
        waiting = list(reversed(node.children))
        while waiting:
            part = waiting.pop()
            if part.type in ("command_substitution", "process_substitution"):
                self._substitute(part, scope)
            else:
                waiting.extend(reversed(part.children))

    def _substitute(self, node: Node, scope: Scope) -> str:
        printed = self._group(node, None, scope.copy())
        if node.type == "process_substitution":
            return marks.PROCESS + printed
        if not printed and any(part.type == "file_redirect" for part in node.named_children):
            return marks.ANY  # $(< file)
        return printed.rstrip("\n")

    def _subshell(self, node: Node, stdin: str | None, scope: Scope) -> str:
        return self._group(node, stdin, scope.copy())

    def _pipeline(self, node: Node, stdin: str | None, scope: Scope) -> str:
        feed = stdin
        for part in node.named_children:
            if part.type != "comment":
                feed = self.node(part, feed, scope.copy())
        return feed or ""

    def _for(self, node: Node, stdin: str | None, scope: Scope) -> str:
        variable = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        values = [
            word
            for part in node.children_by_field_name("value")
            for word in self._words.fields(part, scope)
        ]
        printed = ""
        for value in values[: limits.MAX_LOOP] or [marks.ANY]:
            if variable is not None:
                scope.variables[text_of(variable)] = value
            if body is not None:
                printed = self.node(body, stdin, scope)
        return printed

    def _function(self, node: Node, stdin: str | None, scope: Scope) -> str:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            return self._group(node, stdin, scope)
        if _is_fork_bomb(text_of(name), body):
            self._report(Finding("fork-bomb", text_of(node)))
            return ""
        scope.functions[text_of(name)] = body
        # It may be called in a way that is not seen, so it is judged once as it stands.
        inner = scope.copy()
        inner.positional = None
        self.node(body, None, inner)
        return ""

    def _assignment(self, node: Node, _stdin: str | None, scope: Scope) -> str:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is not None:
            key = text_of(name).partition("[")[0]
            text = "" if value is None else self._words.value(value, scope)
            text = "".join(marks.expand_braces(text)[:1]) if value is not None else ""
            is_array = value is not None and value.type == "array"
            text = text if is_array else text.replace(marks.SPLIT, " ")
            added = "+=" in [text_of(part) for part in node.children]
            before = scope.variables.get(key, "") if added else ""
            scope.variables[key] = limits.joined([before, text])
        return ""

    def _unset(self, node: Node, _stdin: str | None, scope: Scope) -> str:
        for part in node.named_children:
            scope.variables[text_of(part)] = ""
        return ""

    def _redirected(self, node: Node, stdin: str | None, scope: Scope) -> str:
        extra: list[str] = []
        into_file = False
        after: list[Node] = []
        for redirect in node.children_by_field_name("redirect"):
            read, wrote, words = self._one_redirect(redirect, scope, after)
            stdin = read if read is not None else stdin
            into_file = into_file or wrote
            extra.extend(words)
        body = node.child_by_field_name("body")
        printed = ""
        if body is not None:
            if body.type == "command":
                printed = self._command(body, stdin, scope, tuple(extra))
            else:
                printed = self.node(body, stdin, scope)
        elif extra:
            printed = self._run(tuple(extra), stdin, scope)
        printed = "" if into_file else printed
        # `cat <<EOF | sh`: the grammar puts what follows the marker into the here-document.
        for part in after:
            if part.type == "pipeline":
                printed = self._pipeline(part, printed, scope)
            else:
                printed = self.node(part, None, scope)
        return printed

    def _one_redirect(
        self, node: Node, scope: Scope, after: list[Node]
    ) -> tuple[str | None, bool, list[str]]:
        """What it feeds in, whether it takes the output away, and words that are arguments."""
        if node.type == "herestring_redirect":
            values = [self._words.text(part, scope) for part in node.named_children]
            return "".join(values[-1:]), False, []
        if node.type == "heredoc_redirect":
            return self._heredoc(node, scope, after)
        if node.type != "file_redirect":
            return None, False, []
        return self._file_redirect(node, scope)

    def _file_redirect(self, node: Node, scope: Scope) -> tuple[str | None, bool, list[str]]:
        targets = node.children_by_field_name("destination")
        if not targets:
            return None, False, []
        operator = next((text_of(part) for part in node.children if not part.is_named), ">")
        word = self._words.text(targets[0], scope)
        # The grammar takes arguments after a redirection for more destinations.
        words = [field for part in targets[1:] for field in self._words.fields(part, scope)]
        if operator.startswith("<"):
            inside = word[1:] if word.startswith(marks.PROCESS) else marks.ANY
            return inside, False, words
        descriptor = node.child_by_field_name("descriptor")
        if operator.endswith("&") and (word.isdigit() or word == "-"):
            return None, False, words
        self._redirect(word, operator in (">>", "&>>"), scope)
        is_output = descriptor is None or text_of(descriptor) == "1"
        return None, is_output, words

    def _heredoc(
        self, node: Node, scope: Scope, after: list[Node]
    ) -> tuple[str | None, bool, list[str]]:
        text, wrote = "", False
        words: list[str] = []
        marker = ""
        for index, part in enumerate(node.children):
            field = node.field_name_for_child(index)
            if part.type == "heredoc_start":
                marker = text_of(part)
            elif part.type == "heredoc_body":
                quoted = marker[:1] in ("'", '"') or "\\" in marker
                text = (
                    text_of(part)
                    if quoted
                    else self._words.interpolate(part, scope, part.start_byte, part.end_byte)
                )
            elif part.type in ("file_redirect", "herestring_redirect"):
                _, took, more = self._one_redirect(part, scope, after)
                wrote = wrote or took
                words.extend(more)
            elif field == "argument":
                words.extend(self._words.fields(part, scope))
            elif part.is_named and part.type not in ("heredoc_end", "file_descriptor"):
                after.append(part)
        return text, wrote, words

    def _simple(self, node: Node, stdin: str | None, scope: Scope) -> str:
        return self._command(node, stdin, scope, ())

    def _command(self, node: Node, stdin: str | None, scope: Scope, extra: tuple[str, ...]) -> str:
        words: list[str] = []
        temporary: dict[str, str] = {}
        into_file = False
        after: list[Node] = []
        for part in node.children:
            if part.type == "variable_assignment":
                inner = scope.copy()
                self._assignment(part, None, inner)
                temporary.update(inner.variables)
            elif part.type.endswith("_redirect"):
                read, wrote, more = self._one_redirect(part, scope, after)
                stdin = read if read is not None else stdin
                into_file = into_file or wrote
                words.extend(more)
            elif part.is_named and part.type != "comment":
                target = part.named_children[0] if _is_bare_name(part) else part
                words.extend(self._words.fields(target, scope))
        words.extend(extra)
        if not words:
            return ""
        if temporary:
            scope = scope.copy()
            scope.variables = {**temporary}
        printed = self._run(tuple(words), stdin, scope)
        return "" if into_file else printed


def _is_bare_name(node: Node) -> bool:
    return node.type == "command_name" and node.named_child_count == 1


def _flat(node: Node) -> list[Node]:
    """The children, with chains of && and || spread out, so that long ones do not nest."""
    parts: list[Node] = []
    waiting = list(reversed(node.children))
    while waiting:
        part = waiting.pop()
        if part.type == "list":
            waiting.extend(reversed(part.children))
        else:
            parts.append(part)
    return parts


def _is_fork_bomb(name: str, body: Node) -> bool:
    """Whether a function runs itself twice at once, by a pipe or in the background."""
    background = any(part.type == "&" for part in grammar.walk(body))
    calls = 0
    for part in grammar.walk(body):
        if part.type == "command_name" and text_of(part) == name:
            calls += 1
            above = part.parent.parent if part.parent is not None else None
            piped = above is not None and above.type == "pipeline"
            if calls > 1 and (piped or background):
                return True
    return False


_GROUPS = names(
    "program list compound_statement do_group else_clause elif_clause if_statement while_statement"
    " case_statement case_item negated_command ERROR c_style_for_statement command_substitution"
    " process_substitution"
)
_HANDLERS: dict[str, Callable[[Script, Node, str | None, Scope], str]] = {
    "command": Script._simple,
    "declaration_command": Script._group,
    "for_statement": Script._for,
    "function_definition": Script._function,
    "pipeline": Script._pipeline,
    "redirected_statement": Script._redirected,
    "subshell": Script._subshell,
    "unset_command": Script._unset,
    "variable_assignment": Script._assignment,
    "variable_assignments": Script._group,
}
