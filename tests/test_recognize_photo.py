import io
import os
import zipfile

import numpy as np
import pytest
from PIL import Image
from reportlab.pdfgen import canvas

from recognize.photo import PhotoError, find_pictures, open_photos
from scoring.text import plain_name


@pytest.fixture
def picture() -> Image.Image:
    """A grey slope with a black square top left."""
    slope = np.tile(np.linspace(120, 250, 160).astype(np.uint8), (100, 1))
    slope[:20, :20] = 0
    return Image.fromarray(slope)


def opened(path):
    (photo,) = open_photos(path)
    return photo.grey


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif", "bmp"])
def test_every_format_gives_the_same_grey(tmp_path, picture, suffix):
    path = tmp_path / f"a.{suffix}"
    picture.save(path, quality=95)
    grey = opened(path)
    assert grey.shape == (100, 160) and grey.dtype == np.uint8
    assert np.abs(grey.astype(int) - np.asarray(picture)).mean() < 2


def test_the_bytes_tell_the_format_not_the_name(tmp_path, picture):
    path = tmp_path / "phone.HEIC"
    picture.save(path, "JPEG", quality=95)
    assert opened(path).shape == (100, 160)


@pytest.mark.parametrize("orientation", [0, 1, 3, 6, 8])
def test_the_orientation_that_a_phone_notes_down_is_not_followed(tmp_path, picture, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "a.jpg"
    picture.save(path, quality=95, exif=exif)
    grey = opened(path)
    assert grey.shape == (100, 160) and grey[:15, :15].mean() < 30


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "CMYK", "1", "P", "I;16", "LA"])
def test_every_kind_of_pixel(tmp_path, picture, mode):
    deep = Image.fromarray(np.asarray(picture).astype(np.uint16) * 257)
    shown = deep if mode == "I;16" else picture.convert(mode) if mode != "LA" else picture.convert("RGBA").convert("LA")
    path = tmp_path / ("a.jpg" if mode == "CMYK" else "a.png")
    shown.save(path)
    grey = opened(path)
    assert grey[:15, :15].mean() < 40 and grey[50:, 120:].mean() > 180


def test_see_through_is_white_paper(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGBA", (120, 120), (0, 0, 0, 0)).save(path)
    assert opened(path).min() == 255


def test_every_page_of_a_pdf(tmp_path, picture):
    path = tmp_path / "scan.pdf"
    picture.save(path, save_all=True, append_images=[picture.rotate(180)], resolution=72)
    first, second = open_photos(path)
    assert (first.page, second.page) == (1, 2)
    assert first.grey[:15, :15].mean() < 30 < second.grey[:15, :15].mean()


def page_of(tmp_path, stream, image, *, drawn=b"q 200 0 0 125 0 0 cm /Im Do Q", page="", other=()):
    """A PDF of one page, 200 by 125 points, that draws one image (its dictionary's entries and its bytes)."""
    streams = [("", drawn), (f"/Subtype /Image /Width 160 /Height 100 {image}", stream), *other]
    things = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 125] {page} /Contents 4 0 R "
        "/Resources << /XObject << /Im 5 0 R >> /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> "
        ">> >>".encode(),
        *(
            f"<< {entries} /Length {len(data)} >> stream\n".encode() + data + b"\nendstream"
            for entries, data in streams
        ),
    ]
    path = tmp_path / "scan.pdf"
    whole = b"%PDF-1.4\n" + b"".join(b"%d 0 obj %s endobj\n" % (i, thing) for i, thing in enumerate(things, 1))
    path.write_bytes(whole + b"trailer << /Size %d /Root 1 0 R >>\n%%%%EOF" % (len(things) + 1))
    return path


GREY8 = "/ColorSpace /DeviceGray /BitsPerComponent 8"
TEXT = b" BT /F 20 Tf 3 Tr 20 20 Td (00000) Tj ET"


