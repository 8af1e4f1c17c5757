//! Hidden participation and hidden iterates at once.

use dobrushin::analysis::{Analysis, ShiftSubsampled};
use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Delta, Enclosure, NonNegative, Positive, Probability};
use std::sync::Arc;
use std::time::Instant;

#[derive(Clone, Copy)]
struct Case {
    rate: f64,
    displacement: f64,
    absence: f64,
    slope: f64,
    diameter: Option<f64>,
    steps: Count,
}

impl Case {
    fn new(rate: f64, displacement: f64, slope: f64) -> Self {
        Self { rate, displacement, absence: displacement, slope, diameter: None, steps: Count::Any }
    }
    fn released(self) -> Mixture {
        let p = Participation::Sometimes(Probability::new(self.rate).expect("valid"));
        let d = NonNegative::new(self.displacement).expect("valid");
        let step = Step::new(StepNoise::gaussian(1.0).expect("valid"))
            .with_modulus(vec![Piece::new(self.slope, 0.0).expect("valid")])
            .used_by(p, d);
        let step = Step { absence: Enclosure::from(self.absence), ..step };
        let diameter = self.diameter.map(|d| Positive::new(d).expect("valid"));
        let domain = Domain { diameter, dimension: None };
        Mixture::last(Chain::new(vec![(step, self.steps)], domain).expect("valid"))
    }
    fn profile(self) -> Arc<dyn PrivacyProfile> {
        ShiftSubsampled.apply(&self.released()).expect("applies").into_profile()
    }
    fn epsilon(self, delta: f64) -> f64 {
        self.profile().epsilon(Delta::new(delta).expect("valid")).upper()
    }
}

#[test]
fn targets() {
    for case in [
        Case::new(0.01, 0.1, 0.99),
        Case::new(0.01, 0.5, 0.99),
        Case::new(0.02, 0.1, 0.999),
        Case { diameter: Some(3.333), ..Case::new(0.01, 0.1667, 1.0) },
        Case { diameter: Some(100.0), ..Case::new(0.01, 0.1, 1.0) },
        Case { diameter: Some(30.0), ..Case::new(0.02, 0.5, 1.0) },
    ] {
        let start = Instant::now();
        let epsilon = case.epsilon(1e-5);
        println!("{} {} {} {:?}: {epsilon} in {:?}", case.rate, case.displacement, case.slope, case.diameter, start.elapsed());
    }
}
