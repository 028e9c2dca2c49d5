"""Every setting has one default, and its help shows it."""

from __future__ import annotations

import pytest

from exporter.settings.table import SETTINGS, Setting, Settings


def test_every_setting_has_its_row_and_its_default() -> None:
    rows = {setting.attribute for setting in SETTINGS}

    assert rows == set(Settings.__dataclass_fields__) - {"dsn", "targets"}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.path)
def test_the_default_in_the_help_is_what_the_setting_would_read(
    setting: Setting,
) -> None:
    _, _, shown = setting.help.rpartition(" (default ")

    if setting.default is None:
        assert setting.help == setting.purpose
    else:
        assert setting.kind.read(shown.removesuffix(")")) == setting.default
