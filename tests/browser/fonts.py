"""The fonts of the browser tests: DejaVu from the matplotlib package, whatever fonts a machine has or lacks.

On Linux ``fontconfig_file`` makes them the only fonts of the browser. ``draw_in`` changes the width of a page's text on
every system: a font face made from bytes needs no installed font, and goes before the families of the same name.
"""

import base64
from functools import cache
from importlib import metadata
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest
from fontTools import subset
from playwright.sync_api import Page

NARROW: Final = 80
"""Per cent of the size of DejaVu Sans. About as wide as Arial Narrow."""
WIDE: Final = 120
"""A fifth wider than DejaVu Sans and Verdana, which are the widest fonts that readers commonly have."""

FOLDER: Final = Path(str(metadata.distribution("matplotlib").locate_file("matplotlib/mpl-data/fonts/ttf")))
"""Found without an import, which would take a second."""
FAMILIES: Final = {"--sans": ("Inter", "DejaVuSans"), "--mono": ("JetBrains Mono", "DejaVuSansMono")}
"""Variable of the style sheet: (the family it names first, the files that are drawn instead)."""
ZERO: Final = {"--sans": 1303 / 2048, "--mono": 1233 / 2048}
"""Width of the digit 0 in those files, in em."""

_DRAW = """async ({ faces, percent }) => {
  window.facesOfTests ??= faces.map(([family, weight, data]) =>
    [family, weight, Uint8Array.from(atob(data), one => one.charCodeAt(0)).buffer]);
  document.fonts.clear();
  for (const [family, weight, data] of window.facesOfTests)
    document.fonts.add(new FontFace(family, data, { weight, sizeAdjust: `${percent}%` }));
  await document.fonts.ready;
}"""
_ZEROS = """families => families.map(family => {
  const probe = document.createElement("span");
  probe.textContent = "0".repeat(10);
  probe.style.cssText = `position: absolute; font: 400 100px ${family}; letter-spacing: 0`;
  document.body.append(probe);
  const { width } = probe.getBoundingClientRect();
  probe.remove();
  return width / 1000;
})"""


def draw_in(page: Page, percent: int) -> None:
    """Draw the text of a page in DejaVu at so many per cent of its size. Fails the test if the page does not."""
    known = page.evaluate("() => 'facesOfTests' in window")
    page.evaluate(_DRAW, {"faces": [] if known else _faces(), "percent": percent})
    wanted = {name: width * percent / 100 for name, width in ZERO.items()}
    if (found := zeros(page, *[f"var({name})" for name in ZERO])) != pytest.approx(list(wanted.values()), abs=0.01):
        pytest.fail(f"The page is not drawn in the fonts of the tests: 0 is {found} em wide instead of {wanted}.")


def zeros(page: Page, *families: str) -> list[float]:
    """How wide the digit 0 is in each family, in em."""
    return list(page.evaluate(_ZEROS, list(families)))


def fontconfig_file(folder: Path) -> Path:
    """A configuration below *folder* that knows the fonts of the tests and no other."""
    fonts = folder / "fonts"
    fonts.mkdir()
    for _, name in FAMILIES.values():
        for weight in ("", "-Bold"):
            (fonts / f"{name}{weight}.ttf").write_bytes(_read(f"{name}{weight}.ttf"))
    aliases = "".join(
        f"<alias binding='same'><family>{generic}</family><prefer><family>{name}</family></prefer></alias>\n"
        for generic, name in (("sans-serif", "DejaVu Sans"), ("monospace", "DejaVu Sans Mono"))
    )
    file = folder / "fonts.conf"
    file.write_text(
        "<?xml version='1.0'?>\n<!DOCTYPE fontconfig SYSTEM 'fonts.dtd'>\n<fontconfig>\n"
        f"<dir>{fonts}</dir>\n<cachedir>{folder / 'cache'}</cachedir>\n{aliases}</fontconfig>\n",
        encoding="utf-8",
    )
    return file


@cache
def _faces() -> list[tuple[str, str, str]]:
    return [
        (family, weight, base64.b64encode(_read(f"{name}{suffix}.ttf")).decode())
        for family, name in FAMILIES.values()
        for weight, suffix in (("400", ""), ("700", "-Bold"))
    ]


def _read(name: str) -> bytes:
    """The letters and signs of the file that pages use: as little as possible goes to each page."""
    file = FOLDER / name
    if not file.is_file():
        pytest.fail(f"The fonts of the browser tests are missing: no {file}. Install matplotlib anew.", pytrace=False)
    options = subset.Options(layout_features=[], hinting=False, notdef_outline=True)
    font = subset.load_font(file, options)
    signs = subset.Subsetter(options)
    signs.populate(
        unicodes=[*range(0x20, 0x180), *range(0x2000, 0x2070), *range(0x2190, 0x2260), *range(0x25A0, 0x2720)]
    )
    signs.subset(font)
    written = BytesIO()
    font.save(written)
    font.close()
    return written.getvalue()
