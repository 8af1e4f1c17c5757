//! The best way to shift the difference of two iterates into the noise: the taut string.
//!
//! Two runs are at most z_t apart with z_t = c_t·z_{t−1} + o_t − a_t, where a_t ≥ 0 is what is shifted
//! into the noise s_t of step t, at a price of (a_t/s_t)². With C_t = c₁⋯c_t, S_t = Σ_{i≤t} o_i/C_i,
//! u_t = Σ_{i≤t} (s_i/C_i)² and A_t = Σ_{i≤t} a_i/C_i the constraints z_t ≥ 0 and z_T = 0 are A_t ≤ S_t and
//! A_T = S_T, and the price is Σ(ΔA)²/Δu. The cheapest A is the greatest convex minorant of the points
//! (u_t, S_t).
//!
//! # Implementation
//! Where the minorant touches the points is found in plain `f64`. Between two such times nothing is left
//! of the difference at either, and the price is (Σo_i·w_i)²/Σ(s_i·w_i)² with w_i = c_{i+1}⋯c_T, which is
//! enclosed, stretch by stretch, in closed form. That z_t ≥ 0 in between is *checked* with enclosures
//! at the end of each stretch; where it is not certain, z_t = 0 is made so, which is always allowed.
//! Inside a stretch of equal steps S is concave in u if c ≤ 1, so the ends suffice; steps with c > 1 are
//! taken one by one.

use crate::chain::{Chain, Count, Piece, StepNoise, Stretch};
use crate::{Enclosure, NotApplicable};

/// Equal steps with one line for their modulus.
#[derive(Clone, Copy)]
struct Run {
    slope: Enclosure,
    offset: Enclosure,
    noise: Enclosure,
    count: Count,
}

/// Steps that expand distances are taken one by one, up to so many.
const MOST_SINGLE: u64 = 1_000_000;

/// μ² = Σ(a_t/s_t)² of the best allocation.
///
/// # Errors
/// [`NotApplicable`] if the noise is not Gaussian, nothing bounds the distance of iterates, or no
/// allocation is finite.
pub(super) fn squared_shift(chain: &Chain) -> Result<Enclosure, NotApplicable> {
    let stretches: Vec<Stretch<'_>> = chain.since_the_record().collect();
    // Steps without the record that may also not be there are left out.
    let stretches: Vec<Stretch<'_>> = stretches
        .into_iter()
        .filter(|stretch| !(stretch.count == Count::Any && stretch.step.participation.is_never()))
        .collect();
    let choices = |crossed: bool| {
        let of_this_kind = stretches.iter().filter(|s| s.step.participation.is_never() != crossed);
        of_this_kind.map(|stretch| lines(stretch).len()).max().unwrap_or(1)
    };
    let mut best: Option<Enclosure> = None;
    for same in 0..choices(false) {
        for crossed in 0..choices(true) {
            if let Some(runs) = runs(&stretches, same, crossed)? {
                let price = price(&runs);
                best =
                    Some(best.map_or(price, |best| if price.upper() < best.upper() { price } else { best }));
            }
        }
    }
    match best {
        Some(price) if price.upper() < f64::INFINITY => Ok(price),
        Some(_) => Err(NotApplicable::new(
            "what has to be shifted grows with the number of steps: weight decay or strong convexity would bound it",
        )),
        None => Err(NotApplicable::new(
            "nothing bounds how far iterates move apart: [loss] convex with smoothness, update.weight-decay, \
             or update.clip-norm is missing",
        )),
    }
}

/// The lines above the distance of two iterates after a step.
fn lines(stretch: &Stretch<'_>) -> Vec<Piece> {
    if stretch.step.participation.is_never() {
        stretch.step.modulus.pieces().to_vec()
    } else {
        stretch.step.crossed_pieces().collect()
    }
}

