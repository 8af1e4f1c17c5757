//! Mechanisms for means keep their promise as realised: their channels are written down independently, and contraction
//! is what the profile says.

use dobrushin::kernel::{FiniteKernel, Kernel};
use dobrushin::{Delta, Epsilon, Gamma};
use dobrushin_local::mean::{
    self, Bounds, Gaussian, Grid, Hybrid, Laplace, MeanMechanism, OneBit, Piecewise,
};

const LEVELS: [f64; 7] = [1e-3, 0.1, 0.61, 1.0, 2.5, 8.0, 20.0];

fn unit() -> Bounds {
    Bounds::new(-1.0, 1.0).unwrap()
}

fn grid(binary_digits: u32) -> Grid {
    Grid::new(unit(), binary_digits).unwrap()
}

fn level(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

fn delta(delta: f64) -> Delta {
    Delta::new(delta).unwrap()
}

fn eta(channel: &FiniteKernel, epsilon: f64) -> f64 {
    channel.contraction(Gamma::from_epsilon(epsilon).unwrap()).midpoint()
}

/// The piecewise mechanism, written down from its definition: `near` cells from each of `steps` + 1 points on.
fn piecewise_channel(steps: usize, near: usize, p: f64) -> FiniteKernel {
    let row = |point: usize| {
        let cell = |cell: usize| {
            let inside = point <= cell && cell < point + near;
            if inside { p / near as f64 } else { (1.0 - p) / steps as f64 }
        };
        (0..steps + near).map(cell).collect()
    };
    FiniteKernel::proportional_to((0..=steps).map(row).collect()).unwrap()
}

/// Noise with the given weights on `steps` + 1 points, cut off `beyond` them, where what is left is lumped.
fn noisy_channel(steps: i64, beyond: i64, weight: impl Fn(i64) -> f64) -> FiniteKernel {
    let outputs = -beyond..=steps + beyond;
    let total: f64 = (-20 * beyond..=20 * beyond).map(&weight).sum();
    let tail = |k: i64| (k..20 * beyond).map(&weight).sum::<f64>();
    let law = |point: i64| {
        let mass = |y: i64| {
            let mass = if y == -beyond {
                tail(point + beyond)
            } else if y == steps + beyond {
                tail(steps + beyond - point)
            } else {
                weight(y - point)
            };
            mass / total
        };
        outputs.clone().map(mass).collect::<Vec<_>>()
    };
    FiniteKernel::proportional_to((0..=steps).map(law).collect()).unwrap()
}

#[test]
fn every_mechanism_keeps_the_epsilon_asked_for_exactly_and_uses_it_up() {
    for epsilon in LEVELS {
        for id in ["one-bit", "piecewise", "hybrid", "laplace"] {
            let mechanism = mean::by_id(id, unit(), level(epsilon), delta(0.0)).unwrap();
            let privacy = mechanism.privacy();
            assert_eq!(privacy.delta(level(epsilon)).upper(), 0.0, "{id} at {epsilon}");
            let used = privacy.epsilon(delta(0.0));
            assert!(used.upper() <= epsilon, "{id} at {epsilon}: {used}");
            assert!(used.lower() >= epsilon * (1.0 - 1e-4), "{id} at {epsilon}: {used}");
            // Slightly less is not kept.
            assert!(privacy.delta(level(epsilon * 0.999)).lower() > 0.0, "{id} at {epsilon}");
        }
    }
}

#[test]
fn extreme_levels_are_kept_as_well() {
    let far = Bounds::new(-1e100, 1e100).unwrap();
    let thin = Bounds::new(0.0, 1e-100).unwrap();
    for epsilon in [1e-6, 44.0, 1000.0] {
        for bounds in [unit(), far, thin] {
            for id in mean::IDS {
                let mechanism = mean::by_id(id, bounds, level(epsilon), delta(1e-3)).unwrap();
                let allowed = if id == "gaussian" { 1e-3 } else { 0.0 };
                assert!(mechanism.privacy().delta(level(epsilon)).upper() <= allowed, "{id} at {epsilon}");
                let variance = mechanism.variance(bounds.upper());
                assert!(
                    variance.lower() > 0.0 && variance.relative_width() < 1e-6,
                    "{id} at {epsilon}: {variance}"
                );
            }
        }
    }
}

#[test]
fn the_gaussian_keeps_epsilon_and_delta_with_hardly_more_noise_than_on_the_line() {
    for (epsilon, allowed) in [(1e-3, 1e-3), (0.1, 1e-9), (1.0, 1e-5), (20.0, 1e-6), (5.0, 0.1)] {
        let mechanism = Gaussian::new(unit(), level(epsilon), delta(allowed)).unwrap();
        let kept = mechanism.privacy().delta(level(epsilon));
        assert!(kept.upper() <= allowed && kept.lower() > 0.99 * allowed, "{kept} of {allowed}");
        let ideal = dobrushin::numeric::theta::smallest_noise(
            dobrushin::Positive::new(2.0).unwrap(),
            level(epsilon),
            delta(allowed),
        );
        let deviation = mechanism.variance(0.3).sqrt();
        assert!(deviation.lower() > 0.999 * ideal.lower() && deviation.upper() < 1.001 * ideal.upper());
    }
}

#[test]
fn finite_channels_contract_as_their_profiles_say() {
    for epsilon in LEVELS {
        let mechanisms: [Box<dyn MeanMechanism>; 5] = [
            Box::new(OneBit::new(unit(), level(epsilon)).unwrap()),
            Box::new(Piecewise::on(grid(0), level(epsilon)).unwrap()),
            Box::new(Piecewise::on(grid(3), level(epsilon)).unwrap()),
            Box::new(Piecewise::on(grid(5), level(epsilon)).unwrap()),
            Box::new(Hybrid::on(grid(4), level(epsilon)).unwrap()),
        ];
        for mechanism in mechanisms {
            let (channel, privacy) = (mechanism.channel().unwrap(), mechanism.privacy());
            for share in [0.0, 0.1, 0.5, 0.9, 0.999, 1.0, 1.5] {
                let (seen, said) = (eta(&channel, share * epsilon), privacy.delta(level(share * epsilon)));
                assert!((seen - said.midpoint()).abs() < 1e-15, "{} {epsilon} {seen} {said}", mechanism.id());
            }
            // The matrix is rounded to f64: at ε nothing but that is left.
            assert!(eta(&channel, epsilon) < 1e-15);
            assert!(eta(&channel, epsilon * 0.99) > 1e-4 * epsilon * (-epsilon).exp());
        }
    }
}

#[test]
fn the_piecewise_channel_is_that_of_its_definition_and_no_likelier_cell_would_be_private() {
    for (binary_digits, epsilon) in [(3u32, 1.0f64), (5, 2.0), (4, 0.2)] {
        let steps = 1usize << binary_digits;
        let near = (steps as f64 * (-epsilon / 2.0).exp()).round() as usize;
        let odds = epsilon.exp() * near as f64 / steps as f64;
        let mechanism = Piecewise::on(grid(binary_digits), level(epsilon)).unwrap();
        assert_eq!(mechanism.cells() as usize, steps + near);
        let defined = piecewise_channel(steps, near, odds / (1.0 + odds));
        let channel = mechanism.channel().unwrap();
        assert_eq!((channel.inputs(), channel.outputs()), (defined.inputs(), defined.outputs()));
        for share in [0.0, 0.3, 0.8, 1.0] {
            assert!((eta(&channel, share * epsilon) - eta(&defined, share * epsilon)).abs() < 1e-14);
        }
        // The same with slightly more probability near the value is not private.
        let wrong = piecewise_channel(steps, near, 1.0001 * odds / (1.0 + odds));
        assert!(eta(&wrong, epsilon) > 1e-5);
        // Nor with one cell less, which makes each likelier.
        let wrong = piecewise_channel(steps, near - 1, odds / (1.0 + odds));
        assert!(eta(&wrong, epsilon) > 1e-3);
    }
}

#[test]
fn laplace_noise_on_a_grid_contracts_as_its_profile_says() {
    for (binary_digits, epsilon) in [(3u32, 0.7f64), (2, 3.0), (5, 1.3), (0, 0.05)] {
        let steps = 1i64 << binary_digits;
        let mechanism = Laplace::on(grid(binary_digits), level(epsilon)).unwrap();
        let scale = mechanism.noise().scale() as f64;
        assert_eq!(scale, (steps as f64 / epsilon).ceil());
        let channel = noisy_channel(steps, 60, |k| (-(k.abs() as f64) / scale).exp());
        for share in [0.0, 0.2, 0.5, 0.77, 0.95, 1.0, 1.2] {
            let (seen, said) =
                (eta(&channel, share * epsilon), mechanism.privacy().delta(level(share * epsilon)));
            assert!((seen - said.midpoint()).abs() < 1e-14, "{share} of {epsilon}: {seen} {said}");
        }
        // A smaller scale is not private.
        if scale > 1.0 {
            let wrong = noisy_channel(steps, 60, |k| (-(k.abs() as f64) / (scale - 1.0)).exp());
            assert!(eta(&wrong, epsilon) > 1e-4);
        }
    }
}

#[test]
fn gaussian_noise_on_a_grid_contracts_as_its_profile_says() {
    for (binary_digits, epsilon, allowed) in [(3u32, 1.0f64, 1e-5), (2, 4.0, 1e-3), (4, 0.5, 0.1)] {
        let steps = 1i64 << binary_digits;
        let mechanism = Gaussian::on(grid(binary_digits), level(epsilon), delta(allowed)).unwrap();
        let sigma = mechanism.noise().sigma();
        let beyond = (9.0 * sigma).ceil() as i64;
        let normal = |sigma: f64| move |k: i64| (-((k * k) as f64) / (2.0 * sigma * sigma)).exp();
        let channel = noisy_channel(steps, beyond, normal(sigma));
        for at in [0.0, 0.3, 0.9, 1.0, 1.7] {
            let (seen, said) = (eta(&channel, at * epsilon), mechanism.privacy().delta(level(at * epsilon)));
            assert!((seen - said.midpoint()).abs() < 1e-13, "{at} of {epsilon}: {seen} {said}");
        }
        assert!(eta(&channel, epsilon) <= allowed * (1.0 + 1e-9));
        // A hundredth less noise is not private.
        let wrong = noisy_channel(steps, beyond, normal(0.99 * sigma));
        assert!(eta(&wrong, epsilon) > allowed * 1.001);
    }
}

#[test]
fn what_cannot_be_calibrated_is_refused_with_the_reason() {
    let refused = |id: &str, epsilon: f64, delta_: f64, word: &str| {
        let message = match mean::by_id(id, unit(), level(epsilon), delta(delta_)) {
            Ok(_) => panic!("{id} {epsilon} {delta_} was accepted"),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(word), "{message}");
    };
    for id in mean::IDS {
        refused(id, 0.0, 1e-5, "epsilon is 0");
        refused(id, 1e-9, 1e-5, "between 1e-6 and 1000");
        refused(id, f64::INFINITY, 1e-5, "epsilon is inf");
    }
    refused("gaussian", 1.0, 0.0, "without δ use the Laplace");
    refused("gaussian", 1.0, 1.0, "delta is 1");
    refused("gaussian", 1e-5, 1e-9, "change epsilon or delta");
    refused("duchi", 1.0, 0.0, "one-bit, piecewise");
    assert!(Grid::new(unit(), 31).is_err());
}

#[test]
fn a_delta_that_cannot_be_proved_is_refused_at_once() {
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    for delta in [1e-300, f64::MIN_POSITIVE] {
        let refused = Gaussian::new(bounds, Epsilon::new(1.0).unwrap(), Delta::new(delta).unwrap());
        // Either it keeps the promise, or there is none.
        if let Ok(gaussian) = refused {
            assert!(gaussian.privacy().delta(Epsilon::new(1.0).unwrap()).upper() <= delta);
        }
    }
}

#[test]
fn how_much_noisy_reports_tell_is_the_contraction_of_all_pairs_of_points() {
    for epsilon in [0.1, 1.0, 3.0] {
        let laplace = Laplace::on(grid(3), level(epsilon)).unwrap();
        let scale = laplace.noise().scale() as f64;
        let channel = noisy_channel(8, (40.0 * scale) as i64, |k| (-(k as f64).abs() / scale).exp());
        let gaussian = Gaussian::on(grid(3), level(epsilon), delta(1e-3)).unwrap();
        let sigma = gaussian.noise().sigma();
        let reach = (10.0 * sigma) as i64;
        let bell = noisy_channel(8, reach, |k| (-(k as f64 / sigma).powi(2) / 2.0).exp());
        for (profile, channel) in [(laplace.privacy(), channel), (gaussian.privacy(), bell)] {
            let (found, truth) = (profile.chi_squared_contraction(), channel.chi_squared_contraction());
            // Tails beyond the table are lumped, which tells less, by next to nothing.
            assert!(found.upper() >= truth.value.lower(), "{epsilon}: {found} < {}", truth.value);
            assert!(
                found.upper() <= truth.value.upper() * (1.0 + 1e-6),
                "{epsilon}: {found} > {}",
                truth.value
            );
            assert!(
                found.lower() <= truth.value.upper() * (1.0 + 1e-9),
                "{epsilon}: {found} > {}",
                truth.value
            );
            assert!(found.upper() < profile.delta(level(0.0)).lower(), "{epsilon}: η_KL is below η_TV");
        }
    }
}

#[test]
fn bounded_reports_tell_no_less_than_their_channels_and_no_more_than_total_variation() {
    for epsilon in [0.1, 1.0, 3.0, 8.0] {
        for id in ["one-bit", "piecewise", "hybrid"] {
            let mechanism = mean::by_id(id, unit(), level(epsilon), delta(0.0)).unwrap();
            let profile = mechanism.privacy();
            let (found, tv) = (profile.chi_squared_contraction(), profile.delta(level(0.0)));
            assert!(found.upper() <= tv.upper(), "{id} at {epsilon}: {found} > {tv}");
            assert!(found.lower() >= (tv * tv).lower() * (1.0 - 1e-12), "{id} at {epsilon}: {found}");
            if let Some(channel) = mechanism.channel() {
                let ends = channel.chi_squared_contraction().value;
                assert!(found.upper() >= ends.lower(), "{id} at {epsilon}: {found} < {ends}");
            }
        }
    }
}

#[test]
fn gaussian_noise_on_the_unit_interval_has_its_contraction() {
    let unit = Bounds::new(0.0, 1.0).unwrap();
    let profile = Gaussian::new(unit, level(1.0), delta(1e-5)).unwrap().privacy();
    let found = profile.chi_squared_contraction();
    // ½∫(p − q)²/(p + q) of continuous noise is 0.0176494; that of the grid is a little larger noise.
    assert!(found.lower() > 0.01764 && found.upper() < 0.01765, "{found}");
    assert!(found.relative_width() < 1e-6, "{found}");
}
