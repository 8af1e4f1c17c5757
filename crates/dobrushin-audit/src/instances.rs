//! Real chains in one dimension, each with what is claimed about it. No analysis of the claims may be below the exact
//! divergence of the chain.
//!
//! Every number in a chain is drawn from a range in which it is valid, so nothing here fails.

use crate::{Interval, Laws, Map, Noise, OneDimensionalChain, Step, attack};
use dobrushin::chain::{
    Branch, Chain, Count, Domain, Mixture, Modulus, Participation, Piece, Step as ClaimedStep, StepNoise,
    Stop,
};
use dobrushin::numeric::Random;
use dobrushin::{Enclosure, NonNegative, Positive, Probability};

/// A chain, and what is claimed about it.
pub struct Instance {
    /// The kind of chain.
    pub kind: &'static str,
    /// What happens.
    pub exact: OneDimensionalChain,
    /// What is claimed.
    pub claimed: Mixture,
    /// Whether the iterate of a random time is released.
    pub stops: bool,
    /// The parameters of the chain.
    pub facts: Facts,
}

/// The parameters of published formulas.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// The noise of every step.
    pub noise: f64,
    /// d.
    pub displacement: f64,
    /// The length of the interval.
    pub width: f64,
    /// The number of steps after the only use.
    pub later: u64,
    /// λ.
    pub decay: f64,
    /// ηC.
    pub push: f64,
    /// p.
    pub rate: f64,
}

impl Instance {
    /// The two laws of what is released.
    pub fn laws(&self) -> Laws {
        if !self.stops {
            return self.exact.laws().expect("valid");
        }
        let all = self.exact.laws_at_all_times().expect("valid");
        let times = all.len();
        Laws::mixture(&vec![1.0 / times as f64; times], &all).expect("valid")
    }
}