@pytest.mark.parametrize(
    ("image", "drawn", "page", "turned"),
    [
        (GREY8, b"q 200 0 0 125 0 0 cm /Im Do Q", "", 0),
        (GREY8, b"q 200 0 0 125 0 0 cm /Im Do Q" + TEXT, "", 0),
        (GREY8, b"q 200 0 0 125 0 0 cm /Im Do Q", "/Rotate 90", -1),
        (GREY8, b"q -200 0 0 -125 200 125 cm /Im Do Q", "", 2),
        (GREY8, b"q 0 125 -78 0 100 0 cm /Im Do Q", "", 1),
    ],
    ids=["plain", "with the text that was recognised in it", "page turned", "upside down", "lying on its side"],
)
def test_the_picture_of_a_scanned_page_comes_as_it_was_scanned(tmp_path, picture, image, drawn, page, turned):
    pixels = np.asarray(picture)
    assert np.array_equal(
        opened(page_of(tmp_path, pixels.tobytes(), image, drawn=drawn, page=page)), np.rot90(pixels, turned)
    )


def test_a_scan_in_negative_comes_as_it_is_shown(tmp_path, picture):
    pixels = np.asarray(picture)
    assert np.array_equal(opened(page_of(tmp_path, pixels.tobytes(), GREY8 + " /Decode [1 0]")), 255 - pixels)


MASK = (f"/Subtype /Image /Width 160 /Height 100 {GREY8}", bytes(160 * 50) + b"\xff" * (160 * 50))


@pytest.mark.parametrize(
    ("image", "drawn"),
    [
        (GREY8 + " /SMask 6 0 R", b"q 200 0 0 125 0 0 cm /Im Do Q"),
        (GREY8 + " /Mask [0 60]", b"q 200 0 0 125 0 0 cm /Im Do Q"),
        (GREY8, b"q 200 0 0 125 0 0 cm /Im Do Q 1 g 0 63 200 62 re f"),
        (GREY8, b"q 0 0 200 60 re W n 200 0 0 125 0 0 cm /Im Do Q"),
        (GREY8, b"q -200 0 0 125 200 0 cm /Im Do Q"),
        (GREY8, b"q 200 0 0 125 -50 0 cm /Im Do Q"),
        (GREY8, b"q 200 0 0 60 0 0 cm /Im Do Q"),
    ],
    ids=["soft mask", "mask", "painted over", "clipped", "mirrored", "off the page", "squeezed"],
)
def test_a_page_that_shows_its_picture_otherwise_is_drawn(tmp_path, picture, image, drawn):
    grey = opened(page_of(tmp_path, np.asarray(picture).tobytes(), image, drawn=drawn, other=[MASK]))
    assert grey.shape == (521, 834)
    assert grey[10, 10] > 100, "the black square in the corner is not to be seen there"


def test_a_page_too_large_does_not_stop_the_others(tmp_path, picture):
    path = tmp_path / "scan.pdf"
    page = canvas.Canvas(str(path))
    for size in ((72, 72), (14_000, 14_000), (144, 72)):
        page.setPageSize(size)
        page.rect(0, 0, 20, 20, fill=1)
        page.showPage()
    page.save()
    first, bad, last = open_photos(path)
    assert (first.grey.shape, last.grey.shape) == ((300, 300), (300, 600))
    assert "too large" in bad.problem.en and bad.page == 2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"just some text, not a picture", "neither a picture nor a PDF"),
        (b"\xff\xd8\xff\xe0 nonsense \xff\xd9", "damaged"),
        (b"\x89PNG\r\n\x1a\n nonsense", "damaged|neither"),
        (b"%PDF-1.4 nonsense", "PDF is damaged"),
    ],
)
def test_what_is_no_picture_says_so(tmp_path, data, said):
    path = tmp_path / "a.jpg"
    path.write_bytes(data)
    with pytest.raises(PhotoError, match=said) as caught:
        list(open_photos(path))
    assert caught.value.text.ru and "\n" not in caught.value.text.ru


@pytest.mark.parametrize("share", [0.3, 0.7, 0.97])
def test_a_jpeg_cut_short_is_not_half_read(tmp_path, picture, share):
    whole = io.BytesIO()
    picture.resize((1600, 1000)).save(whole, "JPEG", quality=95)
    path = tmp_path / "a.jpg"
    path.write_bytes(whole.getvalue()[: int(share * len(whole.getvalue()))])
    with pytest.raises(PhotoError, match="breaks off"):
        list(open_photos(path))


