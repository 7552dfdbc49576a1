//! Images are scaled to a model's limits, and refused with a note where that cannot be done.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use toolpost_agent::model::{ImageLimits, fit};
use toolpost_core::outcome::{Attachment, AttachmentContent};

fn attachment(bytes: &[u8], kind: &str) -> Attachment {
    let content = AttachmentContent::Data(STANDARD.encode(bytes));
    Attachment { media_type: kind.into(), filename: "picture".into(), content }
}

fn png(width: u32, height: u32, color: png::ColorType) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let length = width as usize * height as usize * color.samples();
    // Left half dark, right half bright, so that a mean shows.
    let row = width as usize * color.samples();
    let data: Vec<u8> = (0..length).map(|at| if at % row < row / 2 { 10 } else { 240 }).collect();
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&data).unwrap();
    writer.finish().unwrap();
    file
}

/// 333 by 999 pixels, from black to white.
const JPEG: &[u8] = include_bytes!("../../data/gradient.jpg");

fn size(attachment: &Attachment) -> (String, u32, u32, usize) {
    let AttachmentContent::Data(data) = &attachment.content else { panic!() };
    let bytes = STANDARD.decode(data).unwrap();
    let reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let (width, height) = (reader.info().width, reader.info().height);
    (attachment.media_type.clone(), width, height, bytes.len())
}

#[test]
fn large_images_are_scaled_and_small_ones_are_left_alone() {
    let limits = ImageLimits { edge: 100, bytes: 20_000 };
    for color in
        [png::ColorType::Grayscale, png::ColorType::GrayscaleAlpha, png::ColorType::Rgb, png::ColorType::Rgba]
    {
        assert_eq!(fit(&attachment(&png(100, 60, color), "image/png"), &limits), Ok(None));
        let scaled = fit(&attachment(&png(400, 200, color), "image/png"), &limits).unwrap().unwrap();
        let (kind, width, height, _) = size(&scaled);
        assert_eq!((kind.as_str(), width, height), ("image/png", 100, 50));
    }
    let scaled = fit(&attachment(JPEG, "image/jpeg"), &limits).unwrap().unwrap();
    let (kind, width, height, bytes) = size(&scaled);
    assert_eq!((kind.as_str(), width, height), ("image/png", 33, 100));
    assert!(bytes <= limits.bytes);
    // Small enough in pixels, too large in bytes.
    let tight = ImageLimits { edge: 2_000, bytes: 1_000 };
    let (_, _, height, bytes) = size(&fit(&attachment(JPEG, "image/jpeg"), &tight).unwrap().unwrap());
    assert!(height < 999 && bytes <= 1_000, "{height} {bytes}");
    // A strip stays at least one pixel high.
    let strip = fit(&attachment(&png(5_000, 1, png::ColorType::Rgb), "image/png"), &limits).unwrap().unwrap();
    assert_eq!((size(&strip).1, size(&strip).2), (100, 1));
}

#[test]
fn what_cannot_be_scaled_is_a_note() {
    let limits = ImageLimits { edge: 100, bytes: 1_000 };
    let mut bomb = png(4, 4, png::ColorType::Rgb);
    bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let mut gif = b"GIF89a".to_vec();
    gif.extend([0, 8, 0, 8]);
    let mut webp = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0".to_vec();
    webp.extend([0xff, 0x0f, 0, 0xff, 0x0f, 0]);
    let mut cut = png(400, 400, png::ColorType::Rgb);
    cut.truncate(cut.len() / 2);
    let cases: [(Vec<u8>, &str); 6] = [
        (bomb, "cannot be scaled either"),
        (gif, "only PNG and JPEG"),
        (webp, "4096×4096 pixels"),
        (cut, "too large for the model"),
        (vec![7; 2_000], "no whole PNG, JPEG, GIF or WebP"),
        (png(200, 200, png::ColorType::Rgb)[..30].to_vec(), "too large for the model"),
    ];
    for (bytes, part) in cases {
        let note = fit(&attachment(&bytes, "image/png"), &limits).unwrap_err();
        assert!(note.contains(part), "{note}");
    }
    // Small enough, and still nothing that a provider takes.
    let roomy = ImageLimits { edge: 2_000, bytes: 1_000_000 };
    let whole = png(40, 40, png::ColorType::Rgb);
    let mut flat = whole.clone();
    flat[16..24].fill(0);
    let mut still = b"GIF89a\x02\0\x02\0\0\0\0".to_vec();
    let mut sound = still.clone();
    sound.push(0x3b);
    assert_eq!(fit(&attachment(&sound, "image/gif"), &roomy), Ok(None));
    still.push(0x2c);
    let cases: [(Vec<u8>, &str); 8] = [
        (flat, "0×0 pixels"),
        (whole[..whole.len() / 2].to_vec(), "damaged"),
        (whole[..20].to_vec(), "no whole PNG"),
        (JPEG[..JPEG.len() / 2].to_vec(), "damaged"),
        (JPEG[..JPEG.len() - 2].to_vec(), "damaged"),
        (still, "its end is missing"),
        (b"RIFF\xff\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x01\0\0\x01\0\0".to_vec(), "its end is missing"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), "no whole PNG"),
    ];
    for (bytes, part) in cases {
        let note = fit(&attachment(&bytes, "image/png"), &roomy).unwrap_err();
        assert!(note.contains(part), "{note}");
    }
    assert_eq!(fit(&attachment(JPEG, "image/jpeg"), &roomy), Ok(None));
    let mut invalid = attachment(b"", "image/png");
    invalid.content = AttachmentContent::Data("***".into());
    assert!(fit(&invalid, &limits).unwrap_err().contains("base64"));
    invalid.content = AttachmentContent::Handle("spill:1".into());
    assert_eq!(fit(&invalid, &limits), Ok(None));
}
