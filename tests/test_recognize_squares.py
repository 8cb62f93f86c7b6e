import cv2
import numpy as np
import pytest

from recognize.squares import find_squares

NAMES = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_1000)
IDS = tuple(range(0, 1000, 7))


def drawn(mark_id: int, corners: list[tuple[float, float]], blur: float = 0.6) -> np.ndarray:
    """A grey picture of one square, its own top left first among `corners`."""
    square = cv2.aruco.generateImageMarker(NAMES, mark_id, 70)
    plane = cv2.getPerspectiveTransform(
        np.array([(-0.5, -0.5), (69.5, -0.5), (69.5, 69.5), (-0.5, 69.5)], np.float32), np.array(corners, np.float32)
    )
    page = cv2.warpPerspective(square, plane, (240, 200), borderValue=205)
    return cv2.GaussianBlur(page, (0, 0), blur)


def found(grey: np.ndarray):
    return find_squares(grey, "5x5_1000", IDS, (23,), 40)


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("blur", [0.6, 1.5])
def test_a_square_is_read_whichever_way_it_lies(turn, blur):
    corners = np.roll([(80, 60), (122, 66), (118, 108), (74, 100)], turn, axis=0)
    ((mark_id, at),) = found(drawn(49, corners.tolist(), blur))
    assert mark_id == 49
    assert np.linalg.norm(at - corners, axis=1).max() < 2.5


def test_a_square_smeared_until_its_modules_run_together_is_not_guessed():
    assert not found(drawn(49, [(80, 60), (122, 66), (118, 108), (74, 100)], 6.0))


def test_only_the_ids_asked_for_are_found():
    grey = drawn(50, [(80, 60), (120, 60), (120, 100), (80, 100)])
    assert not found(grey)
    assert [mark_id for mark_id, _ in find_squares(grey, "5x5_1000", (50,), (23,), 40)] == [50]


def test_a_mirrored_square_is_none():
    assert not found(np.ascontiguousarray(drawn(49, [(80, 60), (120, 60), (120, 100), (80, 100)])[:, ::-1]))


def test_with_one_module_wrong_it_is_still_read_with_more_it_is_not():
    square = cv2.aruco.generateImageMarker(NAMES, 49, 70)
    for wrong in range(4):
        page = np.full((200, 240), 205, np.uint8)
        page[60:130, 80:150] = square
        assert (len(found(page)) == 1) == (wrong <= 1)
        square[10 + 10 * wrong : 20 + 10 * wrong, 10:20] ^= 255


@pytest.mark.parametrize("kind", ["noise", "table", "even", "filled boxes"])
def test_what_is_no_square_is_not_taken_for_one(kind):
    rng = np.random.default_rng(2)
    grey = np.full((900, 1200), 200, np.uint8)
    if kind == "noise":
        grey = cv2.GaussianBlur(rng.integers(0, 255, grey.shape).astype(np.uint8), (0, 0), 2)
    if kind == "table":
        grey[::30], grey[:, ::30] = 60, 60
    if kind == "filled boxes":
        for x in range(20, 1150, 50):
            for y in range(20, 850, 50):
                grey[y : y + 35, x : x + 35] = np.kron(rng.integers(0, 2, (7, 7)) * 200, np.ones((5, 5))).astype(
                    np.uint8
                )
    assert not found(grey)
