//! SVG text to PNG bytes, with the font that is part of the program.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::PlotError;

/// Pixels per SVG user unit.
const SCALE: f32 = 2.0;

/// DejaVu Sans, reduced to Latin, Greek and the mathematical signs that the plots use.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// Renders SVG text without looking at the fonts of the machine.
pub(super) fn render(svg: &str) -> Result<Vec<u8>, PlotError> {
    let tree = parse(svg)?;
    let width = (tree.size().width() * SCALE).ceil() as u32;
    let height = (tree.size().height() * SCALE).ceil() as u32;
    let mut pixels = Pixmap::new(width, height).ok_or(PlotError::TooLarge { width, height })?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| PlotError::Encode(e.into()))
}

/// Reads SVG text; all of its writing is set in [`FONT`].
pub(crate) fn parse(svg: &str) -> Result<Tree, PlotError> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    Ok(Tree::from_str(svg, &options)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small picture with the given content.
    fn picture(content: &str) -> String {
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"30\">{content}</svg>")
    }

    #[test]
    fn a_user_unit_is_two_pixels() {
        let png = render(&picture("")).expect("an empty picture renders");
        let image = Pixmap::decode_png(&png).expect("it is a PNG");
        assert_eq!((image.width(), image.height()), (80, 60));
    }

    #[test]
    fn text_is_drawn_without_fonts_of_the_machine() {
        for sign in "Aδεγηθ−×≤≥∞→⁻…–—‖₀₉·∈é".chars() {
            let content = format!("<text x=\"5\" y=\"25\" font-family=\"DejaVu Sans\">{sign}</text>");
            let png = render(&picture(&content)).expect("text renders");
            let image = Pixmap::decode_png(&png).expect("it is a PNG");
            assert!(image.data().iter().any(|&byte| byte != 0), "{sign} is drawn");
        }
    }

    #[test]
    fn a_text_that_is_not_svg_is_an_error() {
        assert!(matches!(render("<svg"), Err(PlotError::Render(_))));
    }

    #[test]
    fn the_font_is_small() {
        assert!(FONT.len() < 60_000);
    }
}
