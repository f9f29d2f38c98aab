//! Types of decryption take back what those of encryption did, through the traits.

use cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use trio::{Aes128, Aes128Decrypt, Serpent128, Serpent128Decrypt};

fn both<E, D>(n: usize)
where
    E: BlockCipherEncrypt + KeyInit,
    D: BlockCipherDecrypt + KeyInit + BlockSizeUser<BlockSize = E::BlockSize>,
{
    let key: Vec<u8> = (0..E::key_size() as u8).collect();
    let (there, back) = (E::new_from_slice(&key).unwrap(), D::new_from_slice(&key).unwrap());
    let mut blocks: Vec<Block<E>> = vec![Default::default(); n];
    for (i, block) in blocks.iter_mut().enumerate() {
        block.iter_mut().zip(i as u8..).for_each(|(byte, value)| *byte = value);
    }
    let plain = blocks.clone();
    there.encrypt_blocks(&mut blocks);
    assert_ne!(blocks, plain);
    back.decrypt_blocks(&mut blocks);
    assert_eq!(blocks, plain);
}

#[test]
fn decryption_is_the_inverse() {
    // FIPS 197, appendix C.1.
    let key: [u8; 16] = core::array::from_fn(|i| i as u8);
    let mut block = u128::to_be_bytes(0x69c4e0d86a7b0430d8cdb78070b4c55a).into();
    <Aes128Decrypt as KeyInit>::new(&key.into()).decrypt_block(&mut block);
    assert_eq!(<[u8; 16]>::from(block), core::array::from_fn(|i| 0x11 * i as u8));
    for n in [1, 7, 65] {
        both::<Aes128, Aes128Decrypt>(n);
        both::<Serpent128, Serpent128Decrypt>(n);
    }
}
