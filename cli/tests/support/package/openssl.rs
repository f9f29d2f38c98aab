//! The traits of RustCrypto's `cipher`, against what OpenSSL wrote to the two files.

use cipher::{Block, BlockCipherEncrypt, KeyInit, KeyIvInit, StreamCipher, StreamCipherError};
use trio::{Aes128, Aes128Ctr, Chacha20Ctr, Error, Lea128};

fn text(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i % 251) as u8).collect()
}

fn reference(name: &str) -> Vec<u8> {
    std::fs::read(std::env::var(name).unwrap()).unwrap()
}

/// All lengths, each stream started anew; written in place, from another buffer, and in pieces.
fn agrees<S: StreamCipher>(start: impl Fn() -> S, expected: &[u8], longest: usize) {
    for n in 0..=longest {
        let mut whole = text(n);
        start().apply_keystream(&mut whole);
        assert_eq!(whole, expected[..n], "{n}");
        let mut other = vec![0; n];
        start().apply_keystream_b2b(&text(n), &mut other);
        assert_eq!(other, whole);
    }
    let (mut stream, mut pieces) = (start(), text(longest));
    let mut at = 0;
    for n in (0..).take_while(|n| n * (n + 1) / 2 < longest) {
        let end = (at + n).min(longest);
        stream.apply_keystream(&mut pieces[at..end]);
        at = end;
    }
    stream.apply_keystream(&mut pieces[at..]);
    assert_eq!(pieces, expected[..longest]);
}

#[test]
fn streams_agree_with_openssl() {
    let start = || <Aes128Ctr as KeyIvInit>::new(&[7; 16].into(), &[9; 16].into());
    agrees(start, &reference("AES_REFERENCE"), 4 * 16 * trio::aes128::width() + 1);
    let start = || Chacha20Ctr::new(&[7; 32], 5, &[9; 12]);
    agrees(start, &reference("CHACHA_REFERENCE"), 4 * 64 * trio::chacha20::width() + 1);
}

#[test]
fn blocks_go_through_the_traits_in_any_number() {
    let key = [0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78, 0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1, 0xf0];
    let lea = <Lea128 as KeyInit>::new_from_slice(&key).unwrap();
    assert!(<Lea128 as KeyInit>::new_from_slice(&key[1..]).is_err());
    let input: Vec<u8> = (0x10..0x20).collect();
    let made = [0x9f, 0xc8, 0x4e, 0x35, 0x28, 0xc6, 0xc6, 0x18, 0x55, 0x32, 0xc7, 0xa7, 0x04, 0x64, 0x8b, 0xfd];
    for n in 0..=4 * trio::lea128::width() + 1 {
        let mut blocks = vec![Block::<Lea128>::try_from(&input[..]).unwrap(); n];
        lea.encrypt_blocks(&mut blocks);
        assert!(blocks.iter().all(|block| block[..] == made), "{n}");
    }
    assert_eq!(lea.blocks(&input, &mut [0; 15]), Err(Error::Length));
}

#[test]
fn a_counter_near_its_end_is_an_error() {
    let mut stream = Aes128Ctr::new(Aes128::new(&[0; 16]), &[0xff; 16]);
    assert!(stream.check_remaining(16).is_ok() && stream.check_remaining(17).is_err());
    let mut data = [0xa5; 17];
    let refused: Result<(), StreamCipherError> = stream.try_apply_keystream(&mut data);
    assert!(refused.is_err() && data == [0xa5; 17]);
    assert_eq!(stream.xor(&mut data), Err(Error::Ends));
    assert!(stream.try_apply_keystream(&mut data[..16]).is_ok());
}
