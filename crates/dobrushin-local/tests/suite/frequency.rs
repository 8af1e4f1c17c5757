//! Every mechanism for frequencies keeps its promise exactly as it is realised, and one unit of 2⁻⁶⁴ more would break
//! it; profiles are those of the channels.

use crate::frequency_support::{all_pairs, contraction, delta, epsilon, real, share};
use dobrushin::kernel::Kernel;
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Epsilon, Error, Gamma, Probability};
use dobrushin_local::frequency::{
    Channel, FrequencyOracle, Hadamard, Hashing, IDS, Response, Subset, Unary, by_id,
};
use dobrushin_local::{LocalProfile, frequency};
use dobrushin_reference::Real;

const EPSILONS: [f64; 8] = [1e-6, 0.01, 0.5, 1.0, 2.0, 5.0, 20.0, 40.0];
const DELTAS: [f64; 3] = [0.0, 1e-6, 0.1];

/// Rows of k-ary randomised response with the truth `threshold` times in 2⁶⁴.
fn response_rows(categories: u32, threshold: u64) -> Vec<Vec<Real>> {
    let truth = share(threshold);
    let other = (real(1.0) - truth.clone()) / real(f64::from(categories - 1));
    let entry = |x, y| if x == y { truth.clone() } else { other.clone() };
    // By symmetry few rows stand for all, and answers that are none of theirs are one outcome: they tell nothing.
    let shown = categories.min(4);
    let rest = other.clone() * real(f64::from(categories - shown));
    (0..shown).map(|x| (0..shown).map(|y| entry(x, y)).chain([rest.clone()]).collect()).collect()
}

/// Rows of unary encoding, over the bits of the categories whose rows they are; the other bits are independent of
/// them and have the same law.
fn unary_rows(categories: u32, truth: u64, other: u64) -> Vec<Vec<Real>> {
    let bits = categories.min(4);
    let factor = |x: u32, y: u32, bit: u32| {
        let heads = share(if bit == x { truth } else { other });
        if y >> bit & 1 == 1 { heads } else { real(1.0) - heads }
    };
    let entry = |x: u32, y: u32| (0..bits).fold(real(1.0), |product, bit| product * factor(x, y, bit));
    (0..bits).map(|x| (0..1 << bits).map(|y| entry(x, y)).collect()).collect()
}

/// Rows of subset selection, for few categories.
fn subset_rows(categories: u32, size: u32, threshold: u64) -> Vec<Vec<Real>> {
    let sets: Vec<u32> = (0..1u32 << categories).filter(|set| set.count_ones() == size).collect();
    let inside = real(sets.iter().filter(|set| *set & 1 == 1).count() as f64);
    let outside = real(sets.len() as f64) - inside.clone();
    let (with, without) = (share(threshold) / inside, (real(1.0) - share(threshold)) / outside);
    let entry = |x: u32, set: u32| if set >> x & 1 == 1 { with.clone() } else { without.clone() };
    (0..categories).map(|x| sets.iter().map(|&set| entry(x, set)).collect()).collect()
}

/// Two rows of subset selection, by which of the two categories a set contains: one, the other, both or none.
fn subset_classes(categories: u32, size: u32, threshold: u64) -> Vec<Vec<Real>> {
    let [k, d] = [categories, size].map(|number| real(f64::from(number)));
    let (with, one) = (share(threshold), real(1.0));
    let without = one.clone() - with.clone();
    let others = k.clone() - one.clone();
    let only = with.clone() * (k.clone() - d.clone()) / others.clone();
    let only_other = without.clone() * d.clone() / others.clone();
    let both = with * (d.clone() - one.clone()) / others.clone();
    let none = without * (k - d - one) / others;
    vec![
        vec![only.clone(), only_other.clone(), both.clone(), none.clone()],
        vec![only_other, only, both, none],
    ]
}

/// Rows of Hadamard response.
fn hadamard_rows(categories: u32, columns: u64, threshold: u64) -> Vec<Vec<Real>> {
    let half = real(columns as f64 / 2.0);
    let (with, without) = (share(threshold) / half.clone(), (real(1.0) - share(threshold)) / half);
    let row = |x: u64| {
        let entry = |y: u64| {
            if (y & (x + 1)).count_ones().is_multiple_of(2) { with.clone() } else { without.clone() }
        };
        (0..columns).map(entry).collect()
    };
    (0..u64::from(categories.min(8))).map(row).collect()
}

