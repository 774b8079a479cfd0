"""Archives from strangers: what is read, what is left out, and where reading stops."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import subprocess
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins._shared import archive_zip
from tinyhost_plugins._shared.archive import (
    ArchiveError,
    Limits,
    Skipped,
    extract,
    open_archive,
    safe_name,
)

FILES = {
    "config/id": b"abc",
    "empty": b"",
    "..data/x": b"dots",
    "big": bytes(range(256)) * 1000,
    "Ünïcode/" + "n" * 120 + "/" + "m" * 200: b"long",
}


def info(name: str, size: int = 0, **fields: object) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size = size
    for key, value in fields.items():
        setattr(made, key, value)
    return made


def tar(
    files: Mapping[str, bytes], *others: tarfile.TarInfo, layout: int = tarfile.PAX_FORMAT
) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=layout) as made:
        for other in others:
            made.addfile(other)
        for name, data in files.items():
            made.addfile(info(name, len(data)), io.BytesIO(data))
    return out.getvalue()


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        made.writestr("folder/", b"")
        for name, data in files.items():
            made.writestr(name, data)
    return out.getvalue()


def targz(files: Mapping[str, bytes]) -> bytes:
    return gzip.compress(tar(files))


def read(path: Path, data: bytes, limits: Limits | None = None) -> dict[str, bytes]:
    path.write_bytes(data)
    with open_archive(path, limits) as archive:
        return {member.name: member.read() for member in archive.files()}


def odd(path: Path, data: bytes) -> tuple[list[str], list[Skipped], list[str]]:
    """The names that are read, what is skipped, the notes."""
    path.write_bytes(data)
    with open_archive(path) as archive:
        names = [member.name for member in archive.files()]
    assert archive.skipped_count == len(archive.skipped)
    return names, archive.skipped, archive.notes


@pytest.mark.parametrize(
    "data",
    [
        tar(FILES, info("folder", type=tarfile.DIRTYPE), layout=tarfile.PAX_FORMAT),
        tar(FILES, layout=tarfile.GNU_FORMAT),
        targz(FILES),
        zipped(FILES),
        zipped(FILES, zipfile.ZIP_STORED),
    ],
    ids=["pax", "gnu", "tar.gz", "deflated", "stored"],
)
def test_every_format_gives_the_same_files(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path / "a", data) == FILES


def test_old_tar_files_are_read(tmp_path: Path) -> None:
    files = {"d" * 90 + "/" + "f" * 90: b"prefixed", "./b//c": b"2"}
    found = read(tmp_path / "a", tar(files, layout=tarfile.USTAR_FORMAT))
    assert found == {"d" * 90 + "/" + "f" * 90: b"prefixed", "b/c": b"2"}


def test_what_is_not_read_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for data in (targz(FILES), zipped(FILES)):
        path.write_bytes(data)
        with open_archive(path) as archive:
            found = [m.read() for m in archive.files() if m.name in ("config/id", "..data/x")]
        assert found == [b"abc", b"dots"]
        assert archive.entries >= len(FILES)


def test_a_member_can_be_read_in_part(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(tar({"big": b"x" * 300_000, "next": b"n"}))
    with open_archive(path) as archive:
        found = {member.name: next(member.chunks()) for member in archive.files()}
    assert found == {"big": b"x" * 65_536, "next": b"n"}


def test_links_devices_and_names_that_lead_out_are_skipped_and_listed(tmp_path: Path) -> None:
    others = [
        info("soft", type=tarfile.SYMTYPE, linkname="/etc"),
        info("hard", type=tarfile.LNKTYPE, linkname="config/id"),
        info("null", type=tarfile.CHRTYPE),
        info("pipe", type=tarfile.FIFOTYPE),
        info("odd", type=b"Z"),
    ]
    files = {"/etc/passwd": b"1", "../up": b"2", "a/../../up": b"3", "..data": b"4", ".": b"5"}
    names, skipped, notes = odd(tmp_path / "a", tar(files, *others))
    assert names == ["..data"]
    assert notes == []
    assert [(found.name, found.reason) for found in skipped] == [
        ("soft", "a symbolic link"),
        ("hard", "a hard link"),
        ("null", "a device"),
        ("pipe", "a named pipe"),
        ("odd", "of the unknown type b'Z'"),
        ("/etc/passwd", "an absolute path"),
        ("../up", "a path that leaves the archive"),
        ("a/../../up", "a path that leaves the archive"),
        (".", "no name"),
    ]


@pytest.mark.parametrize("layout", ["gnu", "posix"])
def test_sparse_files_are_skipped_and_what_follows_is_read(tmp_path: Path, layout: str) -> None:
    with (tmp_path / "sparse").open("wb") as out:
        # More pieces than fit into one header.
        for number in range(60):
            out.seek(number * 1_000_000)
            out.write(b"piece")
    (tmp_path / "plain").write_bytes(b"after")
    command = ["tar", "--sparse", f"--format={layout}", "-cf", "a.tar", "sparse", "plain"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    path = tmp_path / "a.tar"
    with open_archive(path) as archive:
        found = {member.name: member.read() for member in archive.files()}
    assert found == {"plain": b"after"}
    assert [skipped.reason for skipped in archive.skipped] == ["a sparse file"]


def test_skipped_members_are_counted_but_a_hundred_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(tar({f"../{number}": b"" for number in range(150)}))
    with open_archive(path) as archive:
        assert list(archive.files()) == []
    assert (archive.skipped_count, len(archive.skipped)) == (150, 100)


@pytest.mark.parametrize("make", [targz, tar, zipped])
def test_a_bomb_ends_at_the_limit_of_all_bytes(
    tmp_path: Path, make: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    data = make({f"zeros{number}": bytes(10**6) for number in range(5)})
    with pytest.raises(ArchiveError, match="unpacks to more than the 3000000 bytes allowed"):
        read(tmp_path / "a", data, Limits(total_bytes=3_000_000))


def test_a_bomb_of_which_nothing_is_read_ends_there_too(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(targz({"zeros": bytes(5 * 10**6)}))
    with (
        pytest.raises(ArchiveError, match="unpacks to more"),
        open_archive(path, Limits(total_bytes=10**6)) as archive,
    ):
        list(archive.files())


@pytest.mark.parametrize("make", [targz, zipped])
def test_a_file_over_the_limit_is_not_read(
    tmp_path: Path, make: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    with pytest.raises(ArchiveError, match="big has 256000 bytes; 1000 are allowed"):
        read(tmp_path / "a", make(FILES), Limits(entry_bytes=1000))


@pytest.mark.parametrize("make", [targz, zipped])
def test_too_many_members_end_the_reading(
    tmp_path: Path, make: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    data = make({f"../{number}": b"" for number in range(5)})
    with pytest.raises(ArchiveError, match="more than the 4 entries"):
        read(tmp_path / "a", data, Limits(entries=4))


def long_end(length: int, start: int) -> bytes:
    """The record that a zip file with very many members has before its last one."""
    return struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, length, start)


def with_locator(plain: bytes, last: bytes, place: int) -> bytes:
    """A zip file with a long record, and a locator that says that it is at another place."""
    end = plain.rindex(b"PK\x05\x06")
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, place, 1)
    return plain[:end] + last + locator + plain[end:]


def test_a_long_list_of_members_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(zipped({f"{number:0200}": b"" for number in range(20)}))
    with path.open("rb") as file:
        # A folder is a member as well.
        archive_zip.check_directory(file, path, 21)
        for most in (20, 10):
            with pytest.raises(ArchiveError, match=f"more than the {most} entries"):
                archive_zip.check_directory(file, path, most)


def test_the_list_of_a_zip_file_is_looked_for_where_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    plain = zipped(FILES)
    end = plain.rindex(b"PK\x05\x06")
    start = int.from_bytes(plain[end + 16 : end + 20], "little")
    record = long_end(end - start, start)
    good = with_locator(plain, record, end)
    assert read(path, good) == FILES
    # The library goes by one of the places, and by which depends on its version.
    for last, place in ((record, 0), (bytes(56), end)):
        with pytest.raises(ArchiveError, match="its last records do not agree"):
            read(path, with_locator(plain, last, place))
    with pytest.raises(ArchiveError, match="its list of members is cut off"):
        read(path, with_locator(plain, long_end(10**6, start), end))


def test_reading_ends_when_the_time_is_over(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="takes longer than the -1 seconds allowed"):
        read(tmp_path / "a", targz(FILES), Limits(seconds=-1))


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_huge_header_is_not_taken_into_memory(tmp_path: Path, kind: bytes) -> None:
    header = info("x", 10**9, type=kind).tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(ArchiveError, match="header of 1000000000 bytes; 65536 are allowed"):
        read(tmp_path / "a", header + bytes(2048))


def test_headers_before_a_member_are_not_kept_whatever_their_number(tmp_path: Path) -> None:
    data = bytearray()
    for number in range(100):
        record = f" {number:05}=".encode() + b"v" * 60_000 + b"\n"
        body = str(len(record) + 5).encode() + record
        data += info("x", len(body), type=tarfile.XHDTYPE).tobuf() + body + bytes(-len(body) % 512)
    data += info("member").tobuf() + bytes(1024)
    path = tmp_path / "a"
    path.write_bytes(data)
    tracemalloc.start()
    try:
        with open_archive(path) as archive:
            assert [member.name for member in archive.files()] == ["member"]
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_sizes_beyond_eight_octal_digits_are_read_from_both_forms(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for layout in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        path.write_bytes(info("huge", 9 * 2**30).tobuf(layout))
        with open_archive(path) as archive:
            assert next(archive.files()).size == 9 * 2**30


def test_a_gzip_file_may_have_several_streams_and_zeros_at_its_end(tmp_path: Path) -> None:
    plain = tar(FILES)
    data = gzip.compress(plain[:700]) + gzip.compress(plain[700:]) + bytes(100)
    assert read(tmp_path / "a", data) == FILES


def test_what_follows_the_end_is_noted(tmp_path: Path) -> None:
    files = {"a": b"1"}
    _names, _skipped, notes = odd(tmp_path / "a", targz(files) + b"garbage")
    assert notes == ["something follows the end of the gzip stream; it was not read"]
    _names, _skipped, notes = odd(tmp_path / "a", tar(files) + tar({"b": b"2"}))
    assert notes == ["something follows the end mark of the tar file; it was not read"]
    names, _skipped, notes = odd(tmp_path / "a", tar(files)[:1024])
    assert (names, notes) == (["a"], ["the tar file has no end mark; it may be cut off"])


def test_a_file_that_is_cut_off_is_an_error_wherever_the_cut_is(tmp_path: Path) -> None:
    whole = targz({"a": os.urandom(3000), "b": b"2"})
    for length in range(20, len(whole) - 1, 97):
        with pytest.raises(ArchiveError, match=r"cut off|is not a tar"):
            read(tmp_path / "a", whole[:length])
    with pytest.raises(ArchiveError, match="cut off in a"):
        read(tmp_path / "a", tar({"a": bytes(3000)})[:2000])


def test_a_wrong_checksum_is_found_even_when_all_members_were_read(tmp_path: Path) -> None:
    data = bytearray(targz(FILES))
    data[-6] ^= 1
    with pytest.raises(ArchiveError, match="incorrect data check"):
        read(tmp_path / "a", bytes(data))
    packed = zipped({"a": b"text"}, zipfile.ZIP_STORED)
    with pytest.raises(ArchiveError, match="Bad CRC-32"):
        read(tmp_path / "a", packed.replace(b"text", b"TEXT", 1))


def test_zip_members_that_cannot_be_read_safely_are_skipped(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
        made.writestr("bz", b"x", zipfile.ZIP_BZIP2)
        made.writestr("../up", b"x")
        made.writestr("secret", b"x")
        made.writestr("Qx", b"x")
        made.writestr("plain", b"x")
    # A name ends at its first NUL character.
    data = bytearray(out.getvalue().replace(b"Qx", b"\0x"))
    entry = data.rindex(b"PK\x01\x02", 0, data.rindex(b"secret"))
    data[entry + 8] |= 1
    names, skipped, _notes = odd(tmp_path / "a", bytes(data))
    assert names == ["plain"]
    assert [(found.name, found.reason) for found in skipped] == [
        ("link", "a symbolic link"),
        ("bz", "compressed with method 12, and only stored and deflated can be read"),
        ("../up", "a path that leaves the archive"),
        ("secret", "encrypted"),
        ("", "no name"),
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"hello, world", "is not a tar, tar.gz or zip file"),
        (gzip.compress(b"hello, world", mtime=0), "is not a tar, tar.gz or zip file"),
        (lzma.compress(b"x"), "is a xz file; only tar, tar.gz and zip"),
        (bz2.compress(b"x"), "is a bzip2 file"),
        (b"PK\x03\x04 and so on", "its list of members is missing"),
    ],
)
def test_other_files_are_refused_with_what_they_are(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(ArchiveError, match=said):
        read(tmp_path / "a", data)


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("pipe", "not a plain file"), ("", "a folder"), ("none", "not there")):
        with pytest.raises(ArchiveError, match=said):
            open_archive(tmp_path / name)
    with pytest.raises(ArchiveError, match=r"cannot be opened|not there"):
        open_archive("a\0b")


def test_extract_writes_private_files_and_follows_no_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = tmp_path / "target"
    target.mkdir()
    others = [
        info("way", type=tarfile.SYMTYPE, linkname=str(outside)),
        info("config", type=tarfile.DIRTYPE, mode=0o777),
    ]
    files = {**FILES, "way/in": b"mine", "../up": b"no", "suid": b"1"}
    path = tmp_path / "a"
    path.write_bytes(tar(files, *others))
    with open_archive(path) as archive:
        done = extract(archive, target)
    assert (target / "way" / "in").read_bytes() == b"mine"
    assert not (target / "way").is_symlink()
    assert list(outside.iterdir()) == []
    assert not (tmp_path / "up").exists()
    assert done.files == len(FILES) + 2
    assert done.bytes == sum(map(len, FILES.values())) + 5
    for entry in target.rglob("*"):
        assert stat.S_IMODE(entry.stat().st_mode) == (0o700 if entry.is_dir() else 0o600)


def test_extract_writes_only_what_is_wanted_and_the_later_of_two(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    path = tmp_path / "a"
    first, second = tar({"a": b"first one"}), tar({"a": b"second", "b": b"no"})
    path.write_bytes(first[:1024] + second)
    with open_archive(path) as archive:
        assert extract(archive, target, lambda member: member.name == "a").files == 2
    assert {entry.name: entry.read_bytes() for entry in target.iterdir()} == {"a": b"second"}


@pytest.mark.parametrize(
    "files",
    [{"d/a": b"1", "z": bytes(2 * 10**6)}, {"d": b"1", "d/a": b"2"}, {"d/a": b"1", "d": b""}],
)
def test_after_a_failure_nothing_is_left(tmp_path: Path, files: dict[str, bytes]) -> None:
    target = tmp_path / "target"
    target.mkdir()
    path = tmp_path / "a"
    path.write_bytes(tar(files))
    with (
        pytest.raises(ArchiveError),
        open_archive(path, Limits(total_bytes=10**6)) as archive,
    ):
        extract(archive, target)
    assert list(target.iterdir()) == []


def test_extract_needs_an_empty_folder(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(tar(FILES))
    with open_archive(path) as archive:
        with pytest.raises(ArchiveError, match="is not empty"):
            extract(archive, tmp_path)
        with pytest.raises(ArchiveError, match="no folder to unpack into"):
            extract(archive, tmp_path / "none")
    assert path.exists()


@given(st.text(alphabet=st.sampled_from("ab./\\\0é\n"), max_size=30))
def test_a_safe_name_stays_inside_whatever_it_was(raw: str) -> None:
    try:
        name = safe_name(raw)
    except ValueError:
        return
    assert name
    assert not {"", ".", ".."} & set(name.split("/"))
    assert "\0" not in name
    assert safe_name(name) == name


@pytest.mark.parametrize("raw", ["a" * 256, "a/" * 101 + "b", "ab/" * 1500, "é" * 128])
def test_names_too_long_for_a_file_system_are_refused(raw: str) -> None:
    with pytest.raises(ValueError, match="too long"):
        safe_name(raw)


SMALL = {"config/id": b"abc", "n" * 120: b"x" * 700}
WHOLES = [
    tar(SMALL, layout=tarfile.PAX_FORMAT),
    tar(SMALL, info("l", type=tarfile.SYMTYPE), layout=tarfile.GNU_FORMAT),
    gzip.compress(tar(SMALL), mtime=0),
    zipped(SMALL),
]


@given(
    whole=st.sampled_from(WHOLES),
    changes=st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), max_size=6),
    cut=st.integers(0, 2**16),
)
def test_a_damaged_archive_ends_with_an_archive_error_or_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    whole: bytes,
    changes: list[tuple[int, int]],
    cut: int,
) -> None:
    data = bytearray(whole)
    for place, value in changes:
        data[place % len(data)] = value
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(data[: len(data) - cut % len(data)] if cut % 2 else data)
    limits = Limits(entries=50, entry_bytes=10_000, total_bytes=100_000)
    with suppress(ArchiveError), open_archive(path, limits) as archive:
        for member in archive.files():
            assert safe_name(member.name) == member.name
            assert len(member.read()) <= member.size
