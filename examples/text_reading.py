"""Reads text with three PP-OCR networks: finds lines, turns them upright, reads them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from skimage import measure

Network = Callable[[np.ndarray], np.ndarray]
FONTS = ("DejaVuSans", "DejaVuSerif", "DejaVuSansMono", "DejaVuSans-Bold", "DejaVuSerif-Bold")
LINE_HEIGHT = 48


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of text in a picture.

    Attributes:
        text: what it says.
        box: left, top, right, bottom, in pixels.
        confidence: mean probability of its characters.
        turned: whether it stood upside down.
    """

    text: str
    box: tuple[int, int, int, int]
    confidence: float
    turned: bool


def font(name: str, size: int) -> ImageFont.FreeTypeFont:
    """Returns a font that matplotlib carries."""
    return ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/{name}.ttf", size)


def draw_page(lines: Sequence[tuple[str, str, int, bool]], ink: str, paper: str) -> Image.Image:
    """Returns a picture of lines, each (text, font, size, whether upside down)."""
    page = Image.new("RGB", (640, 48 + sum(size + 40 for _, _, size, _ in lines)), paper)
    top = 32
    for text, name, size, turned in lines:
        face = font(name, size)
        strip = Image.new("RGB", (round(face.getlength(text)) + 8, round(size * 1.3)), paper)
        ImageDraw.Draw(strip).text((4, 0), text, ink, face)
        page.paste(strip.rotate(180) if turned else strip, (32, top))
        top += size + 40
    return page


def normalized(picture: Image.Image, width: int, height: int) -> np.ndarray:
    """Returns a resized picture as [1, 3, height, width] in -1 to 1, blue first."""
    pixels = np.asarray(picture.resize((width, height), Image.Resampling.BILINEAR), np.float32)
    return np.ascontiguousarray((pixels[..., ::-1] / 127.5 - 1).transpose(2, 0, 1)[None])


def page_input(page: Image.Image) -> np.ndarray:
    """Returns what the detector takes: sides that are multiples of 32."""
    return normalized(page, *(max(32, round(side / 32) * 32) for side in page.size))


def line_input(line: Image.Image, width: int) -> np.ndarray:
    """Returns what the other two take: 48 pixels high, grey at the right."""
    wide = min(width, max(1, round(line.width * LINE_HEIGHT / line.height)))
    padded = np.zeros((1, 3, LINE_HEIGHT, width), np.float32)
    padded[..., :wide] = normalized(line, wide, LINE_HEIGHT)
    return padded


def find_boxes(probabilities: np.ndarray, size: tuple[int, int]) -> list[tuple[int, ...]]:
    """Returns boxes of lines, top first: connected pixels, widened as DB's shrunk regions ask.

    Args:
        probabilities: [h, w], that a pixel is within a line's middle.
        size: width and height of the picture.
    """
    height, width = probabilities.shape
    scale = np.tile([size[0] / width, size[1] / height], 2)
    boxes = []
    for region in measure.regionprops(measure.label(probabilities > 0.3), probabilities):
        top, left, bottom, right = region.bbox
        w, h = right - left, bottom - top
        if min(w, h) < 3 or region.intensity_mean < 0.5:
            continue
        grow = w * h * 1.6 / (2 * (w + h))
        box = np.array([left - grow, top - grow, right + grow, bottom + grow]) * scale
        boxes.append(tuple(np.clip(np.rint(box), 0, np.tile(size, 2)).astype(int).tolist()))
    return sorted(boxes, key=lambda box: box[1])


def decode(probabilities: np.ndarray, characters: Sequence[str]) -> tuple[str, float]:
    """Returns the text of [steps, characters] and its confidence: repeats merge, 0 is a blank."""
    best = probabilities.argmax(1)
    starts = [i for i, k in enumerate(best) if k and (i == 0 or k != best[i - 1])]
    confidence = float(probabilities.max(1)[starts].mean()) if starts else 0.0
    return "".join(characters[best[i] - 1] for i in starts), confidence


def read_page(
    page: Image.Image, networks: Mapping[str, Network], characters: Sequence[str]
) -> list[Line]:
    """Returns the lines of a page, from networks named "find", "turn" and "read"."""
    boxes = find_boxes(networks["find"](page_input(page))[0, 0], page.size)
    lines = []
    for box in boxes:
        crop = page.crop(box)
        upside_down = float(networks["turn"](line_input(crop, 192))[0, 1])
        turned = upside_down > 0.9
        crop = crop.rotate(180) if turned else crop
        width = max(320, -(-crop.width * LINE_HEIGHT // crop.height // 32) * 32)
        text, confidence = decode(networks["read"](line_input(crop, width))[0], characters)
        lines.append(Line(text, box, confidence, turned))
    return lines


def draw_lines(page: Image.Image, lines: Sequence[Line]) -> Image.Image:
    """Returns the page with the boxes, and on its right the texts."""
    canvas = Image.new("RGB", (2 * page.width, page.height), "white")
    canvas.paste(page)
    pen = ImageDraw.Draw(canvas)
    for line in lines:
        pen.rectangle(line.box, outline="red", width=2)
        note = f"{line.text} ({line.confidence:.0%}{', turned' if line.turned else ''})"
        pen.text((page.width + 10, line.box[1] + 8), note, "black", font("DejaVuSans", 20))
    return canvas


def training_pages(count: int) -> list[tuple[Image.Image, list[Image.Image]]]:
    """Returns pages for calibration with the crops of their lines; none is in the demo's page."""
    rng = np.random.default_rng(20)
    words = "Quick brown foxes jump over 13 lazy dogs; Grand total: 1,984.50 (VAT 21%) Street"
    words = [*words.split(), "Zürich", "No.", "2026-11-30", "PARIS", "hello@mail.org"]
    colors = itertools.cycle([("black", "white"), ("navy", "#eeeeaa"), ("white", "#334455")])
    pages = []
    for _ in range(count):
        ink, paper = next(colors)
        lines = [
            (" ".join(rng.choice(words, 3)), FONTS[rng.integers(len(FONTS))],
             int(rng.integers(20, 32)), bool(rng.integers(2)))
            for _ in range(4)
        ]  # fmt: skip
        crops = [draw_page([(t, f, s, False)], ink, paper).crop((24, 24, 616, s + 52))
                 for t, f, s, _ in lines]  # fmt: skip
        pages.append((draw_page(lines, ink, paper), crops))
    return pages
