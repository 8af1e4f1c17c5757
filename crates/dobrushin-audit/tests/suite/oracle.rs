//! The oracle against closed forms, against itself in another guise, and against brute force.

use crate::brute_force::{Brute, cells_apart};
use dobrushin::numeric::Random;
use dobrushin::numeric::{normal, theta};
use dobrushin::profile::Direction::{self, Forward, Reverse};
use dobrushin::{Enclosure, Epsilon, Gamma, NonNegative, RenyiOrder};
use dobrushin_audit::{Interval, Laws, Map, Noise, OneDimensionalChain, Step, attack};

const EPSILONS: [f64; 6] = [0.0, 0.1, 0.5, 1.0, 2.0, 4.0];

fn gamma(epsilon: f64) -> Gamma {
    Gamma::from_epsilon(epsilon).unwrap()
}

fn affine(slope: f64, intercept: f64) -> Map {
    Map::affine(slope, intercept).unwrap()
}

fn interval(lower: f64, upper: f64) -> Interval {
    Interval::new(lower, upper).unwrap()
}

fn chain(interval: Interval, start: f64, steps: Vec<Step>) -> OneDimensionalChain {
    OneDimensionalChain { interval, start, steps }
}

/// Every value that is asked for.
fn values(laws: &Laws) -> Vec<Enclosure> {
    let all = Direction::BOTH.into_iter().flat_map(|d| EPSILONS.map(|epsilon| (d, epsilon)));
    all.map(|(direction, epsilon)| laws.hockey_stick(direction, gamma(epsilon))).collect()
}

/// Both enclose the same number, narrowly.
fn assert_agree(one: &[Enclosure], other: &[Enclosure], width: f64) {
    for (a, b) in one.iter().zip(other) {
        assert!(a.intersect(*b).is_some(), "{a} and {b} exclude each other");
        assert!(a.width() < width && b.width() < width, "{a} or {b} is wide");
    }
}

/// A chain of every kind of Gaussian step and map.
fn random_chain(random: &mut Random, steps: usize) -> OneDimensionalChain {
    let domain = interval(random.between(-3.0, -0.5), random.between(0.5, 3.0));
    let step = |random: &mut Random| {
        let blocks = 1 + random.below(3);
        let mut map = || match random.below(6) {
            0 => attack::block_map(random, domain, blocks, 0.5).unwrap(),
            1 => attack::lipschitz_map(random, domain, blocks, 1.5).unwrap(),
            2 => attack::bounded_image_map(random, domain, blocks, 0.2, 1.0).unwrap(),
            3 => Map::sign_push(random.between(-0.5, 0.5), random.between(-0.3, 0.3)).unwrap(),
            4 => Map::steep_huber(random.between(-0.3, 0.3), 20.0, 0.5, 1.0).unwrap(),
            _ => affine(random.between(-1.2, 1.2), random.between(-0.5, 0.5)),
        };
        let (common, first, second) = (map(), map(), map());
        let probability = [0.0, 1.0, 0.2, 0.7][random.below(4)];
        Step { noise: Noise::Gaussian(random.between(0.4, 1.5)), common, first, second, probability }
    };
    let steps = (0..steps).map(|_| step(random)).collect();
    chain(domain, random.between(-0.5, 0.5), steps)
}

#[test]
fn identity_maps_far_from_the_ends_give_the_gaussian_pair() {
    for steps in [1, 2, 7] {
        let (noise, shift) = (Noise::Gaussian(0.7), 0.9);
        let mut all = vec![Step::always(noise, affine(1.0, shift / 2.0), affine(1.0, -shift / 2.0))];
        all.extend(vec![Step::never(noise, Map::identity()); steps - 1]);
        let laws = chain(interval(-30.0, 30.0), 0.0, all).laws().unwrap();
        let r = NonNegative::new(shift / (0.7 * (steps as f64).sqrt())).unwrap();
        let exact = EPSILONS.map(|epsilon| theta::theta(Epsilon::new(epsilon).unwrap(), r));
        // The rounding of r.
        let slack = Enclosure::new(-1e-15, 1e-15).unwrap();
        let exact: Vec<_> = [exact, exact].concat().into_iter().map(|value| value + slack).collect();
        assert_agree(&values(&laws), &exact, 1e-9);
        let order = laws.renyi(Forward, RenyiOrder::new(3.0).unwrap());
        let closed = 3.0 * r.get() * r.get() / 2.0;
        assert!(order.lower() <= closed * (1.0 + 1e-12) && closed <= order.upper(), "{order}, not {closed}");
        assert!(order.lower() > closed * (1.0 - 1e-5), "{order}, not {closed}");
    }
}

