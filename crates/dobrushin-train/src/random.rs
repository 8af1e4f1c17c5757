//! Where randomness comes from.

use dobrushin::numeric::bits::RandomBits;
use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{Rng, RngExt, SeedableRng, TryRng};

/// What the randomness starts from.
///
/// ```
/// use dobrushin::numeric::bits::RandomBits;
/// use dobrushin_train::{Generators, Seed};
///
/// // A known seed gives the same bits again, so that it is for tests only.
/// let first = |seed| Ok::<_, dobrushin_train::NoRandomness>(Generators::new(seed)?.stream(0).bits());
/// assert_eq!(first(Seed::Known(7))?, first(Seed::Known(7))?);
/// assert_ne!(first(Seed::OperatingSystem)?, first(Seed::OperatingSystem)?);
/// # Ok::<(), dobrushin_train::NoRandomness>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seed {
    /// 256 bits from the operating system, new in every run.
    OperatingSystem,
    /// A known number: anybody can draw the same again, so it protects nobody.
    Known(u64),
}

/// The operating system gives no randomness, so nothing can be private.
///
/// ```
/// use dobrushin_train::{Generators, NoRandomness, Seed};
///
/// // Without randomness nothing is trained: there is no other source to fall back to.
/// fn generators() -> Result<Generators, NoRandomness> {
///     Generators::new(Seed::OperatingSystem)
/// }
/// assert!(generators().is_ok());
/// ```
#[derive(Debug, thiserror::Error)]
#[error("the operating system gives no randomness, so that nothing can be private")]
pub struct NoRandomness(#[source] Box<dyn std::error::Error + Send + Sync>);

/// Independent ChaCha20 generators: one key, and a stream for each number.
///
/// ```
/// use dobrushin::numeric::bits::RandomBits;
/// use dobrushin_train::{Generators, Seed};
///
/// // Each stream has bits of its own.
/// let generators = Generators::new(Seed::Known(7))?;
/// assert_ne!(generators.stream(0).bits(), generators.stream(1).bits());
/// # Ok::<(), dobrushin_train::NoRandomness>(())
/// ```
pub struct Generators {
    key: [u8; 32],
}

impl Generators {
    /// Makes the key.
    ///
    /// # Errors
    /// [`NoRandomness`].
    pub fn new(seed: Seed) -> Result<Self, NoRandomness> {
        let mut key = [0; 32];
        match seed {
            Seed::Known(number) => key[..8].copy_from_slice(&number.to_le_bytes()),
            Seed::OperatingSystem => {
                SysRng.try_fill_bytes(&mut key).map_err(|error| NoRandomness(Box::new(error)))?;
            }
        }
        Ok(Self { key })
    }

    /// The generator of one stream. If you ask twice, it gives the same bits twice: every use needs a number of its
    /// own.
    pub fn stream(&self, number: u64) -> Bits {
        let mut generator = ChaCha20Rng::from_seed(self.key);
        generator.set_stream(number);
        Bits(generator)
    }
}

/// The bits of one stream.
///
/// ```
/// use dobrushin::numeric::bits::{Coin, RandomBits};
/// use dobrushin_train::{Generators, Seed};
///
/// let mut bits = Generators::new(Seed::Known(7))?.stream(0);
/// let heads = (0..10_000).filter(|_| Coin::at_most(0.5).toss(&mut bits)).count();
/// // Within ten standard deviations, which are √10000/2 each.
/// assert!(heads.abs_diff(5000) < 500);
/// # Ok::<(), dobrushin_train::NoRandomness>(())
/// ```
pub struct Bits(ChaCha20Rng);

impl Bits {
    /// How many bits were drawn, in units of 32.
    pub(crate) fn drawn(&self) -> u64 {
        // A stream is shorter than 2⁶⁸ units, and nobody draws 2⁶⁴ of them.
        self.0.get_word_pos() as u64
    }

    /// Goes on where this many units of 32 bits were drawn.
    pub(crate) fn go_on_after(&mut self, drawn: u64) {
        self.0.set_word_pos(drawn.into());
    }
}

impl RandomBits for Bits {
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn fill(&mut self, words: &mut [u64]) {
        self.0.fill(words);
    }
}

/// Independent streams, each used once.
pub(crate) struct Streams<'a> {
    pub generators: &'a Generators,
    next: u64,
}

impl<'a> Streams<'a> {
    pub fn new(generators: &'a Generators) -> Self {
        Self { generators, next: 0 }
    }

    pub fn fresh(&mut self) -> Bits {
        self.next += 1;
        self.generators.stream(self.next - 1)
    }

    /// Leaves out this many streams, which were used before.
    pub fn skip(&mut self, count: u64) {
        self.next = self.next.saturating_add(count);
    }

    /// The first of this many streams that nobody else gets.
    pub fn reserve(&mut self, count: usize) -> u64 {
        let first = self.next;
        self.next += count as u64;
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(seed: Seed, stream: u64) -> Vec<u64> {
        let generators = Generators::new(seed).expect("the system has randomness");
        let mut bits = generators.stream(stream);
        (0..100).map(|_| bits.bits()).collect()
    }

    #[test]
    fn a_known_seed_repeats_itself_and_the_system_never_does() {
        assert_eq!(words(Seed::Known(7), 3), words(Seed::Known(7), 3));
        assert_ne!(words(Seed::Known(7), 3), words(Seed::Known(8), 3));
        assert_ne!(words(Seed::OperatingSystem, 0), words(Seed::OperatingSystem, 0));
    }

    #[test]
    fn streams_share_no_word() {
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
