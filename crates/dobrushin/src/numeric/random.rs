//! Pseudorandom numbers for experiments, the same in every run.

/// SplitMix64. Anyone who knows the seed knows every number: it is for tests and simulations, never for noise that
/// protects somebody.
///
/// ```
/// use dobrushin::numeric::Random;
/// assert_eq!(Random::new(7).below(10), Random::new(7).below(10));
/// ```
pub struct Random(u64);

impl Random {
    /// The generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An integer below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// Uniform in `[from, to]`.
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        let unit = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        from + (to - from) * unit
    }

    /// Uniform in the logarithm, for positive ends.
    pub fn log_between(&mut self, from: f64, to: f64) -> f64 {
        libm::exp(self.between(libm::log(from), libm::log(to))).clamp(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_of_a_seed_never_change() {
        let mut random = Random::new(0);
        assert_eq!([random.bits(), random.bits()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }
}
