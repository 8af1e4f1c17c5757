//! Which digits are released.

/// Rounds to the nearest multiple of a power of two between 2⁻²¹ and 2⁻²⁰ of the noise, if there is one nearby.
///
/// Privacy is analysed for continuous noise, but a sampler gives numbers that are not equally dense everywhere. After
/// one step from a known start, somebody who knows what was added to them recognises them by their last digits (Mironov
/// 2012). Every multiple stands for about 2³⁰ numbers of each of the sampler's layers, and which of them it was is
/// lost: its probability is that of continuous noise up to a relative error of about 2⁻³⁰. Whatever is computed from
/// the release is as private as the release, and so is what is rounded.
pub(crate) fn round(value: f64, noise: f64) -> f64 {
    // The largest power of two that is not above the noise, if the noise is a normal number.
    let power = f64::from_bits(noise.to_bits() >> 52 << 52);
    let unit = power / (1_u64 << 20) as f64;
    let multiple = value / unit;
    // Larger numbers, and NaN, have no digits below the unit.
    if multiple.abs() < (1_u64 << 52) as f64 && unit > 0.0 { multiple.round() * unit } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_near_and_few_and_stay_as_they_are() {
        for noise in [1e-300, 1e-9, 0.3, 1.0, 1.9999, 1e20] {
            for i in -1000..1000 {
                let value = noise * f64::from(i) / 300.0;
                let rounded = round(value, noise);
                assert!((rounded - value).abs() <= noise / f64::from(1 << 21));
                assert_eq!(round(rounded, noise), rounded);
                // No digit is below 2⁻²¹ of the noise: all are multiples of it.
                let smallest = f64::from_bits(noise.to_bits() >> 52 << 52) / f64::from(1 << 20);
                assert_eq!((rounded / smallest).fract(), 0.0);
            }
        }
        assert_eq!(round(1e300, 1e-3), 1e300);
        assert_eq!(round(0.1, 5e-324), 0.1);
        assert!(round(f64::NAN, 1.0).is_nan() && round(f64::INFINITY, 1.0).is_infinite());
    }
}