/// An instance of a random kind.
pub fn random(random: &mut Random) -> Instance {
    match random.below(10) {
        0 | 1 => used_once(random, Updates::Bounded),
        2 | 3 => used_once(random, Updates::Lipschitz),
        4 => used_always(random),
        5 | 6 => used_at_random(random),
        7 => in_turn(random),
        8 => decaying(random),
        _ => laplace(random),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Updates {
    /// |ψ(x) − x| ≤ r, and nothing else.
    Bounded,
    /// A Lipschitz constant.
    Lipschitz,
}

/// The updates of a chain, and what is known about them.
struct World {
    interval: Interval,
    noise: f64,
    updates: Updates,
    /// r or c.
    constant: f64,
    displacement: f64,
    /// Whether the domain is claimed.
    bounded: bool,
}

impl World {
    fn new(random: &mut Random, updates: Updates) -> Self {
        let noise = random.log_between(0.3, 3.0);
        let length = noise * random.log_between(0.3, 8.0);
        let lower = random.between(-length, 0.0);
        let constant = match updates {
            Updates::Bounded => noise * random.log_between(0.05, 1.5),
            Updates::Lipschitz => [0.0, 0.3, 0.7, 0.95, 1.0, 1.0, 1.0, 1.4][random.below(8)],
        };
        let displacement = match updates {
            Updates::Bounded => 2.0 * constant * random.between(0.2, 1.0),
            Updates::Lipschitz => noise * random.log_between(0.05, 3.0),
        };
        let interval = Interval::new(lower, lower + length).expect("valid");
        Self { interval, noise, updates, constant, displacement, bounded: random.below(4) > 0 }
    }

    fn start(&self, random: &mut Random) -> f64 {
        match random.below(3) {
            0 => self.interval.lower(),
            1 => self.interval.upper(),
            _ => random.between(self.interval.lower(), self.interval.upper()),
        }
    }

    /// An update that is the same for both neighbours.
    fn common(&self, random: &mut Random) -> Map {
        let middle = random.between(self.interval.lower(), self.interval.upper());
        let c = self.constant;
        match (self.updates, random.below(5)) {
            (Updates::Bounded, 0) => Map::identity(),
            (Updates::Bounded, 1 | 2) => Map::sign_push(c, middle).expect("valid"),
            (Updates::Bounded, _) => {
                let blocks = 1 + random.below(5);
                attack::block_map(random, self.interval, blocks, c).expect("valid")
            }
            (Updates::Lipschitz, 0 | 1) => Map::affine(c, (1.0 - c) * middle).expect("valid"),
            (Updates::Lipschitz, 2) => Map::affine(-c, (1.0 + c) * middle).expect("valid"),
            (Updates::Lipschitz, _) => {
                let pieces = 1 + random.below(4);
                attack::lipschitz_map(random, self.interval, pieces, c).expect("valid")
            }
        }
    }

    /// Two updates at most the displacement apart.
    fn different(&self, random: &mut Random) -> (Map, Map) {
        let half = self.displacement / 2.0;
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        let base = match self.updates {
            // Each may move by at most r.
            Updates::Bounded => {
                let rest = (self.constant - half).max(0.0) * 0.999_999;
                let blocks = 1 + random.below(4);
                attack::block_map(random, self.interval, blocks, rest).expect("valid")
            }
            Updates::Lipschitz => self.common(random),
        };
        let moved = |by: f64| base.clone().shifted(by).expect("valid");
        (moved(sign * half), moved(-sign * half))
    }

    fn pieces(&self) -> Vec<Piece> {
        match self.updates {
            Updates::Bounded => vec![Piece::new(1.0, 2.0 * self.constant).expect("valid")],
            Updates::Lipschitz => vec![Piece::new(self.constant, 0.0).expect("valid")],
        }
    }

    fn claimed(&self, participation: Participation) -> ClaimedStep {
        // This is slightly more than the displacement, because maps are built in f64.
        let displacement = NonNegative::new(self.displacement * (1.0 + 1e-12)).expect("valid");
        let noise = StepNoise::gaussian(self.noise).expect("valid");
        let step = ClaimedStep::new(noise).with_modulus(self.pieces()).used_by(participation, displacement);
        match self.updates {
            Updates::Bounded => ClaimedStep { crossed: Modulus::new(self.pieces()), ..step },
            Updates::Lipschitz => step,
        }
    }

    fn domain(&self) -> Domain {
        let diameter = self.bounded.then(|| Positive::new(self.interval.length()).expect("valid"));
        Domain { diameter, dimension: Some(1) }
    }

    fn gaussian(&self) -> Noise {
        Noise::Gaussian(self.noise)
    }

    fn never(&self, random: &mut Random) -> Step {
        Step::never(self.gaussian(), self.common(random))
    }

    fn always(&self, random: &mut Random) -> Step {
        let (first, second) = self.different(random);
        Step::always(self.gaussian(), first, second)
    }

    /// The instance with these steps and these claims.
    fn instance(
        &self,
        kind: &'static str,
        random: &mut Random,
        steps: Vec<Step>,
        claims: Vec<(ClaimedStep, Count)>,
        facts: Facts,
    ) -> Instance {
        let chain = Chain::new(claims, self.domain()).expect("valid");
        let stops = random.below(3) == 0;
        let stop = if stops { Stop::Uniform(steps.len() as u64) } else { Stop::End };
        let claimed = Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop }]);
        let exact = OneDimensionalChain { interval: self.interval, start: self.start(random), steps };
        let own = Facts {
            noise: self.noise,
            displacement: self.displacement,
            width: self.interval.length(),
            ..facts
        };
        Instance { kind, exact, claimed, stops, facts: own }
    }
}

fn used_once(random: &mut Random, updates: Updates) -> Instance {
    let world = World::new(random, updates);
    let (before, later) = (random.below(3) as u64, random.below(5) as u64);
    let mut steps: Vec<Step> = (0..before).map(|_| world.never(random)).collect();
    steps.push(world.always(random));
    steps.extend((0..later).map(|_| world.never(random)));
    let never = world.claimed(Participation::Never);
    let mut claims = vec![
        (never.clone(), Count::Times(before)),
        (world.claimed(Participation::Always), Count::Times(1)),
        (never.clone(), Count::Times(later)),
    ];
    let facts = Facts { later, ..Facts::default() };
    if random.below(5) > 0 {
        return world.instance("used once", random, steps, claims, facts);
    }
    // A bound that holds for any number of last steps holds for these.
    claims[2].1 = Count::Any;
    let mut instance = world.instance("used once", random, steps, claims, facts);
    if instance.stops {
        let chain = instance.claimed.branches()[0].chain.clone();
        (instance.stops, instance.claimed) = (false, Mixture::last(chain));
    }
    instance
}