/// One line for each stretch; `None` if some has none, or too many single steps would be needed.
fn runs(stretches: &[Stretch<'_>], same: usize, crossed: usize) -> Result<Option<Vec<Run>>, NotApplicable> {
    let mut runs = Vec::with_capacity(stretches.len() + 1);
    let mut single = 0;
    for stretch in stretches {
        let StepNoise::Gaussian(noise) = stretch.step.noise else {
            return Err(NotApplicable::new("the noise must be Gaussian: update.noise"));
        };
        let mut count = stretch.count;
        if runs.is_empty() {
            // Iterates that are equal are at most the displacement apart after the first use.
            runs.push(Run {
                slope: Enclosure::ONE,
                offset: stretch.step.displacement,
                noise,
                count: Count::Times(1),
            });
            count = match count {
                Count::Times(times) => Count::Times(times - 1),
                Count::Any => Count::Any,
            };
            if count == Count::Times(0) {
                continue;
            }
        }
        let lines = lines(stretch);
        let choice = if stretch.step.participation.is_never() { same } else { crossed };
        let Some(line) = lines.get(choice).or(lines.last()) else {
            return Ok(None);
        };
        let run = Run { slope: line.slope(), offset: line.offset(), noise, count };
        let expands = run.slope.upper() > 1.0 && run.offset.upper() > 0.0;
        match run.count {
            Count::Times(times) if expands && times > 1 => {
                single += times;
                if single > MOST_SINGLE {
                    return Ok(None);
                }
                runs.extend((0..times).map(|_| Run { count: Count::Times(1), ..run }));
            }
            _ => runs.push(run),
        }
    }
    Ok(Some(runs))
}

/// What a difference and the noise amount to at the end of some steps.
#[derive(Clone, Copy)]
struct Gathered {
    /// Σo_i·w_i.
    shift: Enclosure,
    /// Σ(s_i·w_i)².
    variance: Enclosure,
}

impl Gathered {
    const NOTHING: Self = Self { shift: Enclosure::ZERO, variance: Enclosure::ZERO };

    fn then(self, run: &Run) -> Self {
        let (slope, square) = (run.slope, run.slope.square());
        Self {
            shift: run.count.power(slope) * self.shift + run.offset * run.count.geometric_sum(slope),
            variance: run.count.power(square) * self.variance
                + run.noise.square() * run.count.geometric_sum(square),
        }
    }

    fn price(self) -> Enclosure {
        if self.shift == Enclosure::ZERO { Enclosure::ZERO } else { self.shift.square() / self.variance }
    }
}

/// The price of the cheapest allocation, or one that is hardly dearer.
fn price(runs: &[Run]) -> Enclosure {
    let mut total = Enclosure::ZERO;
    let mut from = 0;
    for to in touching(runs) {
        total = total + edge(&runs[from..to]);
        from = to;
    }
    total
}

/// The price of shifting everything from nothing to nothing, with z ≥ 0 checked in between.
fn edge(mut runs: &[Run]) -> Enclosure {
    let gather = |runs: &[Run]| runs.iter().fold(Gathered::NOTHING, |gathered, run| gathered.then(run));
    let mut total = Enclosure::ZERO;
    while !runs.is_empty() {
        let (mut part, mut gathered) = (runs, gather(runs));
        loop {
            let certain = certain_until(part, gathered);
            if certain == part.len() {
                break;
            }
            part = &part[..certain];
            gathered = gather(part);
        }
        total = total + gathered.price();
        runs = &runs[part.len()..];
    }
    total
}

/// The number of runs up to the first after which z ≥ 0 is not certain; all of them if it always is.
///
/// z_j = shift_j − λ·R_j·variance_j with λ = shift/variance and R_j the product of the later slopes.
fn certain_until(runs: &[Run], all: Gathered) -> usize {
    if runs.len() == 1 || all.shift == Enclosure::ZERO {
        return runs.len();
    }
    let rate = all.shift / all.variance;
    // Products of the slopes after each run, from the back.
    let mut later = vec![Enclosure::ONE; runs.len()];
    for j in (0..runs.len() - 1).rev() {
        later[j] = later[j + 1] * runs[j + 1].count.power(runs[j + 1].slope);
    }
    let mut gathered = Gathered::NOTHING;
    for (j, run) in runs.iter().enumerate().take(runs.len() - 1) {
        gathered = gathered.then(run);
        let shifted = rate * later[j] * gathered.variance;
        if gathered.shift.lower() < shifted.upper() {
            return j + 1;
        }
    }
    runs.len()
}

/// Where the greatest convex minorant touches: numbers of runs, the last being all of them.
fn touching(runs: &[Run]) -> Vec<usize> {
    // ln(1/C) after each run, to scale by its largest.
    let mut ln_scales = Vec::with_capacity(runs.len());
    let mut ln_scale = 0.0_f64;
    let mut largest = 0.0_f64;
    for run in runs {
        if run.count == Count::Any {
            return vec![runs.len()];
        }
        ln_scale -= run.count.number().midpoint() * run.slope.midpoint().max(f64::MIN_POSITIVE).ln();
        largest = largest.max(ln_scale);
        ln_scales.push(ln_scale);
    }
    let (mut u, mut s) = (0.0, 0.0);
    let mut hull: Vec<(f64, f64, usize)> = vec![(0.0, 0.0, 0)];
    for (j, (run, ln_scale)) in runs.iter().zip(ln_scales).enumerate() {
        let scale = (ln_scale - largest).exp();
        let rough = |x: Enclosure| if x.midpoint().is_finite() { x.midpoint() } else { f64::MAX };
        let slope = Enclosure::from(run.slope.midpoint());
        s += scale * run.offset.midpoint() * rough(run.count.geometric_sum(slope));
        u += (scale * run.noise.midpoint()).powi(2) * rough(run.count.geometric_sum(slope.square()));
        // Equal slopes keep their vertex: shorter edges are easier to be certain of.
        while let [.., before, last] = hull[..] {
            if (last.1 - before.1) * (u - last.0) > (s - last.1) * (last.0 - before.0) * (1.0 + 1e-12) {
                hull.pop();
            } else {
                break;
            }
        }
        hull.push((u, s, j + 1));
    }
    hull.into_iter().skip(1).map(|(_, _, index)| index).collect()
}
