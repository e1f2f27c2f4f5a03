"""The page of `hyperslab view` in Chromium. Each test leaves a picture in target/view-pictures."""

import io

import h5py
import numpy as np
from pages import Page
from viewer import Viewer


def colours(pixels, box):
    """Returns the number of different colours in a box of the page."""
    left, top, width, height = (int(box[side]) for side in ("x", "y", "width", "height"))
    inside = pixels[top : top + height, left : left + width]
    return len(np.unique((inside * 255).astype("u1").reshape(-1, 3), axis=0))


def canvas(page):
    """Returns the box of the drawing, once it has its size."""
    page.page.wait_for_function("document.querySelector('canvas')?.clientWidth > 400")
    return page.page.locator("canvas").first.bounding_box()


def test_the_tree_opens_and_shows_attributes(page):
    page.show("surface")
    assert page.page.get_by_role("treeitem", name="t2m", exact=True).is_visible()
    page.show("t2m")
    page.page.get_by_role("tab", name="Inspect", exact=True).click()
    for text in ("units", "deflate", "120 x 200 = 24000"):
        page.page.get_by_text(text, exact=True).first.wait_for()
    page.picture("tree")


def test_a_plane_is_a_heat_map(page):
    page.show("surface", "t2m", kind="Heatmap")
    box = canvas(page)
    assert colours(page.picture("heat-map"), box) > 200


def test_planes_of_a_cube_are_fetched_one_by_one(page):
    asked = []
    page.page.on("request", lambda request: "/data?" in request.url and asked.append(request.url))
    page.show("surface", "hours", kind="Heatmap")
    box = canvas(page)
    assert colours(page.picture("cube"), box) > 200
    assert asked and all("selection=0%2C%3A%2C%3A" in url for url in asked), asked


def test_a_row_of_numbers_is_a_line(page):
    page.show("line", kind="Line")
    box = canvas(page)
    assert colours(page.picture("line"), box) > 3


def test_an_image_has_its_colours(page):
    page.show("photo", kind="RGB")
    box = canvas(page)
    pixels = page.picture("rgb")
    row = pixels[int(box["y"] + box["height"] / 2)]
    found = {tuple(np.rint(pixel).astype(int)) for pixel in row[int(box["x"]) : int(box["x"] + box["width"])]}
    assert {(1, 0, 0), (0, 1, 0), (0, 0, 1)} <= found


def test_records_are_a_table(page):
    page.show("stations", kind="Compound")
    for text in ("station", "height", "Lindenberg", "Säntis", "2.501e+3"):
        page.page.get_by_text(text, exact=False).first.wait_for()
    page.picture("compound")


def test_a_string_is_shown(page):
    page.show("text")
    page.page.get_by_text("Grüße aus dem HDF5-File").first.wait_for()
    page.picture("string")


def test_complex_numbers_are_lines_and_planes(page):
    page.show("wave", kind="Line")
    box = canvas(page)
    assert colours(page.picture("complex-line"), box) > 3
    page.show("wave_plane", kind="Heatmap")
    box = canvas(page)
    assert colours(page.picture("complex-plane"), box) > 200


def test_numbers_of_another_byte_order_are_a_matrix(page):
    page.show("big_endian", kind="Matrix")
    for text in ("1.000e+1", "1.100e+1"):
        page.page.get_by_text(text, exact=True).first.wait_for()
    page.picture("matrix")


def test_an_error_is_shown_where_it_happens(page):
    page.show("broken")
    page.page.get_by_text("deflate", exact=False).first.wait_for()
    page.picture("error")
    page.problems.clear()  # the browser notes the status 500
    page.show("line", kind="Line")
    canvas(page)


def test_a_link_that_leads_nowhere_says_so(page):
    page.show("dangling", kind="Inspect")
    page.page.get_by_text("/nowhere", exact=True).first.wait_for()
    page.picture("dangling")


def test_numbers_are_saved_as_a_file(page):
    page.show("surface", "t2m", kind="Heatmap")
    canvas(page)
    page.page.get_by_role("button", name="More controls").click()
    page.page.get_by_role("button", name="Export").click()
    with page.page.expect_download() as download:
        page.page.get_by_text("NPY", exact=False).click()
    with open(download.value.path(), "rb") as saved:
        assert np.load(io.BytesIO(saved.read())).shape == (120, 200)


def test_another_file_can_be_chosen(page):
    page.page.get_by_role("combobox", name="File").select_option("other.h5")
    page.page.get_by_role("treeitem", name="numbers", exact=True).click()
    page.picture("other-file")
    page.page.reload()
    page.page.get_by_role("treeitem", name="numbers", exact=True).wait_for()


def test_a_change_of_the_file_is_announced(chromium, tmp_path):
    path = tmp_path / "grows.h5"
    with h5py.File(path, "w") as f:
        f["first"] = 1
    with Viewer(path) as viewer:
        context = chromium.new_context(viewport={"width": 1100, "height": 700})
        page = Page(context.new_page(), viewer)
        with h5py.File(path, "r+", locking=False) as f:
            f["second"] = 2
        page.page.get_by_role("button", name="Reload", exact=True).wait_for()
        page.picture("changed")
        page.page.get_by_role("button", name="Reload", exact=True).click()
        page.page.get_by_role("treeitem", name="second", exact=True).wait_for()
        context.close()
