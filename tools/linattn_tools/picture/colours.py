"""The families in words and colours: for light pages and for dark ones."""

from dataclasses import dataclass

LIGHT, DARK = "#ffffff", "#12161d"  # the page itself


@dataclass(frozen=True)
class Colour:
    """Of a family: of its lines, and mixed with the page, of its boxes."""

    words: str
    light: str
    dark: str

    @property
    def light_box(self) -> str:
        return mixed(self.light, LIGHT, 0.1)

    @property
    def dark_box(self) -> str:
        return mixed(self.dark, DARK, 0.2)


def mixed(colour: str, page: str, share: float) -> str:
    pairs = ((int(colour[n : n + 2], 16), int(page[n : n + 2], 16)) for n in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


COLOURS = (  # in the order of ``linattn.variants.FAMILIES``
    Colour("softmax", "#c2410c", "#fb923c"),
    Colour("outer products", "#1d4ed8", "#7aa7ff"),
    Colour("delta rules", "#be185d", "#f472b6"),
    Colour("scans", "#0f766e", "#2dd4bf"),
    Colour("ancestors", "#57534e", "#b8b2ab"),
    Colour("exponential weights", "#7c3aed", "#b79bff"),
    Colour("slots", "#a16207", "#facc15"),
    Colour("regression", "#4d7c0f", "#a3e635"),
    Colour("log-linear", "#0284c7", "#38bdf8"),
)