/// Whether η_{e^ε} ≤ δ over all pairs of rows, without rounding that matters.
fn is_private(rows: &[Vec<Real>], level: f64, target: f64) -> bool {
    contraction(rows, &all_pairs(rows.len()), level) <= real(target)
}

/// Calls with every ε and δ.
fn at_all_levels(check: impl Fn(f64, f64)) {
    EPSILONS.iter().for_each(|&level| DELTAS.iter().for_each(|&target| check(level, target)));
}

/// Checks a coin that must be as large as is private: itself, one unit of 2⁻⁶⁴ more, and 1e-12 more.
fn check_largest(threshold: u64, what: &str, is_private: impl Fn(u64) -> bool) {
    assert!(is_private(threshold), "{what} is not private");
    if threshold < u64::MAX {
        assert!(!is_private(threshold + 1), "{what} could tell more");
        assert!(!is_private(threshold.saturating_add(18_446_744)), "{what} with 1e-12 more is private");
    }
}

#[test]
fn randomised_response_is_private_as_realised_and_one_unit_more_is_not() {
    at_all_levels(|level, target| {
        for categories in [2, 3, 10, 1000, 1_000_000] {
            let response = Response::new(categories, epsilon(level), delta(target)).unwrap();
            check_largest(response.truth().threshold(), &format!("{categories} at {level}, {target}"), |t| {
                is_private(&response_rows(categories, t), level, target)
            });
        }
    });
}

#[test]
fn unary_encodings_are_private_as_realised_and_one_unit_less_noise_is_not() {
    at_all_levels(|level, target| {
        let own = Probability::new(0.3).unwrap();
        for categories in [2, 3, 1000] {
            let (level_, target_) = (epsilon(level), delta(target));
            let encodings = [
                Unary::optimised(categories, level_, target_).unwrap(),
                Unary::symmetric(categories, level_, target_).unwrap(),
                Unary::asymmetric(categories, level_, target_, own).unwrap(),
            ];
            for unary in encodings {
                let (truth, other) = (unary.truth().threshold(), unary.other().threshold());
                let what = format!("{} of {categories} at {level}, {target}", unary.id());
                let private = |other| is_private(&unary_rows(categories, truth, other), level, target);
                assert!(private(other), "{what} is not private");
                assert!(other == 0 || !private(other - 1), "{what} could have less noise");
                assert!(other < 18_446_744 || !private(other - 18_446_744), "{what} with 1e-12 less");
            }
        }
    });
}

#[test]
fn subset_selection_is_private_as_realised_and_one_unit_more_is_not() {
    at_all_levels(|level, target| {
        for (categories, size) in [(2, 1), (5, 1), (5, 2), (5, 4), (8, 3)] {
            let subset = Subset::with_size(categories, size, epsilon(level), delta(target)).unwrap();
            check_largest(subset.truth().threshold(), &format!("{size} of {categories} at {level}"), |t| {
                is_private(&subset_rows(categories, size, t), level, target)
            });
        }
        let subset = Subset::new(1000, epsilon(level), delta(target)).unwrap();
        check_largest(subset.truth().threshold(), &format!("1000 at {level}, {target}"), |t| {
            is_private(&subset_classes(1000, subset.size(), t), level, target)
        });
        let rows = subset_rows(8, 3, 1 << 63);
        let sum = contraction(&rows, &[(0, 1)], level)
            - contraction(&subset_classes(8, 3, 1 << 63), &[(0, 1)], level);
        assert!(sum.to_f64().abs() < 1e-200, "the classes are not those of the sets");
    });
}

#[test]
fn hadamard_response_is_private_as_realised_and_one_unit_more_is_not() {
    at_all_levels(|level, target| {
        for categories in [2, 3, 4, 7, 100] {
            let hadamard = Hadamard::new(categories, epsilon(level), delta(target)).unwrap();
            let columns = hadamard.columns();
            check_largest(hadamard.truth().threshold(), &format!("{categories} at {level}, {target}"), |t| {
                is_private(&hadamard_rows(categories, columns, t), level, target)
            });
        }
    });
}

