"""Secrets: which names and values count, and that none is repeated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.container_linter.bootc import validate
from tinyhost_plugins.container_linter.findings import report
from tinyhost_plugins.container_linter.lint import lint
from tinyhost_plugins.container_linter.options import Options
from tinyhost_plugins.container_linter.secret_files import is_secret_file
from tinyhost_plugins.container_linter.secret_names import is_plain_value, is_secret_name

HEAD = "FROM registry.access.redhat.com/ubi9/ubi:9.5\n"
SECRET_NAMES = """
    PASSWORD DB_PASSWORD dbPassword db-password PGPASSWORD DB_PASS PASSWD MYSQL_PWD PASSPHRASE
    SECRET CLIENT_SECRET SECRET_KEY_BASE TOKEN NPM_TOKEN GITHUBTOKEN token_1 API_KEY apiKey
    SSH_PRIVATE_KEY AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID KEY ENCRYPTION_KEY CREDENTIAL CREDENTIALS
    VAULT_SECRET_ID SECRETS DB_CREDS APIKEY KEYS
"""
OTHER_NAMES = """
    MONKEY_MODE KEYBOARD PUBLIC_KEY_PATH PUBLIC_KEY GPG_KEY CACHE_KEY PRIMARY_KEY KEYTAB KEYCLOAK_ADMIN
    TOKENIZERS_PARALLELISM MAX_TOKENS NEXT_TOKEN PASSWORD_FILE SECRET_NAME TOKEN_URL KEY_SIZE KEY_ID
    PASSWORDLESS COMPASS BYPASS_CACHE TURKEY HOTKEY ALLOW_EMPTY_PASSWORD NO_PASSWORD PATH HOME JAVA_OPTS
    SECRETARY TOKYO NODE_ENV PWD OLDPWD x 1 _
"""
SECRET_FILES = r"""
    id_rsa ./keys/id_ed25519 server.key tls-key.pem .env conf/.env.prod .netrc root/.aws/credentials
    .docker/config.json .ssh/ .aws .kube/ .kube/config keystore.jks C:\x\id_rsa .env* keys/id_rsa* *.key .env?