#[test]
fn after_one_step_only_an_end_may_tell() {
    // The likelihood ratio exceeds e^ε above ε/(2m), which is beyond the end: the atom is left.
    let (end, m) = (0.3, 0.5);
    let step = Step::always(Noise::Gaussian(1.0), Map::constant(m).unwrap(), Map::constant(-m).unwrap());
    let laws = chain(interval(-0.2, end), 0.0, vec![step]).laws().unwrap();
    for epsilon in [0.4, 0.5, 1.0] {
        let atom = normal::tail(end - m) - gamma(epsilon).value() * normal::tail(end + m);
        assert_agree(&[laws.hockey_stick(Forward, gamma(epsilon))], &[atom.positive_part()], 1e-12);
        let other = normal::tail(0.2 - m) - gamma(epsilon).value() * normal::tail(0.2 + m);
        assert_agree(&[laws.hockey_stick(Reverse, gamma(epsilon))], &[other.positive_part()], 1e-12);
    }
}

#[test]
fn a_contraction_decays_as_its_power() {
    // W₁ ± shift, then k clean contractions far from the ends: a Gaussian pair.
    let (c, shift, k) = (0.8, 1.0, 4);
    let noise = Noise::Gaussian(1.0);
    let mut steps = vec![Step::always(noise, affine(c, shift), affine(c, -shift))];
    steps.extend(vec![Step::never(noise, affine(c, 0.0)); k]);
    let laws = chain(interval(-40.0, 40.0), 0.0, steps).laws().unwrap();
    let variance: f64 = (0..=k as i32).map(|j| c.powi(2 * j)).sum();
    let r = 2.0 * shift * c.powi(k as i32) / variance.sqrt();
    for epsilon in EPSILONS {
        let exact = theta::theta(Epsilon::new(epsilon).unwrap(), NonNegative::new(r).unwrap());
        let seen = laws.hockey_stick(Forward, gamma(epsilon));
        let slack = 1e-11 * epsilon.exp();
        assert!(
            (seen.midpoint() - exact.midpoint()).abs() < slack && seen.width() < 2.0 * slack,
            "{seen} {exact}"
        );
    }
}

#[test]
fn random_gaussian_chains_agree_with_brute_force() {
    let mut random = Random::new(1);
    for case in 0..9 {
        let steps = 1 + case % 3;
        let chain = random_chain(&mut random, steps);
        let laws = chain.laws().unwrap();
        let brute = Brute::run(&chain).pop().unwrap();
        let [p, q] = brute.cells(&chain, 2000);
        for (direction, [p, q]) in [(Forward, [&p, &q]), (Reverse, [&q, &p])] {
            for epsilon in EPSILONS {
                let seen = laws.hockey_stick(direction, gamma(epsilon));
                let roughly = cells_apart(p, q, epsilon.exp());
                let slack = 1e-6 * epsilon.exp();
                assert!((seen.midpoint() - roughly).abs() < slack, "{case}: {seen}, not {roughly}");
                assert!(seen.width() < 1e-10 * epsilon.exp(), "{case}: {seen}");
            }
            for order in [1.5, 2.0, 4.0] {
                let seen = laws.renyi(direction, RenyiOrder::new(order).unwrap());
                let ratios = p.iter().zip(q).map(|(p, q)| q * (p / q).powf(order));
                let roughly = ratios.sum::<f64>().ln() / (order - 1.0);
                assert!(
                    seen.lower() < roughly + 1e-5 && roughly < seen.upper() + 1e-5,
                    "{case}: {seen}, not {roughly}"
                );
                // A likelihood ratio of e^20 and more is known to few digits.
                let width = if seen.lower() < 2.0 { 1e-5 } else { 0.05 };
                assert!(seen.width() < width, "{case}: {order}: {seen}");
            }
        }
    }
}