#[test]
fn local_hashing_is_private_given_every_hash_function() {
    // Given a and b, two categories have the same hash, or their reports are randomised responses about different
    // ones; the first has probability C.
    const PRIME: u64 = (1 << 61) - 1;
    at_all_levels(|level, target| {
        for values in [2, 3, 8, 1000] {
            let hashing = Hashing::with_values(100, values, epsilon(level), delta(target)).unwrap();
            let size = |value: u64| {
                let start = |v: u64| (u128::from(v) * u128::from(PRIME)).div_ceil(u128::from(values)) as u64;
                crate::frequency_support::whole(start(value + 1) - start(value))
                    / crate::frequency_support::whole(PRIME)
            };
            let collision = (0..u64::from(values)).fold(real(0.0), |sum, value| {
                let share = size(value);
                sum + share.clone() * share
            });
            let rows = response_rows(values, hashing.response().truth().threshold());
            let apart = real(1.0) - collision;
            let exact = |level: f64| apart.clone() * contraction(&rows, &all_pairs(2), level);
            assert!(exact(level) <= real(target), "{values} at {level}, {target}");
            let threshold = hashing.response().truth().threshold();
            if let Some(more) = threshold.checked_add(18_446_744) {
                let told = contraction(&response_rows(values, more), &all_pairs(2), level) * apart.clone();
                assert!(told > real(target), "{values} at {level}, {target} with 1e-12 more is private");
            }
            for probe in [0.0, 0.5 * level, 0.99 * level, level] {
                let profile = hashing.privacy().delta(epsilon(probe));
                let exact = exact(probe);
                assert!(
                    real(profile.lower()) <= exact && exact <= real(profile.upper()),
                    "{values}, {probe}"
                );
            }
        }
    });
}

#[test]
fn the_closed_profiles_are_those_of_the_channels() {
    at_all_levels(|level, target| {
        for categories in [2, 3, 7] {
            for id in IDS {
                let oracle = by_id(id, categories, epsilon(level), delta(target)).unwrap().unwrap();
                let Some(channel) = oracle.channel() else { continue };
                let (curve, profile) = (channel.curve(), oracle.privacy());
                assert!(profile.delta(epsilon(level)).upper() <= target, "{id}");
                assert!(profile.epsilon(delta(target)).upper() <= level, "{id}");
                for probe in [0.0, 0.3 * level, 0.9 * level, level, 1.1 * level, 2.0 * level] {
                    let expected = curve.contraction(Gamma::from_epsilon(probe).unwrap());
                    let found = profile.delta(epsilon(probe));
                    // The channel is rounded to f64, so that δ is off by some 1e-16.
                    let near = expected.lower() - 1e-14 <= found.upper()
                        && found.lower() <= expected.upper() + 1e-14;
                    assert!(near, "{id} of {categories} at {level}, {target}: {found} for {expected}");
                }
                // And ε(δ) is where the profile falls to δ.
                for probe in [0.0, 0.2, 0.8].map(|share| share * profile.delta(epsilon(0.0)).lower()) {
                    let there = profile.epsilon(delta(probe));
                    let at = |level: f64| profile.delta(Epsilon::new(level).unwrap());
                    if there.upper().is_finite() {
                        assert!(at(there.upper() * (1.0 + 1e-15)).lower() <= probe, "{id}");
                        assert!(at(there.lower() * (1.0 - 1e-15)).upper() >= probe, "{id}");
                    }
                }
            }
        }
    });
}

#[test]
fn a_channel_of_the_user_has_the_profile_of_its_rows() {
    let rows =
        vec![vec![0.7, 0.2, 0.1, 0.0], vec![0.1, 0.6, 0.3, 0.0], vec![1.0 / 3.0, 1.0 / 3.0, 0.0, 1.0 / 3.0]];
    let expected = LocalProfile::of_channel(&dobrushin::kernel::FiniteKernel::new(rows.clone()).unwrap());
    let found = Channel::new(rows).unwrap().privacy();
    for level in [0.0, 0.3, 1.0, 3.0, 30.0] {
        let (expected, found) = (expected.delta(epsilon(level)), found.delta(epsilon(level)));
        assert!(found.intersect(expected).is_some() && found.width() < 1e-13, "{level}: {found}, {expected}");
    }
    assert_eq!(found.epsilon(delta(0.3)).upper(), f64::INFINITY);
    // A pure channel keeps a finite ε at δ = 0.
    let pure = Channel::new(vec![vec![0.6, 0.4 - 1e-15, 1e-15], vec![0.4, 0.6 - 3e-15, 3e-15]]).unwrap();
    let largest = pure.privacy().epsilon(delta(0.0));
    // 1e-15 is 18447 units, so that the ratio is rounded by 3e-5.
    assert!((largest.midpoint() - 3f64.ln()).abs() < 1e-4 && largest.width() < 1e-12, "{largest}");
}