fn used_always(random: &mut Random) -> Instance {
    let updates = if random.below(2) == 0 { Updates::Bounded } else { Updates::Lipschitz };
    let world = World::new(random, updates);
    let times = 1 + random.below(5) as u64;
    let mut steps: Vec<Step> = (0..times).map(|_| world.always(random)).collect();
    let rest = random.below(3) as u64;
    steps.extend((0..rest).map(|_| world.never(random)));
    let claims = vec![
        (world.claimed(Participation::Always), Count::Times(times)),
        (world.claimed(Participation::Never), Count::Times(rest)),
    ];
    world.instance("used always", random, steps, claims, Facts::default())
}

fn used_at_random(random: &mut Random) -> Instance {
    let updates = if random.below(2) == 0 { Updates::Bounded } else { Updates::Lipschitz };
    let world = World::new(random, updates);
    let times = 1 + random.below(5) as u64;
    let rate = [0.02, 0.2, 0.5, 0.9][random.below(4)];
    let step = |random: &mut Random| {
        let (first, second) = world.different(random);
        // Without the record, this is any update of bounded size, or one no further away than the displacement.
        let common = match world.updates {
            Updates::Bounded => world.common(random),
            Updates::Lipschitz => {
                let middle = world.interval.lower();
                let apart = second.at(middle) - first.at(middle);
                first.clone().shifted(apart * [0.0, 0.3, 0.5, 1.0][random.below(4)]).expect("valid")
            }
        };
        let (first, second) = if random.below(2) == 0 { (first, second) } else { (second, first) };
        Step { noise: world.gaussian(), common, first, second, probability: rate }
    };
    let mut steps: Vec<Step> = (0..times).map(|_| step(random)).collect();
    let rest = random.below(3) as u64;
    steps.extend((0..rest).map(|_| world.never(random)));
    let participation = Participation::Sometimes(Probability::new(rate).expect("valid"));
    let mut claim = world.claimed(participation);
    claim.absence = match world.updates {
        Updates::Bounded => Enclosure::from(2.0 * world.constant),
        Updates::Lipschitz => Enclosure::from(world.displacement * (1.0 + 1e-12)),
    };
    let claims =
        vec![(claim, Count::Times(times)), (world.claimed(Participation::Never), Count::Times(rest))];
    world.instance("used at random", random, steps, claims, Facts { rate, ..Facts::default() })
}

/// Any pattern of uses, with steps of two different noises.
fn in_turn(random: &mut Random) -> Instance {
    let updates = if random.below(2) == 0 { Updates::Bounded } else { Updates::Lipschitz };
    let world = World::new(random, updates);
    let other = World { noise: world.noise * random.log_between(0.4, 2.5), ..World::new(random, updates) };
    let other = World { interval: world.interval, bounded: world.bounded, ..other };
    let mut steps = Vec::new();
    let mut claims = Vec::new();
    for _ in 0..2 + random.below(4) {
        let of = if random.below(3) == 0 { &other } else { &world };
        let used = random.below(2) == 0;
        steps.push(if used { of.always(random) } else { of.never(random) });
        let participation = if used { Participation::Always } else { Participation::Never };
        claims.push((of.claimed(participation), Count::Times(1)));
    }
    if random.below(4) > 0 {
        return world.instance("in turn", random, steps, claims, Facts::default());
    }
    // Any number of the last steps may also be none of them.
    if let Some(last) = claims.last_mut() {
        last.1 = Count::Any;
    }
    if random.below(2) == 0 {
        steps.pop();
    }
    let mut instance = world.instance("in turn", random, steps, claims, Facts::default());
    let chain = instance.claimed.branches().first().map(|branch| branch.chain.clone());
    instance.claimed = chain.map_or(Mixture::new(Vec::new()), Mixture::last);
    instance.stops = false;
    instance
}

