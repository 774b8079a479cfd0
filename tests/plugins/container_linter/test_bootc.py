"""Whether a file makes an image that boots."""

from __future__ import annotations

import pytest

from tinyhost_plugins.container_linter.bootc import validate

GOOD = """\
FROM registry.redhat.io/rhel9/rhel-bootc:9.5
LABEL bootc.diskimage-builder="true"
COPY app.service /etc/systemd/system/app.service
RUN bootc container lint
"""


def test_a_good_file_passes() -> None:
    assert validate(GOOD).splitlines() == [
        "PASS: this makes a bootc image",
        "",
        '[PASS] bootc base image: "registry.redhat.io/rhel9/rhel-bootc:9.5" is a base image for bootc',
        "[PASS] bootc.diskimage-builder label: set on line 2",
        "[PASS] systemd unit files: COPY on line 3 puts them into /etc/systemd/system/app.service",
        "[PASS] bootc container lint: run on line 4",
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("FROM registry.redhat.io/rhel10/rhel-bootc:10.0", "is a base image for bootc"),
        ("FROM quay.io/centos-bootc/centos-bootc:stream9", "is a base image for bootc"),
        ("FROM quay.io/fedora/fedora-bootc@sha256:0f", "is a base image for bootc"),
        ("FROM registry.redhat.io/rhel9-eus/rhel-9.4-bootc:9.4", "is a bootc image by its name"),
        ("FROM localhost:5000/team/our-bootc:1", "is a bootc image by its name"),
        ("ARG B=quay.io/fedora/fedora-bootc:42\nFROM $B", "is a base image for bootc"),
        ("FROM quay.io/fedora/fedora-bootc:42 AS a\nFROM a", "is a base image for bootc"),
        ("FROM scratch\nLABEL containers.bootc 1", "is declared one by LABEL containers.bootc=1"),
    ],
)
def test_a_base_image_for_bootc_passes_without_label_and_units(text: str, why: str) -> None:
    lines = validate(text).splitlines()
    assert lines[0] == "PASS: this makes a bootc image, with 1 warning"
    assert lines[2].startswith("[PASS] bootc base image: ")
    assert lines[2].endswith(why)
    assert "[INFO] bootc.diskimage-builder label: not set, and bootc does not ask for it" in lines
    assert "[WARN] bootc container lint: not run; end with RUN bootc container lint" in lines


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "[FAIL] bootc base image: there is no FROM instruction"),
        ("FROM registry.access.redhat.com/ubi9/ubi:9.5", "is not known as one; begin with"),
        ("FROM quay.io/a/rebootcamp:1", "is not known as one; begin with"),
        ("FROM quay.io/centos-bootc/bootc-image-builder:latest", "is not known as one; begin with"),
        ("FROM quay.io/fedora/fedora-bootc:42 AS a\nFROM debian:12", '"debian:12" is not known'),
        ("ARG B\nFROM $B", '"$B" has no value in the file; give the ARG a default'),
        (GOOD + "X\nY\nZ", '"X"; 2 more, see container_lint'),
        (GOOD + "RNU x", '[FAIL] syntax: line 5: there is no instruction "RNU"'),
    ],
)
def test_what_does_not_boot_fails(text: str, why: str) -> None:
    output = validate(text)
    assert output.startswith("FAIL: this does not make a bootc image (")
    assert why in output


@pytest.mark.parametrize(
    ("line", "check"),
    [
        (
            'USER 1001\nCMD ["x"]\nENTRYPOINT y',
            "[WARN] container settings: ignored at boot: USER (line 5), CMD (line 6),"
            " ENTRYPOINT (line 7); configure systemd units, the firewall and users instead",
        ),
        ("RUN systemctl start httpd", "[WARN] services in the build: RUN on line 5 starts"),
        ("RUN systemctl enable --now x", "[WARN] services in the build: RUN on line 5 starts"),
        ("RUN <<E\nsystemctl restart x\nE", "[WARN] services in the build: RUN on line 5 starts"),
        ("COPY a /var/lib/a", "[WARN] content of /var: COPY on line 5 writes to /var"),
        ("WORKDIR /var/www\nCOPY a .", "[WARN] content of /var: COPY on line 6 writes to /var"),
        ("WORKDIR /var\nWORKDIR www\nCOPY a b/", "[WARN] content of /var: COPY on line 7"),
        ("COPY a /usr/../var/x", "[WARN] content of /var: COPY on line 5 writes to /var"),
        ("ADD vmlinuz /boot/", "[WARN] content of /boot: ADD on line 5 writes to /boot"),
        ("COPY a /run/a", "[WARN] content of /run: COPY on line 5 writes to /run"),
        ("RUN dnf -y install x", "[WARN] bootc container lint: run on line 4, but RUN on line 5"),
    ],
)
def test_what_boots_with_a_flaw_passes_with_a_warning(line: str, check: str) -> None:
    output = validate(GOOD + line)
    assert output.startswith("PASS: this makes a bootc image, with ")
    assert check in output


@pytest.mark.parametrize(
    "line",
    [
        'CMD ["/sbin/init"]',
        "CMD /sbin/init",
        "COPY a /variable/x",
        "COPY a /usr/lib/a",
        "WORKDIR /var",
        "WORKDIR /var\nCOPY a /usr/lib/a",
        "WORKDIR /var\nWORKDIR /usr/lib\nCOPY a .",
        "COPY a.rpm /tmp/a.rpm\nRUN dnf -y install /tmp/a.rpm && rm -rf /tmp/* && bootc container lint",
    ],
)
def test_what_is_fine_gives_no_warning(line: str) -> None:
    assert validate(GOOD + line).startswith("PASS: this makes a bootc image\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("COPY x.container /usr/share/containers/systemd/", "COPY on line 2 puts them into"),
        ("COPY a.service b.timer /opt/", "COPY on line 2 puts them into /opt/"),
        ("RUN dnf -y install httpd && systemctl enable httpd", "RUN on line 2 enables a service"),
        ("RUN <<E\nsystemctl --root=/ preset a\nE", "RUN on line 2 enables a service"),
        ("COPY rootfs /", "they may be in what COPY on line 2 copies"),
        ("COPY etc /etc/", "they may be in what COPY on line 2 copies"),
        ("RUN x", "none are copied or enabled"),
    ],
)
def test_units_may_come_in_several_ways(line: str, said: str) -> None:
    assert said in validate(f"FROM quay.io/fedora/fedora-bootc:42\n{line}\n")
