//! Real chains in one dimension whose two runs start apart, or whose iterates are projected to sets that change, each with
//! what is claimed about it.
//!
//! Every number in a chain is drawn from a range in which it is valid, so nothing here fails.

use crate::instances::{Facts, Instance};
use crate::{Interval, Map, Noise, OneDimensionalChain, Step};
use dobrushin::chain::{
    Branch, Chain, Count, Domain, Mixture, Participation, Piece, Start, Step as ClaimedStep, StepNoise, Stop,
};
use dobrushin::numeric::Random;
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative, Positive};

/// What happens in one step: an affine update, by how much it moves with either record, and the set of its iterate.
struct Happening {
    noise: f64,
    slope: f64,
    intercept: f64,
    displacement: f64,
    set: (f64, f64),
}

/// The starts of the two runs.
struct Starts {
    points: [f64; 2],
    /// The probability with which the first run has another start than the second.
    probability: f64,
}

/// A chain whose two runs start apart, on an interval.
pub fn apart(random: &mut Random) -> Instance {
    let noise = random.log_between(0.3, 3.0);
    let length = noise * random.log_between(0.5, 8.0);
    let whole = (0.0, length);
    let happenings = some_steps(random, noise, whole, false);
    let first = random.between(0.0, length);
    let distance = length * random.log_between(0.05, 1.0);
    let second = if first + distance <= length { first + distance } else { (first - distance).max(0.0) };
    let points = if random.below(2) == 0 { [first, second] } else { [second, first] };
    let probability = [1.0, 1.0, 0.02, 0.3][random.below(4)];
    instance(random, "starts apart", whole, &happenings, Some(Starts { points, probability }))
}

/// A chain whose iterates are projected to sets that change.
pub fn in_changing_sets(random: &mut Random) -> Instance {
    let noise = random.log_between(0.3, 3.0);
    let length = noise * random.log_between(1.0, 8.0);
    let whole = (0.0, length);
    let happenings = some_steps(random, noise, whole, true);
    instance(random, "sets that change", whole, &happenings, None)
}

fn some_steps(random: &mut Random, noise: f64, whole: (f64, f64), changing: bool) -> Vec<Happening> {
    let count = 2 + random.below(4);
    let happening = |number: usize, random: &mut Random| {
        let slope = [0.0, 0.3, 0.7, 1.0, 1.0, 1.0, 1.3][random.below(7)];
        let middle = random.between(whole.0, whole.1);
        let used = random.below(3) == 0 || (changing && number == 0);
        let displacement = if used { noise * random.log_between(0.1, 2.0) } else { 0.0 };
        let last = number + 1 == count;
        let set = if changing && !last && random.below(4) > 0 {
            let width = (whole.1 - whole.0) * random.log_between(0.05, 1.0);
            let lower = random.between(whole.0, whole.1 - width);
            (lower, lower + width)
        } else {
            whole
        };
        let noise = noise * random.log_between(0.5, 2.0);
        Happening { noise, slope, intercept: (1.0 - slope) * middle, displacement, set }
    };
    (0..count).map(|number| happening(number, random)).collect()
}

/// w ↦ slope·w + intercept, after w is projected to a set.
fn after_projection(of: &Happening, set: (f64, f64), whole: (f64, f64), moved: f64) -> Map {
    let at = |w: f64| of.slope * w + of.intercept + moved;
    if set == whole {
        return Map::affine(of.slope, of.intercept + moved).expect("valid");
    }
    let pieces = vec![(0.0, at(set.0)), (of.slope, of.intercept + moved), (0.0, at(set.1))];
    Map::new(vec![set.0, set.1], pieces).expect("valid")
}

fn instance(
    random: &mut Random,
    kind: &'static str,
    whole: (f64, f64),
    happenings: &[Happening],
    starts: Option<Starts>,
) -> Instance {
    let interval = Interval::new(whole.0, whole.1).expect("valid");
    let length = interval.length();
    let (mut steps, mut claims) = (Vec::new(), Vec::new());
    let mut before = whole;
    for (number, of) in happenings.iter().enumerate() {
        let noise = Noise::Gaussian(of.noise);
        let half = of.displacement / 2.0;
        let maps = [half, -half].map(|moved| after_projection(of, before, whole, moved));
        let [first, second] = maps;
        steps.push(match &starts {
            // From different points: constant updates that do what the update does at each of them.
            Some(Starts { points, probability }) if number == 0 => {
                let from = |map: &Map, point: f64| Map::constant(map.at(point)).expect("valid");
                let second_start = from(&second, points[1]);
                if *probability == 1.0 {
                    Step::always(noise, from(&first, points[0]), second_start)
                } else {
                    // The first run starts at the other point only with this probability, and nobody uses the record.
                    let common = from(&Map::affine(of.slope, of.intercept).expect("valid"), points[1]);
                    let other = from(&Map::affine(of.slope, of.intercept).expect("valid"), points[0]);
                    Step {
                        noise,
                        common: common.clone(),
                        first: other,
                        second: common,
                        probability: *probability,
                    }
                }
            }
            _ if of.displacement > 0.0 => Step::always(noise, first, second),
            _ => Step::never(noise, first),
        });
        let unused = starts.as_ref().is_some_and(|starts| starts.probability < 1.0 && number == 0);
        let claim = ClaimedStep::new(StepNoise::gaussian(of.noise).expect("valid"))
            .with_modulus(vec![Piece::new(of.slope, 0.0).expect("valid")]);
        let moved = NonNegative::new(of.displacement * (1.0 + 1e-12)).expect("valid");
        let used = of.displacement > 0.0 && !unused;
        let claim = if used { claim.used_by(Participation::Always, moved) } else { claim };
        let set = of.set.1 - of.set.0;
        let narrow = set < length;
        let claim = if narrow { claim.projected_to(Positive::new(set).expect("valid")) } else { claim };
        claims.push((claim, Count::Times(1)));
        before = of.set;
    }
    let domain = Domain { diameter: Some(Positive::new(length).expect("valid")), dimension: Some(1) };
    let mut chain = Chain::new(claims, domain).expect("valid");
    let mut start = random.between(whole.0, whole.1);
    if let Some(Starts { points, probability }) = starts {
        let distance = (points[0] - points[1]).abs() * (1.0 + 1e-12);
        // Both are known, or one of them.
        let near = probability < 1.0;
        let said = Start {
            distance: (!near || random.below(2) == 0).then(|| NonNegative::new(distance).expect("valid")),
            divergence: if near {
                vec![(Epsilon::new(0.0).expect("valid"), Delta::new(probability).expect("valid"))]
            } else {
                Vec::new()
            },
        };
        chain = chain.starting(said).expect("valid");
        start = points[0];
    }
    let stops = random.below(3) == 0;
    let stop = if stops { Stop::Uniform(happenings.len() as u64) } else { Stop::End };
    let claimed = Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop }]);
    let facts = Facts { noise: happenings[0].noise, width: length, ..Facts::default() };
    Instance { kind, exact: OneDimensionalChain { interval, start, steps }, claimed, stops, facts }
}