/// w ↦ (1−λ)w + a push of at most r, starting from 0, on an interval that is too long to matter and is not claimed.
pub fn decaying(random: &mut Random) -> Instance {
    let noise = random.log_between(0.5, 2.0);
    let decay: f64 = [0.1, 0.4, 0.65, 0.99, 1.0][random.below(5)];
    let push = noise * random.log_between(0.1, 2.5);
    let times = 1 + random.below(6) as u64;
    let rate = [0.05, 0.5, 0.5, 1.0][random.below(4)];
    let reach = 12.0 * noise / decay.sqrt() + push / decay;
    let interval = Interval::new(-reach, reach).expect("valid");
    let keep = 1.0 - decay;
    let pushed = |random: &mut Random, by: f64| {
        let middle = random.between(-noise, noise);
        match random.below(3) {
            0 => Map::affine(keep, by).expect("valid"),
            1 => Map::new(vec![middle], vec![(keep, -by), (keep, by)]).expect("valid"),
            _ => Map::new(vec![middle], vec![(keep, by), (keep, -by)]).expect("valid"),
        }
    };
    let step = |random: &mut Random| {
        let common = pushed(random, push);
        let first = Map::affine(keep, push).expect("valid");
        let second =
            if random.below(2) == 0 { Map::affine(keep, -push).expect("valid") } else { common.clone() };
        Step { noise: Noise::Gaussian(noise), common, first, second, probability: rate }
    };
    let steps = (0..times).map(|_| step(random)).collect();
    let participation = if rate == 1.0 {
        Participation::Always
    } else {
        Participation::Sometimes(Probability::new(rate).expect("valid"))
    };
    let line = Piece::new(keep, 2.0 * push).expect("valid");
    let claim = ClaimedStep {
        crossed: Modulus::new(vec![line]),
        growth: Some(Piece::new(keep, push).expect("valid")),
        ..ClaimedStep::new(StepNoise::gaussian(noise).expect("valid"))
    };
    let displacement = NonNegative::new(2.0 * push).expect("valid");
    let claim = claim.with_modulus(vec![line]).used_by(participation, displacement);
    let chain = Chain::new(vec![(claim, Count::Times(times))], Domain { diameter: None, dimension: Some(1) });
    Instance {
        kind: "weight decay",
        exact: OneDimensionalChain { interval, start: 0.0, steps },
        claimed: Mixture::last(chain.expect("valid")),
        stops: false,
        facts: Facts { noise, displacement: 2.0 * push, decay, push, rate, ..Facts::default() },
    }
}

