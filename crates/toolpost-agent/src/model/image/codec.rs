//! PNG and JPEG to pixels, and pixels to PNG. The only place that knows the libraries.

use std::io::Cursor;

/// A picture of 8 bits a channel.
#[derive(Clone)]
pub(super) struct Pixels {
    pub(super) width: u32,
    pub(super) height: u32,
    /// 1 to 4: grey, grey and alpha, colours, colours and alpha.
    pub(super) channels: usize,
    pub(super) data: Vec<u8>,
}

/// The pixels of a PNG or JPEG.
pub(super) fn decode(bytes: &[u8]) -> Result<Pixels, String> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => decode_png(bytes),
        [0xff, 0xd8, ..] => decode_jpeg(bytes),
        _ => Err("only PNG and JPEG can be scaled; convert it first".to_owned()),
    }
}

fn decode_png(bytes: &[u8]) -> Result<Pixels, String> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: 256 << 20 });
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let size = reader.output_buffer_size().ok_or("it is too large to decode")?;
    let mut data = vec![0; size];
    let info = reader.next_frame(&mut data).map_err(|error| error.to_string())?;
    data.truncate(info.buffer_size());
    let channels = info.color_type.samples();
    Ok(Pixels { width: info.width, height: info.height, channels, data })
}

fn decode_jpeg(bytes: &[u8]) -> Result<Pixels, String> {
    let mut decoder = zune_jpeg::JpegDecoder::new(Cursor::new(bytes));
    decoder.set_options(
        zune_jpeg::zune_core::options::DecoderOptions::default()
            .jpeg_set_out_colorspace(zune_jpeg::zune_core::colorspace::ColorSpace::RGB),
    );
    let data = decoder.decode().map_err(|error| format!("{error:?}"))?;
    let (width, height) = decoder.dimensions().ok_or("it has no size")?;
    let (width, height) = (width as u32, height as u32);
    let pixels = width as usize * height as usize;
    match [1, 3].into_iter().find(|channels| data.len() == pixels * channels) {
        Some(channels) => Ok(Pixels { width, height, channels, data }),
        None => Err("it is not whole".to_owned()),
    }
}

/// A PNG.
pub(super) fn encode(pixels: &Pixels) -> Result<Vec<u8>, String> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixels.width, pixels.height);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_color(match pixels.channels {
        1 => png::ColorType::Grayscale,
        2 => png::ColorType::GrayscaleAlpha,
        3 => png::ColorType::Rgb,
        _ => png::ColorType::Rgba,
    });
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(&pixels.data).map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(file)
}
