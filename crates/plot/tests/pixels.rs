//! Tests pictures by their pixels.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use hyperslab_plot::{Plane, PlaneAxis, Size, plane};

const SIZE: Size = Size { width: 600, height: 400 };

/// Returns three rows, of negative values, NaN and positive values. All columns are equal.
fn rows(values: &[f32]) -> Plane<'_> {
    Plane {
        values,
        rows: 3,
        columns: values.len() / 3,
        row_axis: PlaneAxis { label: "time (ms)", first: 0.0, last: 1000.0 },
        column_axis: PlaneAxis { label: "crossline", first: 100.0, last: 200.0 },
        title: "inline 7",
        clip: 99.0,
    }
}

#[test]
fn a_plane_is_drawn_row_by_row_in_the_colours_of_its_values() {
    let scratch = tempfile::tempdir().unwrap();
    let values: Vec<f32> = [-1.0, f32::NAN, 1.0].into_iter().flat_map(|value| [value; 50]).collect();
    plane(scratch.path().join("plane.png"), SIZE, &rows(&values)).unwrap();
    let picture = image::open(scratch.path().join("plane.png")).unwrap().to_rgb8();
    assert_eq!(picture.dimensions(), (600, 400));
    // Pixels in the middle of the picture, from top to bottom.
    let at = |y| picture.get_pixel(250, y).0;
    assert_eq!([at(60), at(190), at(320)], [[5, 48, 97], [170, 170, 170], [103, 0, 31]]);
    // The colour bar at the right goes from the greatest value down to the least.
    let bar = |y| picture.get_pixel(600 - 122 + 24 + 9, y).0;
    let (top, middle, bottom) = (bar(49), bar(193), bar(336));
    assert!(top[0] > 100 && top[1] < 10 && bottom[2] > 90 && bottom[0] < 10, "{top:?} {bottom:?}");
    assert!(middle.iter().all(|part| *part > 245), "{middle:?}");
    // Title and labels are drawn, and the corner is white.
    let is_dark = |x: u32, y: u32| picture.get_pixel(x, y).0.iter().all(|&part| part < 120);
    let dark = |xs: std::ops::Range<u32>, ys: std::ops::Range<u32>| {
        xs.flat_map(|x| ys.clone().map(move |y| (x, y))).filter(|&(x, y)| is_dark(x, y)).count()
    };
    assert!(dark(150..450, 5..40) > 50, "the title");
    assert!(dark(150..450, 370..400) > 50, "the label of the columns");
    assert!(dark(5..35, 100..300) > 50, "the label of the rows");
    assert_eq!(picture.get_pixel(0, 0).0, [255; 3]);
}

#[test]
fn the_clip_sets_the_value_with_the_strongest_colour() {
    let scratch = tempfile::tempdir().unwrap();
    let mut values = vec![0.5_f32; 300];
    values[0] = 1000.0;
    let colour = |clip: f64| {
        plane(scratch.path().join("clip.png"), SIZE, &Plane { clip, ..rows(&values) }).unwrap();
        image::open(scratch.path().join("clip.png")).unwrap().to_rgb8().get_pixel(250, 200).0
    };
    assert_eq!(colour(99.0), [103, 0, 31], "the one outlier is clipped");
    assert_eq!(colour(100.0), [255, 255, 255], "the values are nothing compared to the outlier");
}

#[test]
fn an_svg_contains_the_image_and_its_text() {
    let scratch = tempfile::tempdir().unwrap();
    plane(scratch.path().join("plane.svg"), SIZE, &rows(&[1.0; 30])).unwrap();
    let svg = std::fs::read_to_string(scratch.path().join("plane.svg")).unwrap();
    for part in ["<svg width=\"600\" height=\"400\"", "<image", "inline 7", "time (ms)", "crossline"] {
        assert!(svg.contains(part), "{part}");
    }
}

#[test]
fn pictures_that_cannot_be_drawn_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let values = [1.0_f32; 30];
    let refused = |name: &str, size, described: &Plane<'_>| {
        plane(scratch.path().join(name), size, described).unwrap_err().to_string()
    };
    assert!(refused("a.jpg", SIZE, &rows(&values)).contains("a picture is a .png or an .svg"));
    assert!(refused("a.png", Size { width: 9, height: 400 }, &rows(&values)).contains("from 200 to 16384"));
    assert!(
        refused("a.png", SIZE, &Plane { columns: 11, ..rows(&values) })
            .contains("30 values are not 3 rows of 11")
    );
    assert!(refused("a.png", SIZE, &Plane { rows: 0, ..rows(&[]) }).contains("0 values"));
    assert!(refused("a.png", SIZE, &Plane { clip: 101.0, ..rows(&values) }).contains("from 0 to 100"));
    assert!(!refused("none/a.png", SIZE, &rows(&values)).is_empty());
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}
