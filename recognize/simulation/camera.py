"""A made-up phone camera: a flat page raster in, the photograph of it bent on a desk out, with the exact truth."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from recognize.simulation.bend import Points, Surface
from recognize.simulation.desks import (
    PX_PER_MM,
    DeskKind,
    Image,
    clutter,
    made_desk,
    made_grain,
    paper_grain,
    photo_folder,
    real_desk,
)
from recognize.simulation.shots import CONDITIONS, Occluder, Shadow, Shot, draw_shot

__all__ = [
    "CONDITIONS",
    "Occluder",
    "Photo",
    "Shadow",
    "Shot",
    "as_jpeg",
    "as_printed",
    "draw_shot",
    "photograph",
    "worn_print",
]

Plane = NDArray[np.float32]

PAPER = 0.85
"""The share of light that white paper gives back."""
_LENS = 26.0 / 43.27
"""Focal length over the picture's diagonal: a phone's main camera, 26 mm on 35-mm film."""


@dataclass(frozen=True)
class Photo:
    """A photograph and the truth about it. `image` is the uint8 BGR picture that `encoded`, a JPEG file, holds."""

    image: Image
    encoded: bytes
    shot: Shot
    _view: "_View" = field(repr=False)
    _cover: Image | None = field(repr=False)

    def truth(self, page_mm: Points) -> Points:
        """Where points of the form (N, 2), in millimetres, lie in the picture, in pixels; a pixel's centre has whole
        coordinates. Points outside the picture get coordinates outside it."""
        pixels = self._view.project(np.asarray(page_mm, dtype=np.float64))
        return (pixels + 0.5) * self._scale - 0.5

    def in_frame(self, page_mm: Points) -> NDArray[np.bool_]:
        """Which points of the form (N, 2), in millimetres, lie inside the picture."""
        at = self.truth(page_mm)
        height, width = self.image.shape[:2]
        return np.asarray(((at > -0.5) & (at < np.array([width, height]) - 0.5)).all(axis=1))

    def visible(self, page_mm: Points) -> NDArray[np.bool_]:
        """Which points of the form lie inside the picture with no thumb, pen, card, cup or ruler over them."""
        seen = self.in_frame(page_mm)
        if self._cover is None:
            return seen
        h, w = self._cover.shape
        at = (self._view.project(np.asarray(page_mm, dtype=np.float64)) / _HALF).round().astype(int)
        at = np.clip(at, 0, [w - 1, h - 1])
        return seen & (self._cover[at[:, 1], at[:, 0]] < 128)

    def px_per_mm(self) -> float:
        """How many pixels a millimetre takes in the middle of the page, the mean of across and down."""
        across, down = self.truth(self._view.middle + np.array([[-5, 0], [5, 0], [0, -5], [0, 5.0]])).reshape(2, 2, 2)
        lengths = [np.linalg.norm(np.diff(pair, axis=0)) for pair in (across, down)]
        return float(sum(lengths) / 20)

    @property
    def _scale(self) -> Points:
        return np.array([self.image.shape[1], self.image.shape[0]]) / np.array(self.shot.size)


_HALF = 2
"""Desk and occluders are drawn at this part of the picture's size; they need no detail."""