/// Lipschitz updates, and a record that takes part at random: one of the neighbours never depends on it, or both do.
pub fn participating(random: &mut Random) -> Instance {
    let mut world = World::new(random, Updates::Lipschitz);
    world.constant = world.constant.min(1.0);
    let vanishes = random.below(2) == 0;
    let (absence, rate) = (world.displacement, [0.02, 0.1, 0.3, 0.7][random.below(4)]);
    let displacement = if vanishes { absence } else { absence * [0.5, 1.0, 2.0][random.below(3)] };
    let step = |random: &mut Random| {
        let common = world.common(random);
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        // With one neighbour only, the push need not be Lipschitz.
        let first = match random.below(2) {
            0 if vanishes => {
                let middle = random.between(world.interval.lower(), world.interval.upper());
                common.clone().pushed_apart(absence * sign, middle).expect("valid")
            }
            _ => common.clone().shifted(absence * sign).expect("valid"),
        };
        let second = match vanishes {
            true => common.clone(),
            false => common.clone().shifted((absence - displacement) * sign).expect("valid"),
        };
        Step { noise: Noise::Gaussian(world.noise), common, first, second, probability: rate }
    };
    let times = 1 + random.below(7) as u64;
    let mut steps: Vec<Step> = (0..times).map(|_| step(random)).collect();
    if !vanishes && random.below(3) == 0 {
        // The other order of the neighbours; where one is without the record, the other comes first.
        steps.iter_mut().for_each(|step| std::mem::swap(&mut step.first, &mut step.second));
    }
    let participation = Participation::Sometimes(Probability::new(rate).expect("valid"));
    // The rounding of shifted maps.
    let room = 1.0 + 1e-12;
    let claim = ClaimedStep::new(StepNoise::gaussian(world.noise).expect("valid"))
        .with_modulus(vec![Piece::new(world.constant * room, 0.0).expect("valid")])
        .used_by(participation, NonNegative::new(displacement * room).expect("valid"));
    let claim = ClaimedStep { absence: Enclosure::from(absence * room), vanishes, ..claim };
    let count = if random.below(4) == 0 { Count::Any } else { Count::Times(times) };
    let width = world.interval.upper() - world.interval.lower();
    let diameter =
        (world.bounded || random.below(2) == 0).then(|| Positive::new(width.next_up()).expect("valid"));
    let chain = Chain::new(vec![(claim, count)], Domain { diameter, dimension: Some(1) }).expect("valid");
    Instance {
        kind: "hidden participation",
        exact: OneDimensionalChain { interval: world.interval, start: world.start(random), steps },
        claimed: Mixture::last(chain),
        stops: false,
        facts: Facts { noise: world.noise, displacement, rate, ..Facts::default() },
    }
}

/// Laplace noise; updates that send the interval to finitely many points.
fn laplace(random: &mut Random) -> Instance {
    let scale = random.log_between(0.3, 3.0);
    let length = scale * random.log_between(0.3, 5.0);
    let interval = Interval::new(0.0, length).expect("valid");
    let noise = Noise::Laplace(scale);
    let image = length * random.between(0.2, 1.5);
    let displacement = scale * random.log_between(0.1, 3.0);
    let start = random.between(0.0, length);
    let (later, half) = (random.below(4) as u64, displacement / 2.0);
    let shifted = |by: f64| Map::affine(1.0, by).expect("valid");
    let mut steps = vec![Step::always(noise, shifted(half), shifted(-half))];
    for _ in 0..later {
        let blocks = 2 + random.below(5);
        let map = attack::bounded_image_map(random, interval, blocks, length / 2.0, image).expect("valid");
        steps.push(Step::never(noise, map));
    }
    let line = Piece::new(0.0, image * (1.0 + 1e-12)).expect("valid");
    let never = ClaimedStep::new(StepNoise::laplace(scale).expect("valid")).with_modulus(vec![line]);
    let moved = NonNegative::new(displacement * (1.0 + 1e-12)).expect("valid");
    let claims = vec![
        (never.clone().used_by(Participation::Always, moved), Count::Times(1)),
        (never, Count::Times(later)),
    ];
    let domain = Domain { diameter: Some(Positive::new(length).expect("valid")), dimension: Some(1) };
    let chain = Chain::new(claims, domain).expect("valid");
    let stops = random.below(2) == 0;
    let stop = if stops { Stop::Uniform(steps.len() as u64) } else { Stop::End };
    Instance {
        kind: "laplace",
        exact: OneDimensionalChain { interval, start, steps },
        claimed: Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop }]),
        stops,
        facts: Facts { noise: scale, displacement, width: length, later, ..Facts::default() },
    }
}

