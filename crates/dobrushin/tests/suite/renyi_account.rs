//! The Rényi divergences of whole runs: the theorems of PAI in their own currency.

use dobrushin::account::{Options, RenyiAccount};
use dobrushin::run::{LearningRate, Order, Release, Run};
use dobrushin::{Error, Positive, RenyiOrder};

const L: f64 = 1.0;
const SIGMA: f64 = 4.0;
const N: u64 = 100;

/// Projected noisy SGD with convex, smooth and Lipschitz losses, and Gaussian noise σ on the gradients.
fn pnsgd(release: Release) -> Run {
    let run = Run::pnsgd(N).learning_rate(0.1).lipschitz(L).gradient_noise(SIGMA).convex().smoothness(0.25);
    run.release(release).build().expect("all is said")
}

fn divergences(run: &Run, orders: &[f64]) -> Vec<RenyiAccount> {
    let orders: Vec<RenyiOrder> =
        orders.iter().map(|&order| RenyiOrder::new(order).expect("valid")).collect();
    run.renyi(&orders, &Options::default()).expect("above 1")
}

/// The guarantee and what one analysis says.
fn found(run: &Run, order: f64, id: &str) -> (f64, f64) {
    let account = divergences(run, &[order]).remove(0);
    let of = account.entries.iter().find(|entry| entry.id == id).expect("it bounds Rényi divergences");
    (account.guarantee().expect("it is one").value.upper(), of.value.upper())
}

fn assert_close(found: f64, exact: f64, what: &str) {
    assert!((found / exact - 1.0).abs() < 1e-6, "{what}: {found}, {exact}");
}

/// Theorem 23: the t-th of n records has D_α ≤ 2αL²/((n − t + 1)σ²).
#[test]
fn pai_theorem_23_is_the_divergence_of_each_record() {
    for order in [1.5, 2.0, 8.0, 32.0] {
        for t in [1, 50, 99, 100] {
            let run = pnsgd(Release::Last).of_record(t).expect("it exists");
            let exact = 2.0 * order * L * L / ((N - t + 1) as f64 * SIGMA * SIGMA);
            for id in ["shift", "shift-renyi"] {
                let (best, one) = found(&run, order, id);
                assert_close(one, exact, id);
                assert_close(best, exact, "the guarantee");
            }
        }
    }
    // Without hiding it is 2αL²/σ².
    let (_, composed) =
        found(&pnsgd(Release::Last).of_record(1).expect("it exists"), 8.0, "composition-renyi");
    assert_close(composed, 2.0 * 8.0 * L * L / (SIGMA * SIGMA), "composition");
}

/// Theorem 24 has the same for a run that skips up to half of the records; the mixture over what is skipped is less, and equal
/// for the records that are never skipped.
#[test]
fn pai_theorem_24_holds_with_records_skipped() {
    for t in [1, 25, 51, 100] {
        let run = pnsgd(Release::RandomSkip).of_record(t).expect("it exists");
        let order = 8.0;
        let rho = 2.0 * order * L * L / ((N - t + 1) as f64 * SIGMA * SIGMA);
        let weight = t.min(N / 2 + 1) as f64 / (N / 2 + 1) as f64;
        let exact = (weight * ((order - 1.0) * rho).exp_m1()).ln_1p() / (order - 1.0);
        let (best, one) = found(&run, order, "shift-renyi");
        assert_close(one, exact, "the mixture");
        assert!(best <= rho * (1.0 + 1e-9), "{t}: {best}, {rho}");
    }
}

