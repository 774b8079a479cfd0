"""Rules about what is elsewhere: git remotes, clusters, containers, clouds, databases."""

from __future__ import annotations

from . import sql
from .call import Call, Findings, parse_options
from .tables import names

_MAIN_BRANCHES = names("main master trunk develop production release")


def git(call: Call) -> Findings:
    settings, args = _split_git(call.args)
    if not args:
        return
    rule = _GIT_VERBS.get(args[0])
    if rule is not None:
        found = rule(args[1:], settings)
        if found:
            yield call.finding(found)


def _split_git(args: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    """The -c settings, and the arguments from the subcommand on."""
    settings: list[str] = []
    index = 0
    while index < len(args) and args[index].startswith("-"):
        takes_value = args[index] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
        if args[index] == "-c":
            settings.extend(args[index + 1 : index + 2])
        index += 2 if takes_value else 1
    return settings, args[index:]


def _git_clean(args: tuple[str, ...], settings: list[str]) -> str:
    options = parse_options(args, "e")
    if options.has("n", "dry-run"):
        return ""
    unforced = any(setting.lower() == "clean.requireforce=false" for setting in settings)
    return "git-clean" if options.has("f", "force") or unforced else ""


def _git_push(args: tuple[str, ...], _settings: list[str]) -> str:
    options = parse_options(args, "o")
    if options.has("n", "dry-run"):
        return ""
    # --force-with-lease refuses to overwrite what one has not seen.
    if "f" in options.short or options.long & {"force", "mirror"}:
        return "git-force-push"
    refs = options.operands[1:]
    if any(ref.startswith("+") for ref in refs):
        return "git-force-push"
    deletes = options.has("d", "delete")
    gone = [ref.lstrip(":") for ref in refs if deletes or ref.startswith(":")]
    if any(ref.removeprefix("refs/heads/") in _MAIN_BRANCHES for ref in gone):
        return "git-delete-main"
    return ""


def _git_reset(args: tuple[str, ...], _settings: list[str]) -> str:
    return "git-reset-hard" if "hard" in parse_options(args).long else ""


def _git_checkout(args: tuple[str, ...], _settings: list[str]) -> str:
    options = parse_options(args, "bB")
    if options.has("f", "force") or _names_everything(options.operands):
        return "git-discard-changes"
    return ""


def _git_switch(args: tuple[str, ...], _settings: list[str]) -> str:
    options = parse_options(args, "cC")
    return "git-discard-changes" if options.has("f", "discard-changes", "force") else ""


def _git_restore(args: tuple[str, ...], _settings: list[str]) -> str:
    options = parse_options(args, "s")
    if options.has("S", "staged") and not options.has("W", "worktree"):
        return ""
    return "git-discard-changes" if _names_everything(options.operands) else ""


def _names_everything(operands: tuple[str, ...]) -> bool:
    return any(word in (".", "./", ":/", ":/*", "*") for word in operands)


def _git_stash(args: tuple[str, ...], _settings: list[str]) -> str:
    return "git-drop-saved" if args[:1] == ("clear",) else ""


def _git_reflog(args: tuple[str, ...], _settings: list[str]) -> str:
    options = parse_options(args)
    soon = any(arg.startswith("--expire") and arg.endswith(("=now", "=all", "=0")) for arg in args)
    drops = args[:1] == ("expire",) and soon and not options.has("n", "dry-run")
    return "git-drop-saved" if drops else ""


def _git_update_ref(args: tuple[str, ...], _settings: list[str]) -> str:
    options = parse_options(args, "m")
    gone = [word.removeprefix("refs/heads/") for word in options.operands[:1]]
    return (
        "git-delete-main"
        if "d" in options.short and gone[0:1] and gone[0] in _MAIN_BRANCHES
        else ""
    )


_GIT_VERBS = {
    "checkout": _git_checkout,
    "clean": _git_clean,
    "push": _git_push,
    "reflog": _git_reflog,
    "reset": _git_reset,
    "restore": _git_restore,
    "stash": _git_stash,
    "switch": _git_switch,
    "update-ref": _git_update_ref,
}


def git_hosting(call: Call) -> Findings:
    """gh and glab."""
    words = call.options("R").operands
    if words[:2] in (("repo", "delete"), ("project", "delete")):
        yield call.finding("git-delete-main")


_CLUSTER_KINDS = names(
    "ns namespace namespaces project projects pv persistentvolume persistentvolumes pvc"
    " persistentvolumeclaim persistentvolumeclaims crd crds customresourcedefinition"
    " customresourcedefinitions node nodes no all"
)


def cluster(call: Call) -> Findings:
    """kubectl and oc."""
    options = call.options("nslfogc")
    words = [word for word in options.operands if word != "kubectl"]
    if "delete" not in words[:3] or _dry_run(call.args):
        return
    target = words[words.index("delete") + 1 :]
    kinds = {part.partition(".")[0] for word in target[:1] for part in word.lower().split(",")}
    named = {word.lower().partition("/")[0].partition(".")[0] for word in target if "/" in word}
    everything = options.has("A") or options.long & {"all", "all-namespaces"}
    if everything or (kinds | named) & _CLUSTER_KINDS:
        yield call.finding("cluster-delete")


def _dry_run(args: tuple[str, ...]) -> bool:
    values = [arg.partition("=")[2] for arg in args if arg.startswith("--dry-run")]
    return bool(values) and values[-1] not in ("none", "false")


def containers(call: Call) -> Findings:
    """docker, podman and nerdctl."""
    options = call.options("Hlcf")
    words = options.operands
    pair = words[:2]
    everything = "a" in options.short or options.long & {"all", "volumes"}
    prunes_all = pair == ("system", "prune") and everything
    if prunes_all or pair in (("volume", "prune"), ("system", "reset")):
        yield call.finding("container-prune")


def infrastructure(call: Call) -> Findings:
    """terraform, tofu, terragrunt, pulumi and cdk."""
    options = call.options()
    words = [word for word in options.operands if word not in ("run-all", "run", "stack")]
    verb = words[0] if words else ""
    given = {arg.lstrip("-") for arg in call.args if arg.startswith("-")}
    help_only = bool(given & {"help", "h"})
    applies = verb == "apply" and given & {"destroy", "destroy=true"}
    if (verb in ("destroy", "down") or applies) and not help_only:
        yield call.finding("infrastructure-destroy")


def cloud(call: Call) -> Findings:
    """aws, gcloud, az and other command lines of clouds: whole accounts, groups, buckets."""
    words = call.options().operands
    options = set(call.args)
    whole = words[:2] in (("projects", "delete"), ("group", "delete"))
    bucket = words[:2] == ("s3", "rb") and "--force" in options
    objects = words[:2] == ("s3", "rm") and "--recursive" in options
    if whole or bucket or (objects and any(_is_bucket(word) for word in words)):
        yield call.finding("infrastructure-destroy")


def _is_bucket(word: str) -> bool:
    return word.startswith("s3://") and "/" not in word[5:].rstrip("/")


_SQL_OPTIONS = names("-c -e -q -Q -cmd --command --execute --query --eval")


def database(call: Call) -> Findings:
    """Clients that take SQL as an option, an operand or standard input."""
    texts = [call.stdin or ""]
    args = call.args
    for index, arg in enumerate(args):
        name, found, value = arg.partition("=")
        if arg in _SQL_OPTIONS:
            texts.extend(args[index + 1 : index + 2])
        elif found and name in _SQL_OPTIONS:
            texts.append(value)
        elif arg[:2] in ("-c", "-e") and len(arg) > 2:
            texts.append(arg[2:])
        elif " " in arg.strip():
            texts.append(arg)
    for text in texts:
        statement = sql.destructive(text)
        if statement:
            yield call.finding("database-drop")._replace(found=f"{call.name}: {statement}")
            return


def drop_database(call: Call) -> Findings:
    options = call.options("hpUW")
    if options.operands and not options.only_asks:
        yield call.finding("database-drop")


def database_admin(call: Call) -> Findings:
    """mysqladmin drop and redis-cli flushall."""
    words = {arg.lower() for arg in (*call.args, *(call.stdin or "").split())}
    if words & {"drop", "flushall", "flushdb"}:
        yield call.finding("database-drop")


def document_database(call: Call) -> Findings:
    text = " ".join((*call.args, call.stdin or ""))
    if "dropDatabase(" in text or ".drop()" in text or ".deleteMany({})" in text:
        yield call.finding("database-drop")
