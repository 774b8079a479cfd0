"""The rules: what each one guards against and what to do instead. Data, no behaviour."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """Why a command is stopped, and the way forward, as two sentences for a person."""

    why: str
    instead: str


RULES: dict[str, Rule] = {
    "remove-system-path": Rule(
        "this deletes the root of the file system or a directory that the system needs",
        "name the one directory of your own that has to go",
    ),
    "remove-home": Rule(
        "this deletes a home directory or the personal data in it",
        "name the one directory below it that has to go",
    ),
    "remove-working-tree": Rule(
        "this deletes the whole working directory, a directory above it, or its .git",
        "name the files or subdirectories that have to go",
    ),
    "remove-shared-temp": Rule(
        "this deletes a temporary directory that all programs share",
        "name your own subdirectory of it",
    ),
    "remove-unset-variable": Rule(
        "with an empty variable this deletes from the root of the file system",
        "write ${NAME:?} in place of $NAME, so that an empty value stops the command",
    ),
    "remove-unseen-names": Rule(
        "this deletes recursively whatever names arrive through a pipe, unseen",
        "list the names first, then pass them to the command as arguments",
    ),
    "move-system-path": Rule(
        "this moves a system or home directory away, or a file into a device",
        "move single files of your own, and delete them with rm",
    ),
    "find-delete": Rule(
        "this deletes files all over a system, home or shared temporary directory",
        "start find in the one subdirectory that is meant",
    ),
    "world-writable": Rule(
        "this lets every user of the machine change the files",
        "give the rights to the owner or group, as with 755, 775, 644 or u+x",
    ),
    "recursive-permissions": Rule(
        "this changes owners or rights throughout a system or home directory",
        "change the one directory or file that needs it",
    ),
    "format-disk": Rule(
        "this creates or wipes a file system, a partition table or a volume",
        "let a person do it; to look only, use lsblk, fdisk -l or wipefs without options",
    ),
    "write-to-device": Rule(
        "this writes over the raw contents of a disk or of memory",
        "write to a regular file",
    ),
    "shred": Rule(
        "this destroys file contents beyond recovery",
        "use rm for files of your own",
    ),
    "overwrite-system-file": Rule(
        "this empties, replaces or deletes a file that the system needs to run",
        "write the new version elsewhere and let a person install it",
    ),
    "power-off": Rule(
        "this stops or restarts the machine",
        "restart the one service that needs it, or ask a person",
    ),
    "kill-everything": Rule(
        "this signals every process, or the first one",
        "name the process id or the program that has to stop",
    ),
    "fork-bomb": Rule(
        "this starts processes without end until the machine hangs",
        "start a fixed number of processes",
    ),
    "git-clean": Rule(
        "this deletes untracked files, which git cannot bring back",
        "look with git clean -n, then remove the files by name",
    ),
    "git-force-push": Rule(
        "this overwrites the history of the remote repository",
        "use git push --force-with-lease, or push to a new branch",
    ),
    "git-delete-main": Rule(
        "this deletes a main branch, or the whole repository, on the server",
        "let a person do it",
    ),
    "git-reset-hard": Rule(
        "this throws away all changes that are not committed",
        "commit or stash them first, or use git reset --keep",
    ),
    "git-discard-changes": Rule(
        "this throws away the changes to all files that are not committed",
        "commit or stash them first, or name the files",
    ),
    "git-drop-saved": Rule(
        "this drops saved work that git could still bring back",
        "drop single entries by name",
    ),
    "cluster-delete": Rule(
        "this deletes a namespace, volumes, nodes, types, or all objects of a cluster",
        "delete single objects by name, or try it with --dry-run=client",
    ),
    "container-prune": Rule(
        "this deletes all unused images or volumes, with the data in them",
        "remove single images or volumes by name",
    ),
    "infrastructure-destroy": Rule(
        "this tears down infrastructure",
        "show the plan first, as with terraform plan -destroy, and let a person apply it",
    ),
    "database-drop": Rule(
        "this deletes a database, a table, or all of its rows",
        "delete the rows that are meant with WHERE, and make a backup first",
    ),
    "download-to-shell": Rule(
        "this runs a program straight from the network, unseen",
        "download it to a file, read it, then run the file",
    ),
    "decoded-to-shell": Rule(
        "this runs commands that are hidden behind an encoding",
        "write the commands out",
    ),
    "delete-user": Rule(
        "this deletes a user account or group",
        "let a person do it",
    ),
    "crontab-remove": Rule(
        "this deletes all scheduled jobs of a user",
        "edit a copy from crontab -l and install that",
    ),
    "unchecked": Rule(
        "the command is too large or too tangled to be checked",
        "split it up, or put it in a file and run that",
    ),
}


class Finding(NamedTuple):
    """One reason against a command. `found` is the part of it that is meant.

    `why` and `instead` are set for rules of the user's own, which the catalog lacks.
    """

    rule: str
    found: str
    why: str = ""
    instead: str = ""

    def text(self) -> str:
        """The reason as one line for a person."""
        rule = RULES.get(self.rule)
        why = self.why or (rule.why if rule else "")
        instead = self.instead or (rule.instead if rule else "")
        hint = f" Instead: {instead}." if instead else ""
        return (
            f"safety-net[{self.rule}]: {why}. Found: {shorten(self.found)}.{hint}"
            f' To allow it, add "{self.rule}" to the plugin\'s option "allow".'
        )


def shorten(text: str, limit: int = 120) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
