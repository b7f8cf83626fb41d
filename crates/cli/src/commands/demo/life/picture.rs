//! A small picture: sky, sea and a sun, as a PNG without compression.

use super::random::Random;

const WIDTH: usize = 96;
const HEIGHT: usize = 64;

pub(super) fn draw(random: &mut Random) -> Vec<u8> {
    let (sun_x, sun_y) = (10 + random.below(WIDTH - 20), 8 + random.below(HEIGHT / 2 - 16));
    let horizon = HEIGHT / 2 + random.below(10);
    let mut rows = Vec::with_capacity(HEIGHT * (1 + 3 * WIDTH));
    for y in 0..HEIGHT {
        rows.push(0);
        for x in 0..WIDTH {
            let shade = u8::try_from(y * 2).unwrap_or(u8::MAX);
            let sun = x.abs_diff(sun_x).pow(2) + y.abs_diff(sun_y).pow(2) < 40;
            rows.extend_from_slice(&match (sun, y < horizon) {
                (true, _) => [255, 214, 90],
                (false, true) => [120 + shade / 2, 170 + shade / 3, 230],
                (false, false) => [30, 90, 200 - shade],
            });
        }
    }
    let side = |length: usize| u32::try_from(length).unwrap_or_default().to_be_bytes();
    let header = [&side(WIDTH)[..], &side(HEIGHT)[..], &[8, 2, 0, 0, 0]].concat();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, body) in [(b"IHDR", header), (b"IDAT", stored(&rows)), (b"IEND", Vec::new())] {
        let named = [&name[..], &body[..]].concat();
        file.extend_from_slice(&side(body.len()));
        file.extend_from_slice(&named);
        file.extend_from_slice(&crc32(&named).to_be_bytes());
    }
    file
}

/// A zlib stream of blocks that are stored as they are.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks = bytes.chunks(0xFFFF);
    let last = blocks.len() - 1;
    for (number, block) in blocks.enumerate() {
        let length = u16::try_from(block.len()).unwrap_or_default();
        stream.push(u8::from(number == last));
        stream.extend_from_slice(&length.to_le_bytes());
        stream.extend_from_slice(&(!length).to_le_bytes());
        stream.extend_from_slice(block);
    }
    let (low, high) = bytes.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    stream.extend_from_slice(&(high << 16 | low).to_be_bytes());
    stream
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & 0_u32.wrapping_sub(crc & 1)))
    })
}
