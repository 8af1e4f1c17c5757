use dobrushin::analysis::{HiddenStates, Shift, ShiftRenyi};
use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
use dobrushin::{Delta, NonNegative};
use std::time::Instant;

#[test]
fn timing() {
    for (n, c, d) in [
        (1000_u64, 1.0, 1.0),
        (1_000_000, 1.0, 1.0),
        (1000, 0.99, 1.0),
        (1000, 0.9, 0.1),
        (100000, 0.9999, 0.001),
    ] {
        let later =
            Step::new(StepNoise::laplace(1.0).unwrap()).with_modulus(vec![Piece::new(c, 0.0).unwrap()]);
        let used = later.clone().used_by(Participation::Always, NonNegative::new(d).unwrap());
        let once = Chain::new(
            vec![(used.clone(), Count::Times(1)), (later, Count::Times(n - 1))],
            Domain::default(),
        )
        .unwrap();
        let always = Chain::new(vec![(used.clone(), Count::Times(n))], Domain::default()).unwrap();
        let any = Chain::new(vec![(used, Count::Any)], Domain::default()).unwrap();
        for (what, chain) in [("once", once), ("always", always), ("any", any)] {
            for delta in [1e-5, 1e-9] {
                for (name, analysis) in [("shift", &Shift as &dyn HiddenStates), ("renyi", &ShiftRenyi)] {
                    let now = Instant::now();
                    let found = analysis.apply(&Mixture::last(chain.clone())).map(|b| {
                        let p = b.into_profile();
                        p.epsilon(Delta::new(delta).unwrap())
                    });
                    println!("{what} n={n} c={c} δ={delta} {name}: {found:?} {:?}", now.elapsed());
                }
            }
        }
    }
}
