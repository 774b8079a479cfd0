"""The tools as a model sees them. What the schemas say is also what arguments are checked for."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]

LIST, CREATE = "pilot_issues_list", "pilot_issue_create"
UPDATE, COMMENT = "pilot_issue_update", "pilot_issue_comment"

_LONGEST_TITLE = 1024  # characters; the forges themselves take about 255
_LONGEST_BODY = 262_144

_REPOSITORY = {
    "owner": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "description": "User or organization; at GitLab the whole group, as in group/subgroup",
    },
    "repo": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "description": "Name of the repository, without its owner",
    },
}
_NUMBER = {
    "issue_number": {"type": "integer", "minimum": 1, "description": "The number behind the #"}
}
_TITLE = {"type": "string", "minLength": 1, "maxLength": _LONGEST_TITLE}


def _object(required: str, **properties: "Schema") -> "Schema":
    return {
        "type": "object",
        "properties": {**_REPOSITORY, **properties},
        "required": ["owner", "repo", *required.split()],
        "additionalProperties": False,
    }


TOOLS: "tuple[tuple[str, str, Schema], ...]" = (
    (
        LIST,
        "List the issues of a repository at GitHub, GitLab or Gitea, newest first, a page at a time."
        " Pull requests are left out.",
        _object(
            "",
            state={
                "type": "string",
                "enum": ["open", "closed", "all"],
                "description": "open by default",
            },
            labels={
                "type": "string",
                "maxLength": 1024,
                "description": "Labels with commas between them; an issue has to have all of them",
            },
            page={"type": "integer", "minimum": 1, "description": "1 by default"},
            per_page={
                "type": "integer",
                "minimum": 1,
                "maximum": 100,
                "description": "Issues on a page, 20 by default",
            },
        ),
    ),
    (
        CREATE,
        "Open an issue in a repository at GitHub, GitLab or Gitea.",
        _object(
            "title",
            title={**_TITLE, "description": "One line"},
            body={"type": "string", "maxLength": _LONGEST_BODY, "description": "Markdown"},
            labels={
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 255},
                "maxItems": 50,
                "description": "Names of labels; at Gitea they have to exist",
            },
        ),
    ),
    (
        UPDATE,
        "Change the title, the body or the state of an issue. What is not given stays.",
        _object(
            "issue_number",
            **_NUMBER,
            title={**_TITLE, "description": "The new title"},
            body={
                "type": "string",
                "maxLength": _LONGEST_BODY,
                "description": 'The new body in Markdown, "" for none',
            },
            state={
                "type": "string",
                "enum": ["open", "closed"],
                "description": "closed closes the issue, open opens it again",
            },
        ),
    ),
    (
        COMMENT,
        "Add a comment to an issue.",
        _object(
            "issue_number body",
            **_NUMBER,
            body={
                "type": "string",
                "minLength": 1,
                "maxLength": _LONGEST_BODY,
                "description": "Markdown",
            },
        ),
    ),
)
