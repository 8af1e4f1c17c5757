//! Where training starts.

use super::Model;
use dobrushin::local::RandomBits;

impl Model {
    /// The first parameters. They depend on no record.
    ///
    /// Models with a convex loss start at 0. A network that did would never leave it; its weights are independent and
    /// uniform with mean 0 and variance 2/inputs, which keeps the size of what rectified units pass on (He, Zhang, Ren,
    /// Sun 2015), and its offsets are 0.
    pub fn start(&self, bits: &mut impl RandomBits) -> Vec<f64> {
        let mut parameters = vec![0.0; self.parameters()];
        if let Self::Network { hidden, classes, features } = self {
            let (mut inputs, mut rest) = (*features, &mut parameters[..]);
            for &units in hidden.iter().chain([classes]) {
                let (weights, after) = rest.split_at_mut(inputs * units);
                let largest = (6.0 / inputs as f64).sqrt();
                weights.fill_with(|| largest * (2.0 * unit(bits) - 1.0));
                rest = &mut after[units..];
                inputs = units;
            }
        }
        parameters
    }
}

/// Uniform between 0 and 1.
fn unit(bits: &mut impl RandomBits) -> f64 {
    (bits.bits() >> 11) as f64 / (1u64 << 53) as f64
}