"""
OTHER_FILES = """
    id_rsa.pub public.key truststore.jks .env.example ca.pem credentials app.json keyboard
    environment config.json ssh . * **/*.json .env.example* keys/*
"""


@pytest.mark.parametrize("name", SECRET_NAMES.split())
def test_a_name_stands_for_a_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", OTHER_NAMES.split())
def test_a_name_that_only_looks_like_it_does_not(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "value",
    ["", "  ", "true", "No", "0", "/run/secrets/db", "./conf/x", "/key.pem", "<token>", "{{ x }}"],
)
def test_a_value_can_be_none_of_a_secret(value: str) -> None:
    assert is_plain_value(value)


@pytest.mark.parametrize("value", ["hunter2", "changeme", "s3/cret", "12", "/slash"])
def test_other_values_can_be_secrets(value: str) -> None:
    assert not is_plain_value(value)


@pytest.mark.parametrize("path", SECRET_FILES.split())
def test_a_file_is_made_for_secrets(path: str) -> None:
    assert is_secret_file(path)


@pytest.mark.parametrize("path", OTHER_FILES.split())
def test_a_file_is_not(path: str) -> None:
    assert not is_secret_file(path)


def messages(text: str) -> list[str]:
    found = lint(HEAD + text, Options())
    return [one.message for one in found if one.rule in ("hardcoded-secret", "secret-file")]


def test_each_secret_file_of_a_line_is_named_and_once() -> None:
    named = messages("COPY id_rsa app.py .env id_rsa server.key /x/")
    files = ("id_rsa", ".env", "server.key")
    assert named == [f'COPY puts "{name}" into the image, a file for secrets' for name in files]
    copied = messages("COPY a credentials config /root/.aws/\nCOPY config config.json /x/.docker/")
    assert copied == [
        'COPY puts "/root/.aws/credentials" into the image, a file for secrets',
        'COPY puts "/x/.docker/config.json" into the image, a file for secrets',
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ENV DB_PASSWORD=hunter2", 'ENV "DB_PASSWORD" holds a secret, which anyone'),
        ("ENV DB_PASSWORD hunter2", 'ENV "DB_PASSWORD" holds a secret, which anyone'),
        ("ARG DB_PASSWORD", 'ARG "DB_PASSWORD" takes a secret, and build arguments'),
        ("ARG DB_PASSWORD=hunter2", 'ARG "DB_PASSWORD" takes a secret, and build arguments'),
        ("ARG T\nENV API_TOKEN=$T", 'ENV "API_TOKEN" writes a secret from outside'),
        ("ENV ID=AKIAIOSFODNN7EXAMPLE", 'the value of ENV "ID" holds a secret (aws-key-id)'),
        ("LABEL id=AKIAIOSFODNN7EXAMPLE", 'the value of LABEL "id" holds a secret (aws-key-id)'),
        ("RUN curl -u bob:hunter2 https://x", "the text of RUN holds a secret (password)"),
        ("RUN echo root:redhat | chpasswd", "the text of RUN holds a secret (password)"),
        (
            "RUN git clone https://a:hunter2@x.org/y",
            "the text of RUN holds a secret (url-password)",
        ),
        ('CMD ["x", "--password=hunter2"]', "the text of CMD holds a secret (password)"),
        ('CMD ["curl", "-u", "bob:hunter2", "x"]', "the text of CMD holds a secret (password)"),
        ('CMD ["mysql", "-u", "bob", "-phunter2"]', "the text of CMD holds a secret (password)"),
        ("HEALTHCHECK\tCMD\tcurl -u bob:hunter2 x", "the text of HEALTHCHECK holds a secret"),
        ("ONBUILD ENV DB_PASSWORD=hunter2", 'ENV "DB_PASSWORD" holds a secret, which anyone'),
        ("ONBUILD COPY id_rsa /x", 'COPY puts "id_rsa" into the image'),
        ("ONBUILD RUN <<E\nexport PASSWORD=hunter2\nE", "the here-document of RUN holds a secret"),
        ("ONBUILD RUN x --password=hunter2", "the text of RUN holds a secret (password)"),
        (
            "RUN <<E\nexport PASSWORD=hunter2\nE",
            "the here-document of RUN holds a secret (password)",
        ),
        ("COPY <<E /x\nPASSWORD=hunter2\nE", "the here-document of COPY holds a secret (password)"),
        ("COPY id_rsa /x", 'COPY puts "id_rsa" into the image'),
        ("COPY --chown=1:1 --from=b .env /x", 'COPY puts ".env" into the image'),
        ('COPY ["a", "server.key", "/x"]', 'COPY puts "server.key" into the image'),
        ('ARG NPM_TOKEN=""', 'ARG "NPM_TOKEN" takes a secret, and build arguments'),
        (
            "ADD https://bob:hunter2@x.org/a.tgz /x",
            "the address of a source holds a secret (url-password)",
        ),
        ("COPY --chown=1:1 .env* ./", 'COPY puts ".env*" into the image'),
        ("COPY <<E /app/.env\nA=1\nE", 'COPY puts "/app/.env" into the image'),
        ("COPY creds /root/.aws/credentials", 'COPY puts "/root/.aws/credentials" into'),
        ("COPY a b/credentials /root/.aws/", 'COPY puts "/root/.aws/credentials" into'),
        ("COPY cluster /root/.kube/config", 'COPY puts "/root/.kube/config" into the image'),
        ("ADD key /root/.ssh/id_rsa", 'ADD puts "/root/.ssh/id_rsa" into the image'),
    ],
)
def test_a_secret_is_found(text: str, message: str) -> None:
    (found,) = messages(text)
    assert found.startswith(message)
    assert "hunter2" not in found


def test_a_secret_in_a_here_document_is_reported_at_its_own_line() -> None:
    dashes = "-" * 5
    lines = [
        *("RUN <<-ONE cat <<TWO \\", "    # a comment", "    && true", "\techo a"),
        *(
            "\tDB_PASSWORD=hunter2 ./x",
            "\techo b",
            "\techo root:redhat | chpasswd",
            "\tONE",
            "a: 1",
        ),
        f"{dashes}BEGIN PRIVATE KEY{dashes}",
        *("A" * 64, f"{dashes}END PRIVATE KEY{dashes}", "curl -u bob:hunter2 https://x"),
        *('{"note": "two\\nlines", "body": "{\\"password\\":\\"hunter2\\"}"}', "TWO", "USER 1001"),
        *("COPY --chown=1:1 <<'E' /etc/app.conf", "user: bob", "password: hunter2", "E"),
    ]
    found = [one for one in lint(HEAD + "\n".join(lines), Options()) if one.severity == "error"]
    assert [(one.line, one.message) for one in found] == [
        (
            2 + index,
            f"the here-document of {name} holds a secret ({kind}); {name} is on line {line}",
        )
        for index, name, kind, line in [
            (4, "RUN", "password", 2),
            (6, "RUN", "password", 2),
            (9, "RUN", "private-key", 2),
            (12, "RUN", "password", 2),
            (13, "RUN", "password", 2),
            (18, "COPY", "password", 18),
        ]
    ]
    assert f"[ERROR] Line {2 + 4}: hardcoded-secret" in report(found, 10)


def test_a_here_document_full_of_secrets_is_read_once() -> None:
    text = "RUN <<E\n" + "PASSWORD=hunter2\n" * 3000 + "E\n"
    found = [one.line for one in lint(HEAD + text, Options()) if one.rule == "hardcoded-secret"]
    assert found == list(range(3, 3003))


@pytest.mark.parametrize(
    "text",
    [
        "ENV GPG_KEY=A035C8C19219BA821ECEA86B64E628F8D684696D MONKEY_MODE=1 PUBLIC_KEY_PATH=/x",
        'ENV DB_PASSWORD="" ALLOW_EMPTY_PASSWORD=yes POSTGRES_PASSWORD_FILE=/run/secrets/pw',
        "RUN --mount=type=secret,id=t,env=TOKEN curl -H 'Authorization: Bearer ${TOKEN}' https://x",
        "RUN TOKEN=$(cat /run/secrets/token) npm ci",
        'RUN mysql -u root -p"$MYSQL_ROOT_PASSWORD" -e "select 1"',
        "RUN for key in 5BE8A3F6C8A5C01D106C0AD820B1A390B168D356; do gpg --recv-keys $key; done",
        "COPY authorized_keys /root/.ssh/",
        "COPY id_rsa.pub /root/.ssh/",
        "COPY config credentials /etc/app/",
        "ADD https://example.org/credentials /root/.aws/",
        "ADD https://download.example.org/Debian_11/Release.key /etc/apt/trusted.gpg.d/x.gpg.asc",
        "ADD https://example.org/signing.key /tmp/signing.key",
        "COPY docker.key /etc/apt/keyrings/docker.key",
        "RUN podman run -u 1000:1000 x",
        "# ENV PASSWORD=hunter2",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert messages(text) == []


SHAPED = "ghp_" + "0123456789" * 3 + "012345"


@pytest.mark.parametrize(
    "text",
    [
        f"FROM x.org/{SHAPED}/a",
        f"ARG T={SHAPED}\nFROM x.org/$T/a",
        f"FROM a\nADD https://x.org/{SHAPED}/file /x",
        f"FROM a\nADD https://x.org/{'long/' * 12}{SHAPED}/file /x",
        f"FROM a\nCOPY {SHAPED}.key /x",
        f"FROM a\nENV {SHAPED} AKIAIOSFODNN7EXAMPLE",
        f"FROM a\nWORKDIR ${{{SHAPED}@Q}}",
        f"FROM a\nRUN <<{SHAPED}",
        f"FROM a-bootc\nCOPY {SHAPED} /etc/systemd/{SHAPED}",
    ],
)
def test_a_secret_is_not_shown_wherever_it_stands(text: str) -> None:
    shown = report(lint(text, Options()), 100) + validate(text)
    assert "ghp_" not in shown


WORDS = st.sampled_from(
    [
        *("ENV", "ARG", "LABEL", "RUN", "ADD", "COPY", "FROM", "USER", "PASSWORD", "=", " ", "\n"),
        *('"', "'", "$", "${", "}", "http://bob:", "@x.org/", "--password=", "<<E\n", "E\n"),
        *("\\\n", "a", "TOKEN="),
    ]
)


@given(st.lists(WORDS, max_size=15).map("".join), st.lists(WORDS, max_size=15).map("".join))
def test_the_value_of_a_password_is_never_repeated(before: str, after: str) -> None:
    text = f"{HEAD}{before}PASSWORD=hunter2{after}"
    kept = [one for one in lint(text, Options()) if one.rule in ("syntax", "hardcoded-secret")]
    # As the name of an image, a user or a label it would be no secret.
    if before.rstrip().upper().endswith(("ENV", "ARG", "RUN")):
        assert "hunter2" not in report(kept, 100)
        assert validate(text)
