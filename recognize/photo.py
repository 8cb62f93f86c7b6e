"""Opening whatever a phone, a scanner or a messenger delivers: bytes in, grey pictures out."""

import io
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdf
from PIL import Image, UnidentifiedImageError

from scoring.text import Text, plain_name, system_text

Grey = npt.NDArray[np.uint8]
"""A grey picture, (height, width), 0 black to 255 white."""

PICTURES = (".jpg", ".jpeg", ".png", ".pdf", ".webp", ".tif", ".tiff", ".bmp", ".heic", ".heif", ".zip")
"""What is looked for in a folder; a file named outright is judged by its bytes alone."""

Image.MAX_IMAGE_PIXELS = None  # MOST_PIXELS stands in for it, with a message of our own
MOST_PIXELS = 130_000_000
"""Larger pictures are refused before they are decoded: no phone makes them, and they would fill the memory."""

MOST_ZIPPED = 300_000_000
"""Bytes: what one file of an archive may unpack to."""

MOST_PAGES = 500
"""Pages of one TIFF: a file with more of them was made to fill the memory."""

LEAST_SIDE = 100
"""Pixels: no sheet can be read in a picture narrower than this."""

PDF_DPI = 300


class PhotoError(ValueError):
    """A file that gives no picture; `text` says in a line why, and what to do."""

    def __init__(self, text: Text) -> None:
        """Keep the sentence in both languages."""
        super().__init__(text.en)
        self.text = text


@dataclass(frozen=True, slots=True)
class Photo:
    """One picture: a photo, or one page of a PDF or TIFF (`page` counts from 1).

    `problem` says why a picture of an archive, or a page of a PDF or TIFF, cannot be opened; `grey` is empty then, and
    the others go on.
    """

    source: str
    page: int
    grey: Grey
    problem: Text | None = None


def find_pictures(paths: list[Path]) -> tuple[list[Path], list[Path]]:
    """The picture files behind `paths` in order, folders gone through, and those paths that do not exist.

    What may not be looked into is among the files: opening it will say why.
    """
    found: list[Path] = []
    missing: list[Path] = []
    for path in paths:
        try:
            if path.is_dir() and not _locked(path):
                inside = sorted(p for p in path.rglob("*") if _locked(p) or _is_picture(p))
                found += [p for p in inside if not any(part.startswith(".") for part in p.relative_to(path).parts)]
            elif path.exists():
                found.append(path)
            else:
                missing.append(path)
        except OSError:
            found.append(path)
    return list(dict.fromkeys(found)), missing


def _is_picture(path: Path) -> bool:
    # By its bytes where the name says nothing: phones and browsers save photos as .jfif, or with no ending at all.
    return path.is_file() and (path.suffix.lower() in PICTURES or cv2.haveImageReader(str(path)))


def _locked(path: Path) -> bool:
    """Whether it is a folder that may not be looked into."""
    return path.is_dir() and not os.access(path, os.R_OK | os.X_OK)


def open_photos(path: Path) -> Iterator[Photo]:
    """Every picture in the file at `path`: one for a photo, one a page for a PDF or TIFF.

    The pixels come as they lie in the file: which way is up is decided later, by the page marks, because the
    orientation a phone notes down is wrong too often. Raises PhotoError where the file gives no picture.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PhotoError(Text("файл не открывается: ", "the file cannot be opened: ") + system_text(error)) from error
    yield from photos_in(plain_name(path.name), data)


def photos_in(name: str, data: bytes) -> Iterator[Photo]:
    """Every picture in a file's bytes, which alone tell what it is: phones and messengers misname files."""
    if not data:
        raise PhotoError(
            Text("файл пуст: пришлите снимок ещё раз", "the file is empty: send the photo again"),
        )
    if data[:5] == b"%PDF-":
        yield from _pdf_pages(name, data)
    elif data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        yield from _zipped(name, data)
    elif data[:2] == b"\xff\xd8":
        yield Photo(name, 1, _jpeg(data))
    elif data[4:8] == b"ftyp":
        yield from _heic(name, data)
    else:
        yield from _other(name, data)