#[test]
fn laplace_and_mixed_noise_agree_with_brute_force() {
    let mut random = Random::new(2);
    let domain = interval(-1.5, 2.0);
    for case in 0..6 {
        let mut steps = Vec::new();
        for t in 0..3 {
            let mut map = || attack::bounded_image_map(&mut random, domain, 3, 0.1, 2.0).unwrap();
            let (mut common, first, second) = (map(), map(), map());
            let mut noise = Noise::Laplace(random.between(0.4, 1.5));
            if case % 2 == 1 && t == 1 {
                noise = Noise::Gaussian(random.between(0.4, 1.5));
                common = affine(random.between(-1.0, 1.0), 0.1);
            }
            steps.push(Step { noise, common, first, second, probability: 0.4 });
        }
        let chain = chain(domain, 0.2, steps);
        let laws = chain.laws().unwrap();
        let [p, q] = Brute::run(&chain).pop().unwrap().cells(&chain, 2000);
        for (direction, [p, q]) in [(Forward, [&p, &q]), (Reverse, [&q, &p])] {
            for epsilon in EPSILONS {
                let seen = laws.hockey_stick(direction, gamma(epsilon));
                let roughly = cells_apart(p, q, epsilon.exp());
                let slack = 2e-6 * epsilon.exp();
                assert!((seen.midpoint() - roughly).abs() < slack, "{case}: {seen}, not {roughly}");
                assert!(seen.width() < 1e-11 * epsilon.exp(), "{case}: {seen}");
            }
        }
    }
}

#[test]
fn a_break_where_nothing_breaks_changes_nothing() {
    let mut random = Random::new(3);
    let cut = |map: &Map, random: &mut Random| {
        // The same affine map in pieces, which moves every node.
        let (slope, intercept) = (map.at(1.0) - map.at(0.0), map.at(0.0));
        let mut breaks: Vec<f64> = (0..3).map(|_| random.between(-1.0, 1.0)).collect();
        breaks.sort_by(f64::total_cmp);
        Map::new(breaks, vec![(slope, intercept); 4]).unwrap()
    };
    for _ in 0..20 {
        let mut map = || affine(random.below(4) as f64 / 2.0 - 0.5, random.below(8) as f64 / 8.0);
        let maps = [map(), map(), map()];
        let noise = Noise::Gaussian(random.between(0.3, 1.0));
        let step = |maps: [Map; 3]| {
            let [common, first, second] = maps;
            Step { noise, common, first, second, probability: 0.25 }
        };
        let whole = chain(interval(-1.0, 1.5), 0.0, vec![step(maps.clone()); 5]);
        let pieces = (0..5).map(|_| step(maps.each_ref().map(|map| cut(map, &mut random)))).collect();
        let pieces = chain(interval(-1.0, 1.5), 0.0, pieces);
        assert_agree(&values(&whole.laws().unwrap()), &values(&pieces.laws().unwrap()), 2e-11);
    }
}

#[test]
fn units_and_origin_do_not_matter() {
    let build = |unit: f64, origin: f64| {
        let at = |x: f64| origin + unit * x;
        let affine = |slope: f64, shift: f64| affine(slope, unit * shift + origin * (1.0 - slope));
        let push = Map::sign_push(unit * 0.25, origin).unwrap();
        let noise = Noise::Gaussian(unit * 0.5);
        let (first, second) = (affine(0.5, 0.5), affine(1.0, -0.25));
        let step = Step { noise, common: push, first, second, probability: 0.5 };
        chain(interval(at(-1.0), at(2.0)), at(0.5), vec![step; 4]).laws().unwrap()
    };
    let here = values(&build(1.0, 0.0));
    for (unit, origin) in [(1024.0, 0.0), (1.0 / 4096.0, 0.0), (1.0, 64.0), (0.25, -1.0)] {
        assert_agree(&here, &values(&build(unit, origin)), 1e-9);
    }
}

#[test]
fn mirrored_neighbours_are_equally_far_in_both_directions() {
    let step = Step {
        noise: Noise::Gaussian(0.5),
        common: Map::identity(),
        first: affine(0.5, 0.25),
        second: affine(0.5, -0.25),
        probability: 0.3,
    };
    let laws = chain(interval(-1.0, 1.0), 0.0, vec![step; 6]).laws().unwrap();
    let all = values(&laws);
    assert_agree(&all[..6], &all[6..], 1e-11);
    let both = Direction::BOTH.map(|direction| laws.renyi(direction, RenyiOrder::new(2.0).unwrap()));
    assert!(both[0].intersect(both[1]).is_some());
}