#[test]
fn questions_to_one_person_compose_exactly() {
    // The two-row products of all outputs, one by one.
    let response = Response::new(3, epsilon(1.0), delta(0.0)).unwrap();
    let hadamard = Hadamard::new(3, epsilon(0.5), delta(0.05)).unwrap();
    let survey = LocalProfile::compose(&[(response.privacy(), 2), (hadamard.privacy(), 1)]);
    let first = response_rows(3, response.truth().threshold());
    let second = hadamard_rows(3, hadamard.columns(), hadamard.truth().threshold());
    let product = |x: usize| -> Vec<Real> {
        let pairs = first[x].iter().flat_map(|a| first[x].iter().map(move |b| a.clone() * b.clone()));
        pairs.flat_map(|ab| second[x].iter().map(move |c| ab.clone() * c.clone())).collect()
    };
    for level in [0.0, 0.7, 1.5, 2.2] {
        let exact = crate::frequency_support::hockey_stick(&product(0), &product(1), level);
        let found = survey.delta(epsilon(level));
        assert!(real(found.upper()) >= exact && real(found.lower()) <= exact, "{level}: {found}");
        assert!(found.width() < 1e-3 * found.upper(), "{level}: {found}");
    }
    assert_eq!(survey.delta(epsilon(40.0)).upper(), 0.0);
}

#[test]
fn what_cannot_be_made_is_refused_with_what_can() {
    let refused = |error: Error, text: &str| {
        assert!(error.to_string().contains(text), "{error}");
    };
    refused(
        Response::new(1, epsilon(1.0), delta(0.0)).unwrap_err(),
        "categories is 1, but it must be from 2",
    );
    refused(Response::new(1 << 24, epsilon(1.0), delta(0.0)).unwrap_err(), "16777215");
    refused(Hadamard::new(2, epsilon(0.0), delta(0.0)).unwrap_err(), "at least 1e-9");
    refused(Unary::optimised(2, epsilon(f64::INFINITY), delta(0.0)).unwrap_err(), "finite");
    refused(Subset::with_size(4, 4, epsilon(1.0), delta(0.0)).unwrap_err(), "below the number of categories");
    refused(Hashing::with_values(4, 1, epsilon(1.0), delta(0.0)).unwrap_err(), "hash values is 1");
    refused(Response::new(2, epsilon(1.0), delta(1.0)).unwrap_err(), "below 1");
    refused(Channel::new(vec![vec![1.0, 0.0], vec![1.0 - 1e-16, 1e-21]]).unwrap_err(), "2^-64");
    refused(Channel::new(vec![vec![0.5, 0.4], vec![0.5, 0.5]]).unwrap_err(), "row 1 sums to 0.9");
    assert!(frequency::by_id("rappor", 2, epsilon(1.0), delta(0.0)).is_none());
}

#[test]
fn how_much_reports_tell_is_the_contraction_of_the_channel() {
    let mut channels = 0;
    for id in IDS {
        for categories in [2, 4, 7] {
            for level in [0.01, 1.0, 5.0] {
                let made =
                    by_id(id, categories, epsilon(level), delta(0.0)).expect("there is such a mechanism");
                let Ok(oracle) = made else { continue };
                let Some(channel) = oracle.channel() else { continue };
                let (found, truth) =
                    (oracle.privacy().chi_squared_contraction(), channel.chi_squared_contraction().value);
                let context =
                    format!("{id} with {categories} categories at {level}: {found} against {truth}");
                let near = 1.0 + 1e-9;
                assert!(found.upper() * near >= truth.lower(), "too small: {context}");
                assert!(found.upper() <= truth.upper() * (1.0 + 1e-6), "too large: {context}");
                assert!(found.lower() <= truth.upper() * near, "{context}");
                channels += 1;
            }
        }
    }
    assert!(channels > 30, "{channels}");
}