def _jpeg(data: bytes) -> Grey:
    # A file cut short still decodes, to grey where the rest is missing; the end-of-image code tells.
    if data.rfind(b"\xff\xd9", max(2, len(data) // 2)) < 0:
        raise PhotoError(
            Text(
                "файл обрывается на середине: пришлите снимок ещё раз",
                "the file breaks off in the middle: send the photo again",
            )
        )
    try:
        with Image.open(io.BytesIO(data)) as header:
            _refuse_size(*header.size)
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise PhotoError(_BROKEN) from error
    flags = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION
    grey = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    if grey is None:
        raise PhotoError(_BROKEN)
    return grey


def _other(name: str, data: bytes) -> Iterator[Photo]:
    try:
        with Image.open(io.BytesIO(data)) as picture:
            # Only a TIFF holds pages; what moves or comes in several sizes is one picture.
            if picture.format != "TIFF" or getattr(picture, "n_frames", 1) == 1:
                yield Photo(name, 1, _grey(picture))
            else:
                yield from _tiff_pages(name, picture)
    except UnidentifiedImageError as error:
        if Path(name).suffix.lower() == ".zip":
            raise PhotoError(_NO_ARCHIVE) from error
        raise PhotoError(
            Text(
                "это не картинка и не PDF: нужен снимок в формате JPEG, PNG или PDF",
                "this is neither a picture nor a PDF: send a photo as JPEG, PNG or PDF",
            )
        ) from error
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise PhotoError(_BROKEN) from error


def _tiff_pages(name: str, picture: Image.Image) -> Iterator[Photo]:
    """Every page of a scanner's TIFF; a page that cannot be read does not stop the others."""
    count = getattr(picture, "n_frames", 1)
    if count > MOST_PAGES:
        raise PhotoError(
            Text(
                f"в файле слишком много страниц: {count}, читается не больше {MOST_PAGES}",
                f"too many pages in the file: {count}, at most {MOST_PAGES} are read",
            )
        )
    for number in range(count):
        picture.seek(number)
        try:
            photo = Photo(name, number + 1, _grey(picture))
        except PhotoError as error:
            photo = Photo(name, number + 1, np.zeros((1, 1), np.uint8), error.text)
        except (OSError, SyntaxError):
            photo = Photo(name, number + 1, np.zeros((1, 1), np.uint8), _BROKEN)
        yield photo


def _grey(picture: Image.Image) -> Grey:
    """The picture's present page; see-through is white paper."""
    _refuse_size(*picture.size)
    if picture.mode.startswith(("I", "F")):
        deep = np.asarray(picture, dtype=np.float64)
        top = 65535.0 if deep.max() > 255 else 255.0
        return np.clip(deep * (255.0 / top), 0, 255).astype(np.uint8)
    if "A" in picture.getbands() or "transparency" in picture.info:
        rgba = picture.convert("RGBA")
        paper = Image.new("RGBA", rgba.size, "white")
        return np.array(Image.alpha_composite(paper, rgba).convert("L"))
    return np.array(picture.convert("L"))


def _heic(name: str, data: bytes) -> Iterator[Photo]:
    try:
        import pillow_heif
    except ImportError as error:
        raise PhotoError(
            Text(
                "снимок в формате HEIC: установите pulka[heic] или выберите в телефоне «Наиболее совместимые»",
                'the photo is in HEIC format: install pulka[heic], or set the phone to "Most Compatible"',
            )
        ) from error
    pillow_heif.register_heif_opener()
    yield from _other(name, data)


def _zipped(name: str, data: bytes) -> Iterator[Photo]:
    """Every picture in a messenger's export, its place in the archive as its name; one that is bad stops no other."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise PhotoError(_NO_ARCHIVE) from error
    with archive:
        inside = sorted((e for e in archive.infolist() if _is_packed_picture(e)), key=lambda entry: entry.filename)
        if not inside:
            raise PhotoError(Text("в архиве нет картинок", "there is no picture in the archive"))
        if all(entry.flag_bits & _ENCRYPTED for entry in inside):
            raise PhotoError(_LOCKED_ARCHIVE)
        for entry in inside:
            inner = f"{name}/{plain_name(entry.filename).lstrip('/')}"
            try:
                yield from photos_in(inner, _unpacked(archive, entry))
            except PhotoError as error:
                yield Photo(inner, 1, np.zeros((1, 1), np.uint8), error.text)


def _is_packed_picture(entry: zipfile.ZipInfo) -> bool:
    """Whether an archive's entry is a picture by its name, and not what a Mac keeps beside each file."""
    path = Path(entry.filename)
    # Nothing is unpacked to disk, so that a way up out of the archive is a name like any other.
    hidden = any(part.startswith((".", "__MACOSX")) and part != ".." for part in path.parts)
    return path.suffix.lower() in PICTURES and not entry.is_dir() and not hidden


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.flag_bits & _ENCRYPTED:
        raise PhotoError(_LOCKED_ARCHIVE)
    if entry.file_size > MOST_ZIPPED:
        raise PhotoError(
            Text(
                "файл в архиве слишком велик: пришлите его отдельно, без архива",
                "the file in the archive is too large: send it by itself, without the archive",
            )
        )
    try:
        return archive.read(entry)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError) as error:
        raise PhotoError(
            Text(
                "из архива не распаковывается: пришлите снимок ещё раз, без архива",
                "cannot be unpacked from the archive: send the photo again without one",
            )
        ) from error


_ENCRYPTED = 0x1
"""The bit of an archive's entry that tells of a password."""

_NO_ARCHIVE = Text(
    "архив повреждён или это не zip: упакуйте снимки заново или пришлите их без архива",
    "the archive is damaged, or no zip: pack the photos again, or send them without an archive",
)
_LOCKED_ARCHIVE = Text(
    "архив закрыт паролем: пришлите снимки без пароля",
    "the archive is locked with a password: send the photos without one",
)


def _pdf_pages(name: str, data: bytes) -> Iterator[Photo]:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise PhotoError(
            Text(
                "PDF повреждён или закрыт паролем: сохраните его заново без пароля или пришлите снимки листов",
                "the PDF is damaged or locked with a password: save it anew without one, or send photos of the sheets",
            )
        ) from error
    # An image's own dictionary is never compressed: masks show in the bytes.
    masked = any(word in data for word in (b"/SMask", b"/Mask", b"/ImageMask"))
    with document:
        for number in range(len(document)):
            try:
                photo = Photo(name, number + 1, _pdf_page(document, number, masked))
            except PhotoError as error:
                photo = Photo(name, number + 1, np.zeros((1, 1), np.uint8), error.text)
            except (pypdfium2.PdfiumError, MemoryError):
                photo = Photo(name, number + 1, np.zeros((1, 1), np.uint8), _BROKEN)
            yield photo


def _pdf_page(document: pypdfium2.PdfDocument, number: int, masked: bool) -> Grey:
    page = document[number]
    try:
        picture = None if masked else _only_picture(page)
        if picture is not None:
            return picture
        width, height = page.get_size()
        scale = PDF_DPI / 72
        _refuse_size(round(width * scale), round(height * scale))
        bitmap = page.render(scale=scale, grayscale=True)
        return np.array(bitmap.to_numpy()).reshape(bitmap.height, bitmap.width)
    finally:
        page.close()


def _only_picture(page: pypdfium2.PdfPage) -> Grey | None:
    """The picture that is all there is on a scanned page, as scanned, which is finer and quicker than drawing the page.

    None where there is anything else to be seen, or where the page shows the picture otherwise than it is: cut off,
    mirrored, askew, or in colours that only drawing gives.
    """
    if pdf.FPDFPage_GetAnnotCount(page.raw) > 0:
        return None
    # Programs that recognise text lay it over the scan, invisible.
    shown = [thing for thing in page.get_objects() if not _invisible(thing)]
    if len(shown) != 1 or not isinstance(shown[0], pypdfium2.PdfImage):
        return None
    image = shown[0]
    if image.level or pdf.FPDFClipPath_CountPaths(pdf.FPDFPageObj_GetClipPath(image.raw)) > 0:
        return None
    matrix, (width, height) = image.get_matrix().get(), image.get_px_size()
    turned = _quarter_turns(matrix, page.get_cropbox())
    # A fax has twice as many points across as down.
    along, up = np.hypot(*matrix[:2]) / width, np.hypot(*matrix[2:4]) / height
    if turned is None or not 0.9 < along / up < 1.1:
        return None
    _refuse_size(width, height)
    pixels = image.get_bitmap().to_numpy()
    if pixels.ndim == 3 and pixels.shape[2] == 3:
        grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    elif pixels.ndim == 2 or pixels.shape[2] == 1:
        grey = pixels.reshape(pixels.shape[:2]).copy()
    else:
        return None
    return np.ascontiguousarray(np.rot90(grey, turned - page.get_rotation() // 90))


def _invisible(thing: pypdfium2.PdfObject) -> bool:
    return bool(
        thing.type == pdf.FPDF_PAGEOBJ_TEXT
        and pdf.FPDFTextObj_GetTextRenderMode(thing.raw) == pdf.FPDF_TEXTRENDERMODE_INVISIBLE
    )


def _quarter_turns(matrix: Sequence[float], page: Sequence[float]) -> int | None:
    """How often a picture is turned left by its matrix; None where it is mirrored, askew or not whole on the page."""
    a, b, c, d, x, y = matrix
    size = max(abs(a), abs(b), abs(c), abs(d))
    slack = 0.005 * size
    if max(abs(b), abs(c)) < slack and a * d > 0:
        turns = 0 if a > 0 else 2
    elif max(abs(a), abs(d)) < slack and b * c < 0:
        turns = 1 if b > 0 else 3
    else:
        return None
    (left, right), (low, high) = sorted((x, x + a + c)), sorted((y, y + b + d))
    whole = left > page[0] - slack and low > page[1] - slack and right < page[2] + slack and high < page[3] + slack
    return turns if whole else None


def _refuse_size(width: int, height: int) -> None:
    if min(width, height) < LEAST_SIDE:
        raise PhotoError(
            Text(
                f"картинка слишком мала, чтобы на ней поместился лист: {width}×{height} точек; пришлите сам снимок, "
                "а не его уменьшенную копию",
                f"the picture is too small to hold a sheet: {width}×{height} pixels; send the photo itself, not a "
                "small copy of it",
            )
        )
    if width * height > MOST_PIXELS:
        raise PhotoError(
            Text(
                f"картинка слишком велика: {width}×{height} точек; уменьшите её, читается не больше "
                f"{MOST_PIXELS // 1_000_000} мегапикселей",
                f"the picture is too large: {width}×{height} pixels; make it smaller, up to "
                f"{MOST_PIXELS // 1_000_000} megapixels can be read",
            )
        )


_BROKEN = Text(
    "картинка повреждена: пришлите снимок ещё раз",
    "the picture is damaged: send the photo again",
)