def test_a_bomb_is_refused_by_its_size(tmp_path):
    path = tmp_path / "bomb.png"
    Image.new("1", (20_000, 20_000)).save(path)
    with pytest.raises(PhotoError, match="too large"):
        list(open_photos(path))


def test_every_picture_of_a_messengers_archive(tmp_path, picture):
    path = tmp_path / "export.zip"
    packed = io.BytesIO()
    picture.save(packed, "PNG")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("b/2.png", packed.getvalue())
        archive.writestr("a/1.jpg", packed.getvalue())
        archive.writestr("a/0.jpg", b"no picture")
        archive.writestr("chat.txt", "hello")
    bad, *photos = open_photos(path)
    assert bad.source == "export.zip/a/0.jpg" and "neither" in bad.problem.en
    assert [photo.source for photo in photos] == ["export.zip/a/1.jpg", "export.zip/b/2.png"]
    assert all(photo.problem is None and photo.grey.shape == (100, 160) for photo in photos)


def test_odd_places_in_an_archive_are_places_too_and_an_empty_file_is_called_empty(tmp_path, picture):
    path = tmp_path / "ev.zip"
    packed = io.BytesIO()
    picture.save(packed, "PNG")
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("../../x.png", "/abs.png", "__MACOSX/._x.png"):
            archive.writestr(name, packed.getvalue())
        archive.writestr("empty.jpg", b"")
    photos = list(open_photos(path))
    assert [photo.source for photo in photos] == ["ev.zip/../../x.png", "ev.zip/abs.png", "ev.zip/empty.jpg"]
    assert [photo.problem.en if photo.problem else None for photo in photos[:2]] == [None, None]
    assert "the file is empty" in photos[2].problem.en


def test_an_archive_without_pictures_or_damaged_says_so(tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("chat.txt", "hello")
    with pytest.raises(PhotoError, match="no picture in the archive"):
        list(open_photos(path))
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(PhotoError, match="damaged"):
        list(open_photos(path))


@pytest.mark.parametrize("data", [b"PK\x03\x04 cut short", b"\x00\x01 neither", b"Rar!\x1a\x07\x00 another kind"])
def test_an_archive_by_its_name_that_is_none_is_a_damaged_archive(tmp_path, data):
    path = tmp_path / "photos.ZIP"
    path.write_bytes(data)
    with pytest.raises(PhotoError, match="archive is damaged, or no zip"):
        list(open_photos(path))
    with zipfile.ZipFile(path, "w"):
        pass
    with pytest.raises(PhotoError, match="no picture in the archive"):
        list(open_photos(path))


def pack(path, picture, names):
    """Write an archive that holds the picture under each of the names; returns the picture's bytes."""
    packed = io.BytesIO()
    picture.save(packed, "PNG")
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, packed.getvalue())
    return packed.getvalue()


def locked(path, names):
    """Mark entries of an archive as encrypted, as an archive with a password has them."""
    data = bytearray(path.read_bytes())
    for start, flags, name in ((b"PK\x03\x04", 6, 30), (b"PK\x01\x02", 8, 46)):
        at = -1
        while (at := data.find(start, at + 1)) >= 0:
            if any(data[at + name :].startswith(each.encode()) for each in names):
                data[at + flags] |= 1
    path.write_bytes(data)


def test_a_locked_archive_is_told_once_and_a_locked_picture_stops_no_other(tmp_path, picture):
    path = tmp_path / "export.zip"
    pack(path, picture, ("1.png", "2.png", "chat.txt"))
    locked(path, ["1.png"])
    first, second = open_photos(path)
    assert first.source == "export.zip/1.png" and "locked with a password" in first.problem.en
    assert second.problem is None and second.grey.shape == (100, 160)
    locked(path, ["2.png"])
    with pytest.raises(PhotoError, match="locked with a password"):
        list(open_photos(path))


