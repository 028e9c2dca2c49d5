from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.postgres.connecting.encodings import Encoding, name_shown, text_shown

UTF8, ANY, LATIN1 = Encoding("UTF8"), Encoding("SQL_ASCII"), Encoding("LATIN1")
# All that a database may have. Source: PostgreSQL documentation, 23.3.1.
NAMES = (
    *("EUC_CN", "EUC_JP", "EUC_JIS_2004", "EUC_KR", "ISO_8859_5", "ISO_8859_6"),
    *("ISO_8859_7", "ISO_8859_8", "KOI8R", "KOI8U", "UTF8", "WIN866", "WIN874"),
    *(f"LATIN{number}" for number in range(1, 11)),
    *(f"WIN{number}" for number in range(1250, 1259)),
)


@pytest.mark.parametrize("name", NAMES)
def test_python_knows_the_encodings_of_databases(name: str) -> None:
    assert Encoding(name).codec is not None


@pytest.mark.parametrize("name", ["SQL_ASCII", "EUC_TW", "MULE_INTERNAL", ""])
def test_other_encodings_are_any_bytes(name: str) -> None:
    assert Encoding(name).codec is None


@given(data=st.binary(), name=st.sampled_from(["UTF8", "SQL_ASCII", "LATIN1", ""]))
def test_exact_text_gives_the_same_bytes_again(data: bytes, name: str) -> None:
    encoding = Encoding(name)

    assert encoding.encode(encoding.exactly(data)) == data


@given(data=st.binary(), name=st.sampled_from(NAMES))
def test_everything_can_be_shown(data: bytes, name: str) -> None:
    for shown in (
        name_shown(data, Encoding(name)),
        text_shown(data, ANY, Encoding(name)),
    ):
        assert shown.encode("utf-8").decode("utf-8") == shown


def test_a_name_is_utf8_first_and_then_that_of_the_database() -> None:
    assert name_shown("é".encode(), LATIN1) == "é"
    assert name_shown(b"caf\xe9", LATIN1) == "café"
    assert name_shown(b"caf\xe9", UTF8) == "caf\\xe9"
    assert name_shown(b"caf\xe9", ANY) == "caf\\xe9"


def test_a_text_is_that_of_the_first_known_encoding() -> None:
    assert text_shown("é".encode(), LATIN1) == "Ã©"
    assert text_shown("é".encode(), ANY, UTF8) == "é"
    assert text_shown(b"caf\xe9", ANY, LATIN1) == "café"


def test_a_character_that_was_cut_is_left_out() -> None:
    assert text_shown("слово".encode()[:5], ANY, UTF8) == "сл"
