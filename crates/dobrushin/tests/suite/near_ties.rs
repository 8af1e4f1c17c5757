//! Many pairs of rows that differ by less than plain sums can tell: the upper
//! ends must cover the best of them, whichever was found.

use crate::laws::*;
use dobrushin::kernel::{FiniteKernel, Kernel};
use dobrushin::{Delta, Gamma};

/// Probabilities are integers over 2⁶⁰, each of them an `f64`.
const ONE: u64 = 1 << 60;
const HALF: usize = 500;

/// `HALF` numbers within a tenth of each other, with the given sum.
fn spread(random: &mut Random, sum: u64) -> Vec<u64> {
    let weights: Vec<u64> = (0..HALF).map(|_| 900 + random.bits() % 200).collect();
    let total: u64 = weights.iter().sum();
    let mut parts: Vec<u64> =
        weights.iter().map(|&w| (u128::from(sum) * u128::from(w) / u128::from(total)) as u64).collect();
    parts[0] += sum - parts.iter().sum::<u64>();
    parts
}

/// Six rows with about 4/5 of their mass on the first half of the outputs, six
/// with about 1/5; and how much each has there.
fn kernel(random: &mut Random) -> (FiniteKernel, Vec<u64>, Vec<u64>) {
    let mut rows = Vec::new();
    let mut heads = [Vec::new(), Vec::new()];
    for (kind, fifths) in [(0, 4), (1, 1)] {
        for _ in 0..6 {
            let head = ONE / 5 * fifths + 128 * (random.bits() % 9);
            let row: Vec<u64> = [spread(random, head), spread(random, ONE - head)].concat();
            assert_eq!(row.iter().sum::<u64>(), ONE);
            rows.push(row.iter().map(|&p| p as f64 / ONE as f64).collect());
            heads[kind].push(head);
        }
    }
    let [high, low] = heads;
    (FiniteKernel::new(rows).unwrap(), high, low)
}

#[test]
fn eta_is_not_below_the_best_of_many_close_pairs() {
    let mut random = Random::new(71);
    for case in 0..40 {
        let (kernel, high, low) = kernel(&mut random);
        let best = high.iter().max().unwrap() - low.iter().min().unwrap();
        let truth = int(best as i64) / int(ONE as i64);
        assert_inside(kernel.contraction(Gamma::ONE), &truth, case);
        assert_inside(kernel.curve().contraction(Gamma::ONE), &truth, case);
    }
}

#[test]
fn epsilon_is_not_below_the_best_of_many_close_pairs() {
    let mut random = Random::new(72);
    for case in 0..40 {
        let (kernel, high, low) = kernel(&mut random);
        let delta = 3 * (ONE >> 4) + (ONE >> 10) * (random.bits() % 100);
        let at = Delta::new(delta as f64 / ONE as f64).unwrap();
        // At the root every output of one half counts and none of the other.
        let (high, low) = (high.iter().max().unwrap(), low.iter().min().unwrap());
        let ln_root = |p: u64, q: u64| (int((p - delta) as i64) / int(q as i64)).ln();
        let truth = larger(ln_root(*high, *low), ln_root(ONE - low, ONE - high));
        let found = kernel.epsilon_at(at);
        assert_inside(found, &truth, case);
        assert_inside(kernel.curve().epsilon_at(at), &truth, case);
        assert!(found.width() < 1e-12, "{found}");
    }
}

/// A row whose many tiny entries plain sums lose altogether, one that looks
/// better without them, and copies of a third that both are compared with.
fn deceptive(copies: usize) -> FiniteKernel {
    const TINY: usize = 992;
    let small = 2f64.powi(-59);
    let row = |head: f64, more: f64, tail: f64| {
        let mut row = vec![head; 8];
        row[3] += more;
        row.extend([tail; TINY]);
        row.extend([0.0; 7]);
        // Exact: the sum of the others is a multiple of 2⁻⁵⁴.
        row.push(1.0 - 8.0 * head - more - TINY as f64 * tail);
        row
    };
    let mut rows = vec![row(0.0625, 0.0, small), row(0.0625, 2f64.powi(-51), 0.0)];
    rows.extend(vec![row(0.015625, 0.0, 0.0); copies]);
    FiniteKernel::new(rows).unwrap()
}

#[test]
fn what_plain_sums_lose_is_not_lost() {
    for copies in [1, 7, 30] {
        let kernel = deceptive(copies);
        let lost = int(992) / int(1 << 59);
        let eta = kernel.contraction(Gamma::ONE);
        assert_inside(eta, &(int(3) / 8 + &lost), copies);
        assert!(eta.width() < 1e-13);
        let quarter = Delta::new(0.25).unwrap();
        let truth = ((int(1) / 4 + &lost) * 8).ln();
        assert_inside(kernel.epsilon_at(quarter), &truth, copies);
        assert_inside(kernel.curve().epsilon_at(quarter), &truth, copies);
        assert!(kernel.epsilon_at(quarter).width() < 1e-11);
    }
}

/// Randomised response over 128 answers: 16,256 ordered pairs tie exactly, more
/// than are enclosed one by one.
#[test]
fn a_symmetric_channel_with_many_inputs_is_enclosed() {
    let (inputs, truthful, other) = (128, 0.5, 1.0 / 254.0);
    let row = |x: usize| (0..inputs).map(|y| if x == y { truthful } else { other }).collect();
    let kernel = FiniteKernel::new((0..inputs).map(row).collect()).unwrap();
    for gamma in [1.0, 2.0, 100.0] {
        // p − γ/254 at the one output that favours the first input, and for γ = 1 only that.
        let truth = (int(127) - real(gamma)) / int(254);
        let found = kernel.contraction_with_pair(Gamma::new(gamma).unwrap());
        assert!((found.value.upper() - truth.to_f64()).abs() < 1e-14 && found.pair == (0, 1), "{found:?}");
        assert!(
            found.value.lower() <= truth.to_f64().next_up()
                && truth.to_f64().next_down() <= found.value.upper()
        );
    }
    let epsilon = kernel.epsilon_at(Delta::new(0.25).unwrap());
    // (1/2 − 1/4)·254 = 63.5.
    assert!(
        epsilon.lower() <= 63.5f64.ln() && 63.5f64.ln() <= epsilon.upper() && epsilon.width() < 1e-11,
        "{epsilon}"
    );
}
