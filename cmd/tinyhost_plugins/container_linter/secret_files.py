"""Which files are made to hold secrets, by their names."""

from __future__ import annotations

import re
from fnmatch import translate

_FILE_NAMES = """
    id_rsa id_dsa id_ecdsa id_ed25519 *.key *-key.pem *_key.pem key.pem privkey*.pem private*.pem
    *.p12 *.pfx *.jks *.keystore *.ppk *.kdbx .netrc _netrc .git-credentials .pgpass .pypirc .htpasswd
    .dockercfg .dockerconfigjson kubeconfig *.kubeconfig .env .env.* *.env .vault-token
    credentials.json service-account*.json service_account*.json secrets.yml secrets.yaml secrets.json
    auth.json
"""
_PATH_ENDS = (".aws/credentials", ".docker/config.json", ".kube/config")
_FOLDERS = (".aws", ".config/gcloud", ".gnupg", ".kube", ".ssh")
_HARMLESS_NAMES = """
    *.pub *public*.key *.pub.key *truststore* .env.example .env.sample .env.template .env.dist
    example.env sample.env
"""


def _any_of(patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns.split())))


_FILES, _HARMLESS = _any_of(_FILE_NAMES), _any_of(_HARMLESS_NAMES)
_PATHS = tuple(f"/{end}" for end in _PATH_ENDS)
_PATHS_AND_FOLDERS = (*_PATHS, *(f"/{end}" for end in _FOLDERS))


def is_secret_file(path: str, *, target: bool = False) -> bool:
    """Whether a file with this name is made to hold a secret.

    target: the name is where something is copied to, and a folder such as .ssh says nothing.
    """
    # COPY .env* ./ copies .env where there is one.
    path = path.replace("\\", "/").rstrip("/*?").lower()[-400:]
    name = path.rpartition("/")[2]
    if _HARMLESS.match(name):
        return False
    if f"/{path}".endswith(_PATHS if target else _PATHS_AND_FOLDERS):
        return True
    return _FILES.match(name) is not None
