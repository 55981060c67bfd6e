"""How every picture looks: colours that the colour-blind tell apart, shapes that survive grey.

Colours are Okabe and Ito's. No picture may need them: what differs in colour differs in line style,
marker or hatching too. Text in SVG files stays text, and equal pictures are equal files.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from stopwise.core.optional import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

F = TypeVar("F", bound=Callable[..., Any])

BLUE, VERMILLION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
SKY, ORANGE, YELLOW, BLACK = "#56b4e9", "#e69f00", "#f0e442", "#000000"
INK, GREY = "#222222", "#6b6b6b"

COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE, BLACK)
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (5, 1.5, 1, 1.5)), (0, (1, 1.2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "||||", "++++")

DOTS_PER_INCH = 160
SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8.0,
    "axes.labelsize": 10.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "hatch.linewidth": 1.0,
    "legend.frameon": True,
    "legend.facecolor": "white",
    "legend.edgecolor": "none",
    "legend.framealpha": 0.9,
    "legend.fontsize": 9.0,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "stopwise",
}


@contextmanager
def style() -> Iterator[None]:
    """The look, for as long as the block lasts."""
    with load("matplotlib", "picture", "plots").rc_context(SETTINGS):
        yield


def looked(draw: F) -> F:
    """A function that draws, with the look."""

    @functools.wraps(draw)
    def drawn(*given: Any, **named: Any) -> Any:
        with style():
            return draw(*given, **named)

    return cast("F", drawn)


def canvas(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Figure, Any]:
    """A figure of so many inches and its axes, without the global state of pyplot."""
    load("matplotlib", "picture", "plots")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def series_style(place: int) -> dict[str, Any]:
    """Colour and dashes of the series number ``place`` among lines."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": DASHES[place % len(DASHES)],
    }


def marker_style(place: int) -> dict[str, Any]:
    """The same with markers, for points that are joined by lines."""
    marks = {"marker": MARKERS[place % len(MARKERS)], "markeredgecolor": "white"}
    return {**series_style(place), **marks}


def bar_style(place: int) -> dict[str, Any]:
    """A pale area with a coloured edge and hatching, for histograms that overlap."""
    colour = COLOURS[place % len(COLOURS)]
    hatch = HATCHES[place % len(HATCHES)]
    return {"facecolor": (*_rgb(colour), 0.25), "edgecolor": colour, "hatch": hatch}


def tint(colour: str, share: float) -> str:
    """The colour mixed with white; ``share`` of 1 is the colour itself."""
    mixed = (round(255 * (1.0 - share * (1.0 - each))) for each in _rgb(colour))
    return "#" + "".join(f"{each:02x}" for each in mixed)


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue


def save(figure: Figure, folder: Path, name: str) -> tuple[Path, Path]:
    """The figure as ``name``.png and ``name``.svg."""
    picture, drawing = folder / f"{name}.png", folder / f"{name}.svg"
    with style():
        figure.savefig(picture, dpi=DOTS_PER_INCH, metadata={"Software": None})
        figure.savefig(drawing, metadata={"Date": None, "Creator": None})
    return picture, drawing