/// One use, then steep Huber steps that are too long: convex and smooth, but they drive iterates apart. The claim is
/// that gradients are bounded.
pub fn steep(random: &mut Random) -> Instance {
    let noise = random.log_between(0.5, 2.0);
    let length = noise * random.log_between(0.02, 0.5);
    let push = noise * random.log_between(0.2, 1.5);
    let interval = Interval::new(0.0, length).expect("valid");
    let later = 1 + random.below(3) as u64;
    let steepness = random.log_between(20.0, 2000.0) / length;
    let huber = Map::steep_huber(length / 2.0, steepness, 1.0, push).expect("valid");
    let gaussian = Noise::Gaussian(noise);
    let moved = |by: f64| Map::affine(1.0, by).expect("valid");
    let mut steps = vec![Step::always(gaussian, moved(push), moved(-push))];
    steps.extend((0..later).map(|_| Step::never(gaussian, huber.clone())));
    let line = Piece::new(1.0, 2.0 * push * (1.0 + 1e-12)).expect("valid");
    let never = ClaimedStep::new(StepNoise::gaussian(noise).expect("valid")).with_modulus(vec![line]);
    let displacement = NonNegative::new(2.0 * push).expect("valid");
    let claims = vec![
        (never.clone().used_by(Participation::Always, displacement), Count::Times(1)),
        (never, Count::Times(later)),
    ];
    let domain = Domain { diameter: Some(Positive::new(length).expect("valid")), dimension: Some(1) };
    Instance {
        kind: "steep",
        exact: OneDimensionalChain { interval, start: length / 2.0, steps },
        claimed: Mixture::last(Chain::new(claims, domain).expect("valid")),
        stops: false,
        facts: Facts { noise, displacement: 2.0 * push, width: length, later, ..Facts::default() },
    }
}

/// One use, then steps that only add noise, on an interval that is too long to matter.
pub fn free(random: &mut Random, later: u64) -> Instance {
    let noise = random.log_between(0.5, 2.0);
    let displacement = noise * random.log_between(0.5, 8.0);
    free_steps(noise, displacement, later, false)
}

/// The same, where the iterate of a random time is released.
pub fn stopped(random: &mut Random, steps: u64) -> Instance {
    let noise = random.log_between(0.5, 2.0);
    let displacement = noise * random.log_between(0.5, 5.0);
    free_steps(noise, displacement, steps - 1, true)
}

fn free_steps(noise: f64, displacement: f64, later: u64, stops: bool) -> Instance {
    let reach = 15.0 * noise + displacement;
    let gaussian = Noise::Gaussian(noise);
    let moved = |by: f64| Map::affine(1.0, by).expect("valid");
    // After the first use, both neighbours are pushed in the direction in which the record pushed one of them.
    let half = displacement / 2.0;
    let mut steps = vec![Step::always(gaussian, moved(half), moved(-half))];
    steps.extend((0..later).map(|_| Step::never(gaussian, moved(-half))));
    let line = Piece::new(1.0, 0.0).expect("valid");
    let never = ClaimedStep::new(StepNoise::gaussian(noise).expect("valid")).with_modulus(vec![line]);
    let used = never.clone().used_by(Participation::Always, NonNegative::new(displacement).expect("valid"));
    let claims = vec![(used, Count::Times(1)), (never, Count::Times(later))];
    let chain = Chain::new(claims, Domain { diameter: None, dimension: Some(1) }).expect("valid");
    let stop = if stops { Stop::Uniform(steps.len() as u64) } else { Stop::End };
    Instance {
        kind: "free",
        exact: OneDimensionalChain {
            interval: Interval::new(-3.0 * reach, 3.0 * reach).expect("valid"),
            start: 0.0,
            steps,
        },
        claimed: Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop }]),
        stops,
        facts: Facts { noise, displacement, later, ..Facts::default() },
    }
}