#[test]
fn a_hidden_stopping_time_mixes_the_laws() {
    let mut random = Random::new(4);
    for _ in 0..2 {
        let chain = random_chain(&mut random, 3);
        let times = chain.laws_at_all_times().unwrap();
        assert_eq!(times.len(), 3);
        assert_eq!(values(&times[2]), values(&chain.laws().unwrap()));
        let weights = [0.5, 0.2, 0.3];
        let stopped = Laws::mixture(&weights, &times).unwrap();
        let brute: Vec<_> = Brute::run(&chain).iter().map(|brute| brute.cells(&chain, 2000)).collect();
        let mixed = |neighbour: usize| -> Vec<f64> {
            let at = |cell: usize| (0..3).map(|t| weights[t] * brute[t][neighbour][cell]).sum();
            (0..brute[0][0].len()).map(at).collect()
        };
        let (p, q) = (mixed(0), mixed(1));
        for epsilon in EPSILONS {
            let seen = stopped.hockey_stick(Forward, gamma(epsilon));
            assert!((seen.midpoint() - cells_apart(&p, &q, epsilon.exp())).abs() < 1e-6 * epsilon.exp());
            // Joint convexity.
            let average = (0..3).map(|t| weights[t] * times[t].hockey_stick(Forward, gamma(epsilon)).upper());
            assert!(seen.lower() <= average.sum::<f64>());
        }
        // All of the weight on one time is that time.
        let last = Laws::mixture(&[0.0, 0.0, 1.0], &times).unwrap();
        assert_agree(&values(&last), &values(&times[2]), 1e-9);
    }
}

#[test]
fn no_participation_is_no_difference_and_below_one_is_the_other_direction() {
    let mut random = Random::new(6);
    let mut same = random_chain(&mut random, 4);
    same.steps.iter_mut().for_each(|step| step.probability = 0.0);
    let laws = same.laws().unwrap();
    assert!(values(&laws).iter().all(|value| value.lower() == 0.0 && value.upper() < 1e-11));
    let laws = random_chain(&mut random, 2).laws().unwrap();
    for g in [0.3, 0.9] {
        // E_γ(P‖Q) = γ·E_{1/γ}(Q‖P).
        let gamma = Gamma::new(g).unwrap();
        let other = Enclosure::from(g) * laws.hockey_stick(Reverse, gamma.reciprocal());
        assert_agree(&[laws.hockey_stick(Forward, gamma)], &[other], 1e-11);
    }
}

#[test]
fn the_same_chain_gives_the_same_bits() {
    let build = || values(&random_chain(&mut Random::new(7), 5).laws().unwrap());
    assert_eq!(build(), build());
}

#[test]
fn extreme_levels_and_scales_are_answered_at_once() {
    // Beyond its centres a Laplace pair has a constant likelihood ratio, here e^(1/2).
    let laplace = |unit: f64| {
        let constant = |x: f64| Map::constant(unit * x).unwrap();
        let step = Step::always(Noise::Laplace(unit), constant(0.25), constant(-0.25));
        chain(interval(-4.0 * unit, 4.0 * unit), 0.0, vec![step]).laws().unwrap()
    };
    for unit in [1e-60, 1e-3, 1.0, 1e60] {
        let laws = laplace(unit);
        for epsilon in [0.0, 0.25, 0.5, 0.5_f64.next_down(), 0.5 + 1e-12, 3.0] {
            let exact = (1.0 - ((epsilon - 0.5) / 2.0_f64).exp()).max(0.0);
            for direction in Direction::BOTH {
                let seen = laws.hockey_stick(direction, gamma(epsilon));
                assert!(
                    (seen.midpoint() - exact).abs() < 1e-11 && seen.width() < 1e-11,
                    "{unit}: {seen} {exact}"
                );
            }
        }
        for epsilon in [30.0, 300.0, 709.0, 1000.0] {
            assert_eq!(laws.hockey_stick(Forward, gamma(epsilon)).lower(), 0.0);
        }
        let order = RenyiOrder::new(1e4).unwrap();
        assert!(laws.renyi(Forward, order).upper() >= 0.45 && laws.renyi(Forward, order).lower() <= 0.5);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert!(Interval::new(1.0, 1.0).is_err() && Interval::new(0.0, f64::NAN).is_err());
    assert!(Interval::new(f64::NEG_INFINITY, 0.0).is_err());
    assert!(Map::new(vec![0.0], vec![(1.0, 0.0)]).is_err());
    assert!(Map::new(vec![1.0, 0.0], vec![(1.0, 0.0); 3]).is_err());
    assert!(Map::new(vec![f64::NAN], vec![(1.0, 0.0); 2]).is_err());
    assert!(
        affine(1.0, 0.0).shifted(f64::INFINITY).is_err() && Map::steep_huber(0.0, 0.0, 1.0, 1.0).is_err()
    );
    let good = Step::always(Noise::Gaussian(1.0), affine(1.0, 0.5), affine(1.0, -0.5));
    let domain = interval(0.0, 1.0);
    assert!(chain(domain, 0.5, vec![]).laws().is_err());
    assert!(chain(domain, 1.5, vec![good.clone()]).laws().is_err());
    assert!(chain(domain, f64::NAN, vec![good.clone()]).laws().is_err());
    for noise in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9] {
        for noise in [Noise::Gaussian(noise), Noise::Laplace(noise)] {
            assert!(chain(domain, 0.5, vec![Step { noise, ..good.clone() }]).laws().is_err(), "{noise:?}");
        }
    }
    for probability in [-0.1, 1.1, f64::NAN] {
        assert!(chain(domain, 0.5, vec![Step { probability, ..good.clone() }]).laws().is_err());
    }
    let laplace = Step { noise: Noise::Laplace(1.0), ..good.clone() };
    assert!(chain(domain, 0.5, vec![laplace.clone()]).laws().is_ok());
    let error = chain(domain, 0.5, vec![good.clone(), laplace]).laws().unwrap_err();
    assert!(error.to_string().contains("step 2"), "{error}");
    let steep = Step::never(Noise::Gaussian(1.0), affine(1e9, 0.0));
    assert!(chain(domain, 0.5, vec![good.clone(), steep]).laws().is_err());
    let laws = chain(domain, 0.5, vec![good.clone()]).laws().unwrap();
    let elsewhere = chain(interval(0.0, 2.0), 0.5, vec![good]).laws().unwrap();
    assert!(Laws::mixture(&[], &[]).is_err() && Laws::mixture(&[1.0], &[]).is_err());
    assert!(Laws::mixture(&[0.5, 0.6], &[laws.clone(), laws.clone()]).is_err());
    assert!(Laws::mixture(&[1.5, -0.5], &[laws.clone(), laws.clone()]).is_err());
    assert!(Laws::mixture(&[0.5, 0.5], &[laws, elsewhere]).is_err());
}

