//! What a finite channel does to every two of its inputs.

use crate::report::{Coefficients, EtaReport, Level};
use dobrushin::kernel::{Contraction, FiniteKernel, Kernel};
use dobrushin::{Delta, Gamma, Probability, Progress};

/// What is asked about a channel, besides its contraction of total variation, χ² and KL.
pub struct ChannelWishes<'a> {
    /// The levels at which η is wanted.
    pub levels: &'a [Level],
    /// The δ for which to find ε.
    pub deltas: &'a [Delta],
    /// Where to find the tight curve F_γ, at every level.
    pub tight: &'a [Probability],
}

/// The δ that are asked for, and 0, which is always worth knowing, before them.
pub fn and_zero(deltas: &[Delta]) -> Vec<Delta> {
    let zero = (!deltas.contains(&Delta::ZERO)).then_some(Delta::ZERO);
    zero.into_iter().chain(deltas.iter().copied()).collect()
}

/// The coefficients of a channel. `begin` is told, in words, what is being done, and says where to count it.
pub fn channel(
    kernel: &FiniteKernel,
    wishes: &ChannelWishes<'_>,
    begin: &mut dyn FnMut(&'static str) -> Progress,
) -> Coefficients {
    let progress = begin("contraction");
    progress.add_parts(wishes.levels.len() as u64);
    let eta = |&level: &Level| {
        let tight = wishes.tight.iter().map(|&e| (e, kernel.tight(level.gamma, e)));
        let Contraction { value, pair } = kernel.contraction_with_pair(level.gamma);
        let found = EtaReport::new(level, value, Some(pair), tight);
        progress.advance(1);
        found
    };
    let eta = wishes.levels.iter().map(eta).collect();
    let tv = kernel.contraction_with_pair(Gamma::ONE);
    let epsilon_at_delta = wishes.deltas.iter().map(|&delta| (delta, kernel.epsilon_at(delta))).collect();
    let progress = begin("contraction of χ² and KL");
    progress.add_parts(kernel.inputs() as u64);
    let chi2 = kernel.chi_squared_contraction_with_progress(|| progress.advance(1));
    Coefficients {
        eta,
        tv: (tv.value, Some(tv.pair)),
        chi2: (chi2.value, Some((chi2.pair, chi2.weight))),
        epsilon_at_delta,
    }
}