/// Theorem 26 with H_n in place of ln n: random stopping has D_α ≤ 4αL²H_n/(nσ²) if σ ≥ L√(2α(α−1)), and the mixture that it
/// bounds needs no condition.
#[test]
fn pai_theorem_26_corrected_is_above_the_mixture_over_stops() {
    let run = pnsgd(Release::RandomStop);
    for order in [1.5, 2.0, 3.0] {
        assert!(SIGMA >= L * (2.0_f64 * order * (order - 1.0)).sqrt());
        let harmonic: f64 = (1..=N).map(|k| 1.0 / k as f64).sum();
        let corrected = 4.0 * order * L * L * harmonic / (N as f64 * SIGMA * SIGMA);
        let moment: f64 = (1..=N)
            .map(|k| ((order - 1.0) * 2.0 * order * L * L / (k as f64 * SIGMA * SIGMA)).exp_m1() / N as f64)
            .sum();
        let (best, one) = found(&run, order, "shift-renyi");
        assert_close(one, moment.ln_1p() / (order - 1.0), "the mixture");
        assert!(best <= corrected && best > 0.45 * corrected, "{order}: {best}, {corrected}");
    }
}

/// Theorem 35 in terms of the index: after E passes the i-th record has D_α ≤ (2αL²/σ²)·((E − 1)/n + 1/(n − i + 1)), at most
/// the printed 4αL²/σ² if there are no more passes than records.
#[test]
fn pai_theorem_35_is_the_divergence_after_several_passes() {
    for (passes, i) in [(1.0, 1), (20.0, 1), (20.0, 60), (100.0, 100)] {
        let run = Run::pnsgd(N).order(Order::Cyclic).epochs(passes).learning_rate(0.1).lipschitz(L);
        let run = run.gradient_noise(SIGMA).convex().smoothness(0.25).release(Release::Last);
        let run = run.build().expect("all is said").of_record(i).expect("it exists");
        let order = 2.0;
        let each = 2.0 * order * L * L / (SIGMA * SIGMA);
        let exact = each * ((passes - 1.0) / N as f64 + 1.0 / (N - i + 1) as f64);
        for id in ["shift", "shift-renyi"] {
            assert_close(found(&run, order, id).1, exact, id);
        }
        assert!(exact <= 2.0 * each);
    }
}

/// The largest over records that differ is the worst record's, at every order.
#[test]
fn the_worst_of_different_records_counts() {
    let rates = (1..=23).map(|t| Positive::new(0.2 / f64::from(t).sqrt()).expect("valid")).collect();
    let run = Run::pnsgd(20).learning_rates(LearningRate::List(rates)).lipschitz(L).gradient_noise(SIGMA);
    let run =
        run.convex().smoothness(0.25).public_steps(3).release(Release::Last).build().expect("all is said");
    for order in [2.0, 32.0] {
        let each = (1..=20).map(|i| found(&run.of_record(i).expect("it exists"), order, "shift").1);
        assert_close(found(&run, order, "shift").1, each.fold(0.0, f64::max), "the worst");
    }
}

/// Several tasks add up; D_∞ of Gaussian noise is infinite, and of Laplace noise the pure ε.
#[test]
fn divergences_add_over_tasks_and_the_order_may_be_infinite() {
    let gaussian = pnsgd(Release::Last);
    let accounts = divergences(&gaussian, &[f64::INFINITY]);
    assert_eq!(accounts[0].guarantee().map(|best| best.value.upper()), Some(f64::INFINITY));
    let laplace = Run::pnsgd(N).learning_rate(0.1).lipschitz(L).gradient_noise(SIGMA).laplace();
    let laplace = laplace.convex().smoothness(0.25).release(Release::Last).build().expect("all is said");
    assert_close(found(&laplace, f64::INFINITY, "shift-renyi").1, 2.0 * L / SIGMA, "pure ε");
    let tasks = Run::pnsgd(N).learning_rate(0.1).lipschitz(L).gradient_noise(SIGMA).convex().smoothness(0.25);
    let tasks = tasks.tasks(3).release(Release::Last).build().expect("all is said");
    for id in ["shift", "shift-renyi"] {
        assert_close(found(&tasks, 4.0, id).1, 3.0 * found(&gaussian, 4.0, id).1, id);
    }
}

#[test]
fn orders_up_to_one_are_refused() {
    for order in [0.5, 1.0] {
        let order = RenyiOrder::new(order).expect("valid");
        let refused = pnsgd(Release::Last).renyi(&[order], &Options::default());
        assert!(matches!(refused, Err(Error::OutOfRange { name: "order", .. })));
    }
}