#[test]
fn attacks_keep_their_promises() {
    let mut random = Random::new(8);
    let domain = interval(-1.0, 2.0);
    for _ in 0..200 {
        let block = attack::block_map(&mut random, domain, 6, 0.4).unwrap();
        let lipschitz = attack::lipschitz_map(&mut random, domain, 6, 0.7).unwrap();
        let bounded = attack::bounded_image_map(&mut random, domain, 6, 0.5, 0.9).unwrap();
        let points: Vec<f64> = (0..50).map(|_| random.between(-1.0, 2.0)).collect();
        for &x in &points {
            assert!((block.at(x) - x).abs() <= 0.4 + 1e-14);
            assert!((bounded.at(x) - 0.5).abs() <= 0.45 + 1e-15);
            for &y in &points {
                assert!((lipschitz.at(x) - lipschitz.at(y)).abs() <= 0.7 * (x - y).abs() + 1e-14);
            }
        }
    }
}

#[test]
fn probabilities_of_half_lines_are_those_of_the_noise_and_of_events() {
    // One step from a point: a normal law, cut at the ends of the interval.
    let domain = interval(-1.0, 2.0);
    let step = Step::always(Noise::Gaussian(0.5), affine(1.0, 0.25), affine(1.0, -0.25));
    let laws = chain(domain, 0.0, vec![step.clone()]).laws().unwrap();
    for x in [-1.0, -0.3, 0.0, 0.7, 1.9] {
        for (probability, centre) in laws.at_most(x).into_iter().zip([0.25, -0.25]) {
            assert!(probability.contains(normal::cdf((x - centre) / 0.5).midpoint()));
            assert!(probability.width() < 1e-13);
        }
    }
    assert_eq!(laws.at_most(-1.5)[0], Enclosure::ZERO);
    assert_eq!(laws.at_most(2.0)[1], Enclosure::ONE);
    // The larger one has a smaller distribution function, and E_1 is the largest difference: ratios are monotone.
    let laws = chain(domain, 0.0, vec![step.clone(), step]).laws().unwrap();
    let gap = |i: u32| {
        let [first, second] = laws.at_most(-1.0 + f64::from(i) / 1000.0);
        second.midpoint() - first.midpoint()
    };
    let largest = (0..3000).map(gap).fold(0.0, f64::max);
    assert!((largest - laws.hockey_stick(Forward, Gamma::ONE).midpoint()).abs() < 1e-6);
}
