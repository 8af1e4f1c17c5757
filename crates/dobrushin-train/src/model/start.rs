//! Where training starts.

use super::Model;
use dobrushin::numeric::bits::RandomBits;

impl Model {
    /// The first parameters. They do not depend on any record.
    ///
    /// Models with a convex loss start at 0. A network that did so would never leave it. Its weights are independent
    /// and uniform with mean 0 and variance 2/inputs, which keeps the size of what rectified units pass on (He, Zhang,
    /// Ren, Sun 2015), and its offsets are 0.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Squared;
    use crate::{Generators, Seed};

    fn start(model: &Model, seed: u64) -> Vec<f64> {
        let mut bits = Generators::new(Seed::Known(seed)).expect("a known seed").stream(0);
        model.start(&mut bits)
    }

    #[test]
    fn models_with_a_convex_loss_start_at_zero() {
        assert_eq!(start(&Model::Linear { loss: Squared.into(), features: 3 }, 1), [0.0; 3]);
        assert_eq!(start(&Model::Softmax { classes: 2, features: 3 }, 1), [0.0; 6]);
    }

    #[test]
    fn the_weights_of_a_network_are_random_with_variance_two_over_inputs_and_its_offsets_zero() {
        let model = Model::Network { hidden: vec![200, 50], classes: 40, features: 100 };
        let parameters = start(&model, 1);
        assert_eq!(parameters.len(), model.parameters());
        let mut rest = &parameters[..];
        for (inputs, units) in [(100, 200), (200, 50), (50, 40)] {
            let (weights, after) = rest.split_at(inputs * units);
            let (offsets, after) = after.split_at(units);
            rest = after;
            assert!(offsets.iter().all(|&offset| offset == 0.0));
            let count = weights.len() as f64;
            let mean = weights.iter().sum::<f64>() / count;
            let variance = weights.iter().map(|w| w * w).sum::<f64>() / count;
            let wanted = 2.0 / inputs as f64;
            // This allows five standard deviations; that of w² is √(4/5) times its mean.
            assert!(mean.abs() < 5.0 * (wanted / count).sqrt(), "{inputs}: {mean}");
            assert!((variance / wanted - 1.0).abs() < 5.0 * (0.8 / count).sqrt(), "{inputs}: {variance}");
        }
        assert!(rest.is_empty());
        assert_eq!(parameters, start(&model, 1));
        assert_ne!(parameters, start(&model, 2));
    }
}