def test_a_picture_damaged_in_an_archive_stops_no_other_and_a_macs_own_files_are_no_pictures(tmp_path, picture):
    path = tmp_path / "export.zip"
    packed = pack(path, picture, ("1.png", "2.png", "__MACOSX/._2.png", ".hidden/3.png"))
    data = bytearray(path.read_bytes())
    data[data.find(packed) + 50] ^= 255
    path.write_bytes(data)
    first, second = open_photos(path)
    assert "cannot be unpacked" in first.problem.en
    assert second.problem is None and second.source == "export.zip/2.png"


def test_heic_is_read_or_says_what_to_install(tmp_path, picture):
    path = tmp_path / "IMG_1.jpg"
    try:
        import pillow_heif
    except ImportError:
        path.write_bytes(b"\x00\x00\x00\x18ftypheic" + bytes(64))
        with pytest.raises(PhotoError, match="Most Compatible"):
            list(open_photos(path))
        return
    pillow_heif.from_pillow(picture.convert("RGB")).save(path, quality=90)
    assert opened(path)[:15, :15].mean() < 40


def test_folders_are_gone_through_in_order(tmp_path, picture):
    (tmp_path / "in").mkdir()
    (tmp_path / ".thumbs").mkdir()
    for name in ("b.jpg", "a.PNG", "in/c.jpeg", ".thumbs/d.jpg"):
        picture.save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no picture")
    # A photo under a name that says nothing is a photo all the same.
    (tmp_path / "c.jfif").write_bytes((tmp_path / "b.jpg").read_bytes())
    found, missing = find_pictures([tmp_path, tmp_path / "b.jpg", tmp_path / "gone.jpg"])
    assert [p.relative_to(tmp_path).as_posix() for p in found] == ["a.PNG", "b.jpg", "c.jfif", "in/c.jpeg"]
    assert missing == [tmp_path / "gone.jpg"]


def test_every_page_of_a_tiff(tmp_path, picture):
    path = tmp_path / "scan.tif"
    small = picture.resize((160, 20))
    picture.save(path, save_all=True, append_images=[small, picture.rotate(180)])
    first, bad, last = open_photos(path)
    assert [photo.page for photo in (first, bad, last)] == [1, 2, 3]
    assert first.grey[:15, :15].mean() < 30 < last.grey[:15, :15].mean()
    assert last.grey[-15:, -15:].mean() < 30
    assert "too small" in bad.problem.en


def test_more_pages_than_anybody_scans_are_refused(tmp_path, picture, monkeypatch):
    monkeypatch.setattr("recognize.photo.MOST_PAGES", 2)
    path = tmp_path / "scan.tif"
    picture.save(path, save_all=True, append_images=[picture, picture])
    with pytest.raises(PhotoError, match="too many pages in the file: 3"):
        list(open_photos(path))


def test_what_moves_is_its_first_picture(tmp_path, picture):
    path = tmp_path / "a.gif"
    picture.save(path, save_all=True, append_images=[picture.rotate(180)])
    assert opened(path)[:15, :15].mean() < 40


@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_a_picture_too_small_for_a_sheet_is_refused(tmp_path, suffix):
    path = tmp_path / f"line.{suffix}"
    Image.new("L", (5000, 1), 200).save(path)
    with pytest.raises(PhotoError, match="too small to hold a sheet: 5000×1"):
        list(open_photos(path))


def test_a_name_is_shown_without_control_characters_and_in_whole_characters(tmp_path, picture):
    assert plain_name("Стол 1.jpg") == "Стол 1.jpg"
    assert plain_name("a\x1b[2J\n\udcff.jpg") == "a[2J?.jpg"
    path = tmp_path / "a\x1b\udcff.jpg"
    picture.save(path)
    (photo,) = open_photos(path)
    assert photo.source == "a?.jpg"


def test_what_may_not_be_looked_into_is_left_to_be_said(tmp_path, picture, monkeypatch):
    inner = tmp_path / "locked"
    inner.mkdir()
    picture.save(tmp_path / "a.png")
    looked = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != inner and looked(path, mode))
    assert find_pictures([tmp_path]) == ([tmp_path / "a.png", inner], [])
    assert find_pictures([inner]) == ([inner], [])
    with pytest.raises(PhotoError, match="cannot be opened"):
        list(open_photos(inner))
