//! Where the randomness of reports comes from.

use crate::problem::Problem;
use dobrushin::local::RandomBits;
use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{Rng, RngExt, SeedableRng, TryRng};

/// What the randomness starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seed {
    /// 256 bits of the operating system, new in every run.
    OperatingSystem,
    /// A number that is known: what is drawn can be drawn again, and protects nobody.
    Known(u64),
}

/// One ChaCha20 generator for each batch: the same key, and the number of the batch as its stream.
pub struct Generators {
    key: [u8; 32],
}

impl Generators {
    /// The key.
    pub fn new(seed: Seed) -> Result<Self, Problem> {
        let mut key = [0; 32];
        match seed {
            Seed::Known(number) => key[..8].copy_from_slice(&number.to_le_bytes()),
            Seed::OperatingSystem => SysRng.try_fill_bytes(&mut key).map_err(|error| {
                let message = "the operating system gives no randomness, so that nothing can be private";
                Problem::new(message).because(error)
            })?,
        }
        Ok(Self { key })
    }

    /// The generator of one batch.
    pub fn of_batch(&self, batch: u64) -> impl RandomBits {
        let mut generator = ChaCha20Rng::from_seed(self.key);
        generator.set_stream(batch);
        Bits(generator)
    }
}

struct Bits(ChaCha20Rng);

impl RandomBits for Bits {
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn fill(&mut self, words: &mut [u64]) {
        self.0.fill(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(seed: Seed, batch: u64) -> Vec<u64> {
        let generators = Generators::new(seed).expect("the system has randomness");
        let mut bits = generators.of_batch(batch);
        (0..100).map(|_| bits.bits()).collect()
    }

    #[test]
    fn a_known_seed_repeats_itself_and_the_system_never_does() {
        assert_eq!(words(Seed::Known(7), 3), words(Seed::Known(7), 3));
        assert_ne!(words(Seed::Known(7), 3), words(Seed::Known(8), 3));
        assert_ne!(words(Seed::OperatingSystem, 0), words(Seed::OperatingSystem, 0));
    }

    #[test]
    fn batches_share_no_word() {
        let (one, two) = (words(Seed::Known(7), 0), words(Seed::Known(7), 1));
        assert!(one.iter().all(|word| !two.contains(word)));
    }

    #[test]
    fn the_words_of_a_seed_never_change() {
        // ChaCha20 with an all-zero key and nonce: the first words of its key stream (RFC 8439, appendix A.1, test 1).
        let mut generator = ChaCha20Rng::from_seed([0; 32]);
        assert_eq!(generator.next_u64().to_le_bytes(), [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
    }
}
