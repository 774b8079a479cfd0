"""Which rule looks at which command word."""

from __future__ import annotations

from collections.abc import Callable

from . import rules_files as files
from . import rules_services as services
from . import rules_system as system
from .call import Call, Findings

RuleCheck = Callable[[Call], Findings]


def _table(*rows: tuple[str, RuleCheck]) -> dict[str, RuleCheck]:
    return {name: check for names, check in rows for name in names.split()}


RULES_BY_COMMAND = _table(
    ("rm srm trash gio-trash unlink", files.remove),
    ("mv", files.move),
    ("chmod", files.change_mode),
    ("chown chgrp", files.change_owner),
    ("rsync", files.synchronise),
    ("shred", files.shred),
    ("truncate", files.truncate),
    ("cp install ln", files.copy),
    ("tee", files.tee),
    ("mkfs mke2fs newfs mkswap mkdosfs mkntfs", system.make_filesystem),
    ("fdisk sfdisk gdisk cfdisk cgdisk parted", system.partition),
    ("sgdisk", system.sgdisk),
    ("wipefs", system.wipe),
    ("blkdiscard", system.discard),
    ("cryptsetup diskutil dmsetup hdparm mdadm nvme zfs zpool", system.volume_tool),
    ("pvremove vgremove lvremove", system.remove_volume),
    ("dd dcfldd", system.disk_dump),
    ("shutdown reboot halt poweroff", system.power),
    ("init telinit", system.run_level),
    ("systemctl loginctl", system.service_manager),
    ("kill", system.kill),
    ("killall5", system.kill_all),
    ("pkill", system.kill_by_name),
    ("userdel deluser groupdel delgroup", system.delete_user),
    ("crontab", system.crontab),
    ("git", services.git),
    ("gh glab", services.git_hosting),
    ("kubectl oc k microk8s k3s", services.cluster),
    ("docker podman nerdctl", services.containers),
    ("terraform tofu terragrunt pulumi cdk", services.infrastructure),
    ("aws gcloud az", services.cloud),
    ("psql mysql mariadb sqlite3 sqlite duckdb cockroach sqlcmd cqlsh", services.database),
    ("clickhouse-client clickhouse snowsql bq", services.database),
    ("dropdb", services.drop_database),
    ("mysqladmin redis-cli valkey-cli", services.database_admin),
    ("mongosh mongo", services.document_database),
)

# A script of one's own may well be called so; one called ./rm is still taken for rm.
NOT_FOR_LOCAL_FILES = frozenset((system.power, system.run_level))