/// Many equal steps, each of which may use the record, with the worst maps of their kind: pushed away from a point, or
/// not at all.
pub fn long(random: &mut Random) -> Instance {
    let noise = 1.0;
    let length = random.log_between(0.5, 4.0);
    let push = random.log_between(0.02, 0.6);
    let times = 8 + random.below(50) as u64;
    let rate = [0.01, 0.1, 0.3, 1.0][random.below(4)];
    let interval = Interval::new(-length / 2.0, length / 2.0).expect("valid");
    let lipschitz = random.below(2) == 0;
    let slope = if lipschitz { [0.9, 1.0][random.below(2)] } else { 1.0 };
    let common = if lipschitz {
        Map::affine(slope, 0.0).expect("valid")
    } else {
        Map::sign_push(push, 0.0).expect("valid")
    };
    let moved = |by: f64| Map::affine(slope, by).expect("valid");
    let step = Step {
        noise: Noise::Gaussian(noise),
        common,
        first: moved(push),
        second: moved(-push),
        probability: rate,
    };
    let participation = if rate == 1.0 {
        Participation::Always
    } else {
        Participation::Sometimes(Probability::new(rate).expect("valid"))
    };
    let moved = NonNegative::new(2.0 * push).expect("valid");
    let never = ClaimedStep::new(StepNoise::gaussian(noise).expect("valid"));
    let line = if lipschitz { Piece::new(slope, 0.0) } else { Piece::new(1.0, 2.0 * push) }.expect("valid");
    let mut claim = never.with_modulus(vec![line]).used_by(participation, moved);
    if lipschitz {
        claim.absence = Enclosure::from(push);
    } else {
        claim.crossed = Modulus::new(vec![line]);
    }
    let domain = Domain { diameter: Some(Positive::new(length).expect("valid")), dimension: Some(1) };
    // A bound that holds for any number of steps holds for these.
    let count = if random.below(2) == 0 { Count::Any } else { Count::Times(times) };
    let chain = Chain::new(vec![(claim, count)], domain).expect("valid");
    let steps = (0..times).map(|_| step.clone()).collect();
    Instance {
        kind: "long",
        exact: OneDimensionalChain { interval, start: 0.0, steps },
        claimed: Mixture::last(chain),
        stops: false,
        facts: Facts { noise, displacement: 2.0 * push, width: length, rate, ..Facts::default() },
    }
}

/// Several steps with Laplace noise and updates that are Lipschitz up to rounding: c·x, rounded to a grid of the interval,
/// with a displacement wherever the record is used. The interval may be claimed as the domain.
pub fn rounded_laplace(random: &mut Random) -> Instance {
    let scale = random.log_between(0.3, 3.0);
    let length = scale * random.log_between(1.0, 12.0);
    let interval = Interval::new(-length / 2.0, length / 2.0).expect("valid");
    let noise = Noise::Laplace(scale);
    let slope = [0.0, 0.5, 0.8, 1.0, 1.0, 1.0][random.below(6)];
    let displacement = scale * random.log_between(0.1, 2.5);
    let cells = 200;
    let width = length / f64::from(cells);
    let at = |cell: i32| -length / 2.0 + width * f64::from(cell);
    let breaks = (1..cells).map(at).collect();
    let values = (0..cells).map(|cell| (0.0, slope * (at(cell) + width / 2.0))).collect();
    let rounded = Map::new(breaks, values).expect("valid");
    let line = Piece::new(slope, slope * width * (1.0 + 1e-9)).expect("valid");
    let clean = ClaimedStep::new(StepNoise::laplace(scale).expect("valid")).with_modulus(vec![line]);
    let moved = NonNegative::new(displacement * (1.0 + 1e-12)).expect("valid");
    let mut steps = Vec::new();
    let mut claims = Vec::new();
    for step in 0..1 + random.below(6) {
        // The record is used first, and then more or less often.
        if step == 0 || random.below(3) == 0 {
            let by = |by: f64| rounded.clone().shifted(by).expect("valid");
            steps.push(Step::always(noise, by(displacement / 2.0), by(-displacement / 2.0)));
            claims.push((clean.clone().used_by(Participation::Always, moved), Count::Times(1)));
        } else {
            steps.push(Step::never(noise, rounded.clone()));
            claims.push((clean.clone(), Count::Times(1)));
        }
    }
    let diameter = (random.below(2) == 0).then(|| Positive::new(length).expect("valid"));
    let chain = Chain::new(claims, Domain { diameter, dimension: Some(1) }).expect("valid");
    let later = steps.iter().rev().take_while(|step| step.probability == 0.0).count() as u64;
    Instance {
        kind: "rounded laplace",
        exact: OneDimensionalChain { interval, start: random.between(-length / 2.0, length / 2.0), steps },
        claimed: Mixture::last(chain),
        stops: false,
        facts: Facts { noise: scale, displacement, width: length, later, ..Facts::default() },
    }
}