def as_jpeg(photo: Photo, quality: int | None = None, orientation: int | None = None) -> bytes:
    """The photo as a JPEG file: as the camera or messenger wrote it, or packed once more at `quality`.

    `orientation` (1-8) writes that EXIF tag; the pixels stay as they are.
    """
    data = photo.encoded
    if quality is not None:
        data = _jpeg(photo.image, quality)
    if orientation is not None:
        # The smallest EXIF block: one big-endian TIFF directory with the orientation (tag 0x0112, a short) alone.
        tag = b"\x01\x12\x00\x03\x00\x00\x00\x01" + orientation.to_bytes(2, "big") + b"\x00\x00"
        exif = b"Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01" + tag + b"\x00\x00\x00\x00"
        data = data[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + data[2:]
    return data


def photograph(
    page: Image, px_per_mm: float, shot: Shot, rng: np.random.Generator, background: Path | None = None
) -> Photo:
    """The page, a flat raster of the whole sheet (H, W) or (H, W, 3) BGR, photographed as `shot` says.

    `rng` draws what the shot leaves open: the desk's pattern, paper grain, noise, scribbles. `background` is a folder
    of real pictures (`backgrounds`, `paper_textures`); by default $PULKA_PHOTOS where that is set.
    """
    if page.ndim == 2:
        page = cv2.cvtColor(page, cv2.COLOR_GRAY2BGR)
    if shot.scribbles:
        page = _scribble(page, px_per_mm, shot.scribbles, rng)
    folder = photo_folder(background)
    view = _View(shot, page.shape[1] / px_per_mm, page.shape[0] / px_per_mm)

    width, height = shot.size
    coarse = _coarse_grid(width, height, view.mesh)
    sheet, desk = view.look(coarse.reshape(-1, 2))
    sheet_map, desk_map = (m.reshape(*coarse.shape[:2], 2).astype(np.float32) for m in (sheet, desk))
    light = _light(shot, view, sheet, desk, rng).reshape(coarse.shape[:2])
    edge = _edge_distance(sheet_map, view)

    # The sheet is drawn from a raster only a little finer than the picture, so that sampling it does not alias.
    page, raster_scale = _fitting_raster(page, px_per_mm, view)
    printed = (view.to_form(sheet).reshape(sheet_map.shape) * raster_scale - 0.5).astype(np.float32)
    at = _blow_up(printed, view.mesh, width, height)
    alpha = np.clip(_blow_up(edge * view.px_per_mm + 0.5, view.mesh, width, height), 0, 1)
    shade = _blow_up(light, view.mesh, width, height)

    reflect = PAPER * _TO_LINEAR
    grain = paper_grain(folder, rng) if folder else None
    grain = made_grain(rng) if grain is None else grain
    tiles = [-(-page.shape[i] // grain.shape[i]) for i in (0, 1)]
    grain = np.tile(grain, tiles)[: page.shape[0], : page.shape[1]]
    under = _desk_picture(shot, folder, rng)
    under_at = _blow_up((desk_map + 2500) * PX_PER_MM, view.mesh // _HALF, width // _HALF, height // _HALF)
    contact = _contact(shot, view, desk).reshape(coarse.shape[:2])
    contact = _blow_up(contact, view.mesh // _HALF, width // _HALF, height // _HALF)
    things, cover = _things(shot, view, rng)
    gloss = _glare(shot, view, sheet)
    glossy = None if gloss is None else _blow_up(gloss.reshape(coarse.shape[:2]), view.mesh, width, height)
    tone, exposure = _tone(shot, view, light, sheet)

    noise = rng.standard_normal((height, width), dtype=np.float32)
    noise = cv2.GaussianBlur(noise, (0, 0), 0.6)
    noise *= np.float32(shot.noise / 0.47)
    # One channel at a time, in the same two buffers: a 12-megapixel float picture is 48 MB.
    plane, other = np.empty_like(noise), np.empty_like(noise)
    channels = []
    for c in range(3):
        raster = reflect[page[..., c]]
        raster *= grain
        cv2.remap(raster, at, None, cv2.INTER_LINEAR, plane, cv2.BORDER_CONSTANT, PAPER)
        low = cv2.remap(_TO_LINEAR[under[..., c]], under_at, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
        low *= contact
        cv2.resize(low, (width, height), other, interpolation=cv2.INTER_LINEAR)
        plane -= other
        plane *= alpha
        plane += other
        if things is not None and cover is not None:
            over = cv2.resize(cover, (width, height), interpolation=cv2.INTER_LINEAR).astype(np.float32) / 255
            cv2.resize(things[..., c], (width, height), other, interpolation=cv2.INTER_LINEAR)
            plane += over * (other - plane)
        plane *= shade
        if glossy is not None:
            plane += glossy
        _blur(plane, other, shot)
        plane *= np.float32(exposure * shot.lamp[c] * 65535 / _HEADROOM)
        np.take(tone, np.minimum(plane, 65535, out=plane).astype(np.uint16), out=other, mode="clip")
        other += noise
        channels.append(cv2.convertScaleAbs(np.maximum(other, 0, out=other)))
    image = cv2.merge(channels)
    if shot.sharpen:
        soft = cv2.GaussianBlur(image, (0, 0), 1.2)
        image = cv2.addWeighted(image, 1 + shot.sharpen, soft, -shot.sharpen, 0)
    data = _jpeg(image, shot.jpeg if shot.shrink is None else 90)
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if shot.shrink is not None and shot.shrink < max(width, height):
        scale = shot.shrink / max(width, height)
        size = (round(width * scale), round(height * scale))
        data = _jpeg(cv2.resize(image, size, interpolation=cv2.INTER_AREA), shot.jpeg)
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return Photo(np.asarray(image, dtype=np.uint8), data, shot, view, cover)


def worn_print(page: Image, toner: float, rng: np.random.Generator) -> Image:
    """The blank sheet as a worn printer leaves it, before anyone writes on it: `toner` (0-1) is how much of the black
    comes out; thin streaks down the paper get less still."""
    across = rng.uniform(0.85, 1.0, max(2, page.shape[1] // 40)).astype(np.float32)
    across = cv2.resize(across[None, :], (page.shape[1], page.shape[0]), interpolation=cv2.INTER_LINEAR)
    specks = rng.random(page.shape[:2], dtype=np.float32) > 0.06
    density = toner * across * specks
    if page.ndim == 3:
        density = density[..., None]
    return (255 - (255 - page) * density).astype(np.uint8)


def as_printed(page: Image, px_per_mm: float, shot: Shot, rng: np.random.Generator) -> Image:
    """The blank sheet as it came out of the printer, or of the copier after it, by what the shot says of them."""
    if shot.toner < 1.0:
        page = worn_print(page, shot.toner, rng)
    return photocopied(page, px_per_mm, rng) if shot.copied else page


def photocopied(page: Image, px_per_mm: float, rng: np.random.Generator) -> Image:
    """A careless copy: black and white hard against each other, dust, and a strip lost along one side."""
    soft = cv2.GaussianBlur(page, (0, 0), 0.08 * px_per_mm)
    least = float(rng.uniform(170, 215))
    out = np.clip((soft.astype(np.float32) - least) * 4 + 128, 0, 255)
    height, width = out.shape[:2]
    for x, y in rng.uniform((0, 0), (width, height), (int(rng.integers(30, 200)), 2)):
        cv2.circle(out, (int(x), int(y)), max(1, int(rng.uniform(0.05, 0.2) * px_per_mm)), (40.0,) * 3, -1)
    lost = int(rng.uniform(0, 11) * px_per_mm)
    strips = (np.s_[:lost], np.s_[height - lost :], np.s_[:, :lost], np.s_[:, width - lost :])
    out[strips[int(rng.integers(4))]] = 255
    return out.astype(np.uint8)


class _View:
    """The camera before the bent sheet: from the form to the picture and back."""

    def __init__(self, shot: Shot, width: float, height: float) -> None:
        self.shot = shot
        self.paper = np.array([width, height])
        self.middle = self.paper / 2
        self.surface = Surface(shot.bend, width, height)
        w, h = shot.size
        self.focal = _LENS * np.hypot(w, h)
        self.frame_middle = np.array([(w - 1) / 2, (h - 1) / 2])
        tilt, azimuth = np.deg2rad(shot.tilt), np.deg2rad(shot.azimuth)
        # World: x right and y down the page, z into the desk; the camera stands at negative z.
        ahead = np.array([-np.sin(tilt) * np.cos(azimuth), -np.sin(tilt) * np.sin(azimuth), np.cos(tilt)])
        right = np.array([1.0, 0, 0]) - ahead * ahead[0]
        right /= np.linalg.norm(right)
        down = np.cross(ahead, right)
        spin = np.deg2rad(shot.turn + shot.roll)
        self.right = np.cos(spin) * right - np.sin(spin) * down
        self.down = np.sin(spin) * right + np.cos(spin) * down
        self.ahead = ahead
        self.mesh = 4 if shot.bend.kind == "fold" else 16
        self.eye = self._stand()

    def to_sheet(self, form_mm: Points) -> Points:
        """Millimetres on the form -> on the real sheet, from its middle: printers scale and shift."""
        return (form_mm - self.middle) * self._print_scale + np.array(self.shot.print_shift)

    def to_form(self, sheet: Points) -> Points:
        return (sheet - np.array(self.shot.print_shift)) / self._print_scale + self.middle

    @property
    def _print_scale(self) -> Points:
        return self.shot.print_scale * np.array([self.shot.print_stretch, 1.0])

    def project(self, form_mm: Points) -> Points:
        """Millimetres on the form -> pixels of the picture as taken."""
        return self._image(self.eye, self._space(self.to_sheet(form_mm)))

    def on_desk(self, sheet: Points) -> Points:
        """Millimetres on the sheet from its middle -> pixels, lying flat on the desk."""
        return self._image(self.eye, np.concatenate([sheet, np.zeros((len(sheet), 1))], axis=1))

    def look(self, pixels: Points) -> tuple[Points, Points]:
        """Pixels -> where on the sheet (from its middle) and where on the desk they look, both in millimetres."""
        flat = (pixels - self.frame_middle) / self.focal
        plain = flat.copy()
        for _ in range(6):
            plain = flat / self._barrel(plain)
        rays = plain[:, :1] * self.right + plain[:, 1:] * self.down + self.ahead
        # The surface speaks of heights, which grow towards the camera.
        up = np.array([1, 1, -1])
        desk = np.clip(self.eye[:2] - rays[:, :2] / rays[:, 2:] * self.eye[2], -2500, 2500)
        if self.shot.bend.kind == "flat":
            return desk, desk
        return self.surface.hit(self.eye * up, rays * up), desk

    @cached_property
    def outline(self) -> Points:
        """Points round the sheet's edge, from its middle."""
        w, h = self.middle
        u = np.linspace(-1, 1, 25)
        one = np.ones_like(u)
        sides = [(u, -one), (one, u), (-u, one), (-one, -u)]
        return np.concatenate([np.stack([x * w, y * h], axis=1) for x, y in sides])

    @cached_property
    def px_per_mm(self) -> float:
        """Pixels a millimetre in the middle of the sheet."""
        a, b = self.project(self.middle + np.array([[-5.0, -5.0], [5.0, 5.0]]))
        return float(np.linalg.norm(b - a) / np.hypot(10, 10))

    def _space(self, sheet: Points) -> Points:
        return self.surface.to_space(sheet) * np.array([1, 1, -1])

    def _barrel(self, plain: Points) -> Points:
        corner = (0.5 / _LENS) ** 2
        return 1 + self.shot.distortion * (plain**2).sum(axis=1, keepdims=True) / corner

    def _image(self, eye: Points, space: Points) -> Points:
        seen = space - eye
        plain = np.stack([seen @ self.right, seen @ self.down], axis=1) / (seen @ self.ahead)[:, None]
        return plain * self._barrel(plain) * self.focal + self.frame_middle

    def _stand(self) -> Points:
        """Where the camera must be for the sheet to fill its share of the frame and be where the shot wants it."""
        outline = self._space(self.outline)
        frame = np.array(self.shot.size)
        distance, target = 400.0, np.zeros(3)

        def pan(wish: Points) -> Points:
            """The target moved so that the picture moves by `wish` pixels; only along the desk, to keep its size."""
            shift = -(wish[0] * self.right + wish[1] * self.down) * distance / self.focal
            return np.asarray(target + shift - self.ahead * shift[2] / self.ahead[2])

        for _ in range(60):
            at = self._image(target - distance * self.ahead, outline)
            low, high = at.min(axis=0), at.max(axis=0)
            target = pan(frame * np.array(self.shot.offset) - ((low + high) / 2 - self.frame_middle))
            distance *= float(((high - low) / frame).max() / self.shot.fill) ** 0.6
        w, h = self.middle
        for _ in range(15 if self.shot.cut else 0):
            wish = np.zeros(2)
            for side, mm in self.shot.cut:
                # The line `mm` inside that side of the sheet shall lie on the frame's edge nearest to it.
                x, y = {"left": (mm - w, 0), "right": (w - mm, 0), "top": (0, mm - h), "bottom": (0, h - mm)}[side]
                line, middle = self._image(target - distance * self.ahead, self._space(np.array([[x, y], [0.0, 0.0]])))
                axis = int(np.argmax(np.abs(line - middle)))
                wish[axis] = (0 if line[axis] < middle[axis] else frame[axis] - 1) - line[axis]
            target = pan(0.7 * wish)
        return target - distance * self.ahead


def _coarse_grid(width: int, height: int, step: int) -> Points:
    """Every `step`-th pixel, one beyond the end on both axes, (rows, columns, 2)."""
    x, y = np.meshgrid(np.arange(-(-width // step) + 1) * step, np.arange(-(-height // step) + 1) * step)
    return np.stack([x, y], axis=-1).astype(np.float64)


def _blow_up(coarse: Plane, step: int, width: int, height: int) -> Plane:
    """A coarse grid back to every pixel. The steps are powers of two below 32, so warpAffine's weights are exact."""
    matrix = np.array([[1 / step, 0, 0], [0, 1 / step, 0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    grown = cv2.warpAffine(coarse.astype(np.float32), matrix, (width, height), flags=flags)
    return np.asarray(grown, dtype=np.float32)


def _edge_distance(sheet: Plane, view: _View) -> Plane:
    """How far inside the paper's edge each mesh point lies, in millimetres (negative outside)."""
    inside = view.middle.astype(np.float32) - np.abs(sheet)
    return np.asarray(inside.min(axis=-1), dtype=np.float32)


def _fitting_raster(page: Image, px_per_mm: float, view: _View) -> tuple[Image, Points]:
    grid = np.stack(np.meshgrid(np.linspace(0.05, 0.95, 5), np.linspace(0.05, 0.95, 5)), -1).reshape(-1, 2)
    points = grid * view.paper
    step = np.abs(view.project(points + [1, 0]) - view.project(points)).max()
    scale = min(1.0, 1.25 * float(step) / px_per_mm)
    if scale < 0.9:
        page = np.asarray(cv2.resize(page, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return page, np.array([page.shape[1], page.shape[0]]) / view.paper


def _light(shot: Shot, view: _View, sheet: Points, desk: Points, rng: np.random.Generator) -> Plane:
    """The light that falls on each mesh point; 1 on the brightest part of the sheet without shadows."""
    angle = np.deg2rad(shot.light_from)
    lamp = np.array([np.cos(angle) * 420, np.sin(angle) * 420, 600.0])

    def falling(points: Points) -> Points:
        way = lamp - np.concatenate([points, np.zeros((len(points), 1))], axis=1)
        slope = view.surface.slope_at(points)
        upright = np.concatenate([-slope, np.ones((len(points), 1))], axis=1)
        upright /= np.linalg.norm(upright, axis=1, keepdims=True)
        distance = np.linalg.norm(way, axis=1)
        # A third of the light comes from the room, from everywhere.
        straight = np.maximum((way * upright).sum(axis=1) / distance, 0) / distance**2
        return straight / (lamp[2] / np.linalg.norm(lamp) ** 3) + 0.5

    grid = np.stack(np.meshgrid(np.linspace(-0.98, 0.98, 25), np.linspace(-0.98, 0.98, 25)), -1).reshape(-1, 2)
    on_sheet = falling(grid * view.middle)
    bright, dark = on_sheet.max(), on_sheet.min()
    # The same pattern, steeper or gentler, so that darkest over brightest is what the shot says.
    power = np.log(shot.light) / np.log(dark / bright)
    light = (np.minimum(falling(sheet), bright * 1.1) / bright) ** power
    for shadow in shot.shadows:
        across = np.array([np.cos(np.deg2rad(shadow.angle)), np.sin(np.deg2rad(shadow.angle))])
        depth = (desk - (np.array(shadow.at) - view.middle)) @ across
        # No hand and no phone has a straight edge.
        along = desk @ np.array([-across[1], across[0]])
        depth = depth + 3 * np.sin(along / 37 + shadow.at[0]) + 1.5 * np.sin(along / 13 + shadow.at[1])
        inside = _step(depth / shadow.soft)
        if shadow.width is not None:
            inside = inside * _step((shadow.width - depth) / shadow.soft)
        light = light * (1 - inside * (1 - shadow.left))
    # A lens darkens towards the corners, and paper is not quite even.
    pixels = _coarse_grid(*shot.size, view.mesh).reshape(-1, 2)
    off = ((pixels - view.frame_middle) ** 2).sum(axis=1) / (view.frame_middle**2).sum()
    light = light * (1 - 0.12 * off)
    return np.asarray(light * (1 + 0.004 * rng.standard_normal(len(light))), dtype=np.float32)


def _contact(shot: Shot, view: _View, desk: Points) -> Plane:
    """How much of its light the desk keeps beside the sheet; a raised sheet takes more of it, further out."""
    outside = np.linalg.norm(np.maximum(np.abs(desk) - view.middle, 0), axis=1)
    raised = min(abs(shot.bend.height), 12.0) if shot.bend.kind != "flat" else 0.0
    return np.asarray(1 - (0.2 + 0.03 * raised) * np.exp(-outside / (1 + 0.8 * raised)), dtype=np.float32)


def _step(x: Points) -> Points:
    """From 0 to 1 over -1..1, smoothly."""
    t = np.clip((x + 1) / 2, 0, 1)
    return t * t * (3 - 2 * t)


def _glare(shot: Shot, view: _View, sheet: Points) -> Plane | None:
    """Lamp light mirrored by smooth paper and toner: an oval (x, y in mm on the page, radius in mm, strength)."""
    if shot.glare is None:
        return None
    x, y, radius, strength = shot.glare
    away = (sheet - (np.array([x, y]) - view.middle)) / radius * np.array([1.0, 1.4])
    spot = strength * np.exp(-((away**2).sum(axis=1) ** 1.3))
    return np.asarray(spot, dtype=np.float32)


_HEADROOM = 2.0
"""The tone curve's table reaches this far above full exposure."""


def _srgb(linear: Points) -> Points:
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)


_ENCODED = np.arange(256) / 255
_TO_LINEAR = np.where(_ENCODED <= 0.04045, _ENCODED / 12.92, ((_ENCODED + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _tone(shot: Shot, view: _View, light: Plane, sheet: Points) -> tuple[Plane, float]:
    """The tone curve as a table of grey levels, and the exposure that makes half the paper brighter than `white`, or
    less where that would burn the rest out."""
    linear = np.linspace(0, _HEADROOM, 65536)
    y = _srgb(np.minimum(linear, 1))
    y = (1 - shot.contrast) * y + shot.contrast * y * y * (3 - 2 * y)
    # A soft shoulder instead of hard clipping.
    levels = 255 * np.where(y < 0.85, y, 0.85 + 0.15 * np.tanh((y - 0.85) / 0.15) / np.tanh(1))
    inside = (np.abs(sheet) <= view.middle).all(axis=1)
    paper = light.reshape(-1)[inside] * PAPER
    exposure = np.interp(shot.white, levels, linear) / np.median(paper)
    # However much of the sheet lies in shadow, the camera lets hardly anything of it burn out.
    brightest = np.interp(max(shot.white, 238), levels, linear) / np.percentile(paper, 97)
    return levels.astype(np.float32), float(min(exposure, brightest))


def _blur(plane: Plane, spare: Plane, shot: Shot) -> None:
    """Blur the plane in place, in linear light; `spare` is a buffer of the same size."""
    sigma = shot.defocus
    if sigma > 2.0:
        # Out of focus a point is a disc, its radius twice its sigma; drawn at half size, where nothing finer is left.
        half = cv2.resize(plane, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        n = 2 * int(np.ceil(sigma)) + 1
        y, x = np.mgrid[:n, :n] - n // 2
        disc = np.clip(sigma + 0.5 - np.hypot(x, y), 0, 1).astype(np.float32)
        half = cv2.filter2D(half, -1, disc / disc.sum(), borderType=cv2.BORDER_REPLICATE)
        cv2.resize(half, (plane.shape[1], plane.shape[0]), plane, interpolation=cv2.INTER_LINEAR)
    elif sigma > 0:
        cv2.GaussianBlur(plane, (0, 0), sigma, spare)
        plane[:] = spare
    if shot.motion >= 1:
        n = 2 * int(np.ceil(shot.motion / 2)) + 3
        big = np.zeros((n * 8, n * 8), np.float32)
        angle = np.deg2rad(shot.motion_angle)
        way = np.array([np.cos(angle), np.sin(angle)]) * shot.motion * 4
        ends = [tuple(int(v) for v in (n * 4 + s * way).round()) for s in (-1, 1)]
        cv2.line(big, ends[0], ends[1], 1.0, 8)
        kernel = cv2.resize(big, (n, n), interpolation=cv2.INTER_AREA)
        cv2.filter2D(plane, -1, kernel / kernel.sum(), spare, borderType=cv2.BORDER_REPLICATE)
        plane[:] = spare


def _desk_picture(shot: Shot, folder: Path | None, rng: np.random.Generator) -> Image:
    real = real_desk(folder, rng) if folder and shot.desk == "any" and rng.random() < 0.6 else None
    kind = shot.desk
    if kind == "any":
        kinds: tuple[DeskKind, ...] = ("wood", "wood", "cloth", "stone", "baize", "dark")
        kind = kinds[rng.integers(len(kinds))]
    desk = made_desk(kind, rng) if real is None else real
    return clutter(desk, rng) if shot.cluttered else desk


def _things(shot: Shot, view: _View, rng: np.random.Generator) -> tuple[Plane | None, Image | None]:
    """What lies over the page, in linear light, and how much it covers; at half the picture's size."""
    if not shot.occluders:
        return None, None
    width, height = (v // _HALF for v in shot.size)
    colour = np.zeros((height, width, 3), np.float32)
    cover = np.zeros((height, width), np.uint8)
    for thing in shot.occluders:
        shape, tint = _outline(thing, rng)
        at = view.on_desk(shape - view.middle) / _HALF
        mask = np.zeros_like(cover)
        cv2.fillPoly(mask, [at.round().astype(np.int32)], 255, cv2.LINE_AA)
        # Round things are lighter in the middle.
        depth = cv2.distanceTransform((mask > 127).astype(np.uint8), cv2.DIST_L2, 3)
        round_off = 0.65 + 0.35 * np.sqrt(np.clip(depth / max(float(depth.max()), 1.0), 0, 1))
        if thing.kind == "ruler":
            round_off[:] = 1.0
        share = (mask.astype(np.float32) / 255)[..., None]
        colour += share * (round_off[..., None] * np.array(tint, np.float32) - colour)
        cover = np.maximum(cover, mask)
    return cv2.GaussianBlur(colour, (0, 0), 1.0), cv2.GaussianBlur(cover, (0, 0), 1.0)


def _outline(thing: Occluder, rng: np.random.Generator) -> tuple[Points, tuple[float, float, float]]:
    """An occluder's outline on the desk in millimetres, and its colour (linear BGR)."""
    angle = np.deg2rad(thing.angle)
    away = np.array([np.cos(angle), np.sin(angle)])
    side = np.array([-away[1], away[0]])
    tip, half = np.array(thing.tip), thing.size / 2
    match thing.kind:
        case "thumb" | "pen":
            turn = np.linspace(-np.pi / 2, np.pi / 2, 15)
            cap = tip + away * half - half * (np.cos(turn)[:, None] * away + np.sin(turn)[:, None] * side)
            far = 200 if thing.kind == "thumb" else 140
            widen = half * (1.5 if thing.kind == "thumb" else 1.0)
            shape = np.concatenate([cap, [tip + away * far - side * widen, tip + away * far + side * widen]])
            skin = rng.uniform(0.6, 1.2) * np.array([0.20, 0.30, 0.52])
            tint = skin if thing.kind == "thumb" else rng.uniform(0.02, 0.4, 3)
        case "card":
            long, wide = away * 44, side * 29
            shape = tip + np.array([long + wide, long - wide, -long - wide, wide - long])
            tint = rng.uniform(0.05, 0.75, 3)
        case "ruler":
            long, wide = away * 200, side * half
            shape = tip + np.array([long + wide, long - wide, -long - wide, wide - long])
            tint = rng.uniform(0.02, 0.8, 3)
        case "cup":
            turn = np.linspace(0, 2 * np.pi, 40)
            shape = tip + half * np.stack([np.cos(turn), np.sin(turn)], axis=1)
            tint = rng.uniform(0.1, 0.8) * np.ones(3)
    return shape, (float(tint[0]), float(tint[1]), float(tint[2]))


def _scribble(page: Image, px_per_mm: float, count: int, rng: np.random.Generator) -> Image:
    """Idle pen lines and loops over the page, as people try a pen or strike something out."""
    page = page.copy()
    h, w = page.shape[:2]
    for _ in range(count):
        start = rng.uniform([0, 0], [w, h])
        steps = rng.normal(0, rng.uniform(0.6, 3.5) * px_per_mm, (int(rng.integers(15, 80)), 2))
        path = start + np.cumsum(cv2.GaussianBlur(steps, (1, 9), 0) * 2, axis=0)
        colour = (120, 50, 30) if rng.random() < 0.6 else (40, 40, 40)
        width = max(1, round(float(rng.uniform(0.35, 0.6)) * px_per_mm))
        cv2.polylines(page, [(path * 16).astype(np.int32)], False, colour, width, cv2.LINE_AA, shift=4)
    return page


def _jpeg(image: Image, quality: int) -> bytes:
    return bytes(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])
