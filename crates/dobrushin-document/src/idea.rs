//! Ideas in plain words, for those who read a number and not a theorem.

use crate::text::meaning::percent;
use dobrushin::account::{Meaning, Question, composed_cost};
use dobrushin::numeric::{decimal, normal, theta};
use dobrushin::profile::{Allowance, GaussianProfile, PiecewiseProfile, RunningCost};
use dobrushin::{Delta, Enclosure, Epsilon, Neighbours, NonNegative, Order, PrivacyProfile, Release, Run};
use dobrushin_audit::floor;
use dobrushin_audit::{Guesses, Risk};
use serde::Serialize;

/// An idea: what it is, an example with numbers, and where to read on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Idea {
    /// Its name.
    pub id: &'static str,
    /// What it is about, in one line.
    pub title: &'static str,
    /// What it is, one paragraph each.
    pub statement: Vec<&'static str>,
    /// The example, line by line.
    pub numbers: Vec<String>,
    /// A command to try, without the name of the program.
    pub example: &'static str,
    /// Other ideas that help.
    pub see: Vec<&'static str>,
}

/// The names of all ideas, in the order in which they build on each other.
pub const IDEAS: [&str; 10] = [
    "epsilon",
    "delta",
    "membership",
    "neighbours",
    "samplers",
    "hidden",
    "forgetting",
    "ledger",
    "floor",
    "audit",
];

impl Idea {
    /// The idea of this name.
    pub fn find(id: &str) -> Option<Self> {
        Some(match id {
            "epsilon" => epsilon(),
            "delta" => delta(),
            "membership" => membership(),
            "neighbours" => neighbours(),
            "samplers" => samplers(),
            "hidden" => hidden(),
            "forgetting" => forgetting(),
            "ledger" => ledger(),
            "floor" => floor(),
            "audit" => audit(),
            _ => return None,
        })
    }

    /// All ideas.
    pub fn all() -> Vec<Self> {
        IDEAS.into_iter().filter_map(Self::find).collect()
    }
}

/// What (ε, δ) means, for the examples.
fn meaning(epsilon: f64, delta: f64) -> Option<Meaning> {
    Some(Meaning::of_point(Epsilon::new(epsilon).ok()?, Delta::new(delta).ok()?))
}

fn epsilon() -> Idea {
    let certainty = |epsilon: f64| {
        let certainty = percent(meaning(epsilon, 0.0)?.posterior_from_half);
        Some(format!("ε = {epsilon}: at most {certainty} certain"))
    };
    let lead = "Somebody holds it for a coin toss whether you took part. After they see the result, they are"
        .to_owned();
    Idea {
        id: "epsilon",
        title: "ε: how much a result can tell about one person",
        statement: vec![
            "Imagine the computation twice: once with your record, once without it (or with another in its place). Noise \
             makes the result random both times. ε limits how different the two can look: every result is at most e^ε \
             times as likely in one case as in the other.",
            "So whoever sees the result, and knows everything else, learns only so much about you: the odds at which they would \
             bet grow by the factor e^ε at most. ε = 0 tells nothing. Smaller is more private.",
            "ε is a promise about the method, made before anybody looks at the data. It holds against every attacker, \
             whatever they know or will find out, and it adds up over several results.",
        ],
        numbers: std::iter::once(lead)
            .chain([0.1, 0.5, 1.0, 3.0, 8.0].into_iter().filter_map(certainty))
            .collect(),
        example: "account examples/logistic-regression.toml",
        see: vec!["delta", "membership", "neighbours"],
    }
}

fn delta() -> Idea {
    Idea {
        id: "delta",
        title: "δ: how often the promise of ε may fail",
        statement: vec![
            "(ε, δ) promises ε except with probability δ. When the promise fails, anything may happen: in the worst case a \
             record is published in full.",
            "So δ must be far below one over the number of records: 1e-5 for a thousand people, 1e-8 for a million. A δ of \
             1/n allows to draw one of n people at random and to publish their record.",
            "A smaller δ costs a larger ε for the same noise. The privacy profile has the ε of every δ.",
        ],
        numbers: [
            "A method that publishes each record in full with probability δ keeps the promise for every ε. Of 10,000 \
             records it publishes",
            "δ = 1e-3: 10 records on average",
            "δ = 1e-7: one record in a thousand such releases",
        ]
        .map(str::to_owned)
        .to_vec(),
        example: "account examples/noisy-gd.toml --epsilon 1",
        see: vec!["epsilon", "membership"],
    }
}

fn membership() -> Idea {
    let rates = |mu: f64| {
        let profile = GaussianProfile::new(NonNegative::new(mu).ok()?);
        let delta = Delta::new(1e-6).ok()?;
        let epsilon = Epsilon::new(profile.epsilon(delta).upper()).ok()?;
        let meaning = Meaning::of(&profile, epsilon, delta);
        let [(_, often), (_, rarely)] = meaning.true_positive_rates[..] else {
            return None;
        };
        Some(format!(
            "ε = {}: at 1% wrong, {} right; at 0.1% wrong, {} right; advantage {}",
            dobrushin::numeric::decimal::briefly(Enclosure::from(epsilon.get())),
            percent(often),
            percent(rarely),
            percent(meaning.advantage)
        ))
    };
    let lead = "Gaussian noise on a sum, δ = 1e-6".to_owned();
    Idea {
        id: "membership",
        title: "Membership: can somebody tell that you took part?",
        statement: vec![
            "A membership attack looks at a result and claims that some person took part. It is judged by two rates: of \
             those who did take part, how many does it name (true positives), and of those who did not, how many does it \
             accuse wrongly (false positives)? An attack that may accuse everybody names everybody, so only both together \
             mean something.",
            "Privacy limits the first by the second: true positives ≤ e^ε · false positives + δ, and more tightly over the whole \
             profile. The advantage is the largest difference of the two. One over the advantage is N in \"at most one more \
             in N people would be recognised than by guessing\".",
            "The certainty of an attacker is another view: from a prior of 50% it grows to e^ε/(1 + e^ε) at most, except \
             with probability δ.",
        ],
        numbers: std::iter::once(lead).chain([0.1, 0.5, 2.0].into_iter().filter_map(rates)).collect(),
        example: "calibrate examples/dp-sgd.toml --parameter steps --tpr 0.05 --fpr 0.01",
        see: vec!["epsilon", "neighbours"],
    }
}

fn neighbours() -> Idea {
    let of = |mu: f64| {
        let epsilon = theta::smallest_epsilon(NonNegative::new(mu).ok()?, Delta::new(1e-5).ok()?);
        Some(dobrushin::numeric::decimal::briefly(epsilon))
    };
    let line = |name: &str, mu: f64| Some(format!("{name}: ε = {}", of(mu)?));
    let lead = "One sum with noise of twice a record's largest contribution, δ = 1e-5".to_owned();
    let lines = [line("add-or-remove-one, zero-out", 0.5), line("replace-one", 1.0)];
    Idea {
        id: "neighbours",
        title: "Neighbours: which two cases are compared?",
        statement: vec![
            "Two data sets are neighbours if they differ in one record. The relation says how, and so what is hidden about a person.",
            "add-or-remove-one: the record is there or not. It is hidden whether you took part at all, and the number of \
             records is a secret too. zero-out: the record is there, or an empty one in its place. Your values are hidden, and \
             whether they were used; the number of records is public. replace-one: the record has one value or any \
             other. Your values are hidden; that there is a record in your place is not.",
            "A replaced record is one that is removed and another that is added, so the same noise gives about twice the ε. Compare \
             an ε only with an ε for the same relation. The unit matters as much: if a person has ten records, the promise \
             for one record is about ten times weaker for the person.",
        ],
        numbers: std::iter::once(lead).chain(lines.into_iter().flatten()).collect(),
        example: "account examples/noisy-gd.toml --set neighbours=zero-out",
        see: vec!["epsilon", "membership"],
    }
}

fn hidden() -> Idea {
    let noise = |steps: f64| {
        // A step halves the distance of two models, and adds noise 1: the noise that hides a shift of 1 made so many
        // steps earlier.
        let factor = libm::pow(0.5_f64, steps);
        let variance = (1.0 - libm::pow(0.25_f64, steps + 1.0)) / 0.75;
        let mu = factor / variance.sqrt();
        let advantage = normal::cdf(mu / 2.0) * Enclosure::from(2.0) - Enclosure::ONE;
        format!("after {steps} further steps: {}", percent(advantage))
    };
    let lead = "A record moves the model by as much as the noise of a step. Each step halves what it finds and adds new \
                noise. If only the last model is published, the advantage of an attacker is at most"
        .to_owned();
    Idea {
        id: "hidden",
        title: "Hidden states: why unpublished steps cost less",
        statement: vec![
            "An iterative method computes many models, one after another, and often publishes only the last one. Most \
             accountants count every model as if it were published. Then ε grows with every step.",
            "But noise that is added after a step also hides what that step did. If the models in between stay secret, \
             and the steps do not blow up differences, then older steps are forgotten, and ε stops to grow.",
            "The models must really stay secret: no checkpoints, no logs of losses, no early stopping that looks at them.",
        ],
        numbers: std::iter::once(lead).chain([0.0, 2.0, 4.0, 6.0].into_iter().map(noise)).collect(),
        example: "curve examples/noisy-gd.toml --over steps=1..1e4 --log --points 5 --analyses composition,shift",
        see: vec!["epsilon", "floor"],
    }
}

fn samplers() -> Idea {
    let of = |(order, words): (Order, &str)| {
        let run = Run::dp_sgd(10_000).order(order).batch_size(100).epochs(1.0).clip_norm(1.0);
        let run = run.noise_multiplier(1.0).neighbours(Neighbours::ZeroOut).build().ok()?;
        let account = run.account(Question::EpsilonAt(Delta::new(1e-5).ok()?));
        Some(format!("{words}: ε ≤ {}", decimal::briefly(account.guarantee().ok()?.answer.value)))
    };
    let orders = [
        (Order::Allocation, "allocation, every record draws one of the 100 batches"),
        (Order::Poisson, "poisson, every step draws each record with probability 1/100"),
        (Order::Shuffled, "shuffled, a random order cut into 100 batches"),
    ];
    let lead =
        "One pass over 10,000 records in 100 steps with noise multiplier 1, every model published, δ = 1e-5"
            .to_owned();
    Idea {
        id: "samplers",
        title: "Samplers: what it is worth that nobody knows which step used a record",
        statement: vec![
            "A step that may or may not have used a record tells less about it than one that certainly did. So it matters how batches \
             are made, and it must stay secret which records they held.",
            "With order = \"allocation\" every record draws one batch of each pass for itself: every record is used in every pass, \
             and each is hidden among all steps. With order = \"poisson\" every step draws each record independently, so that \
             some records are used twice in a pass and others never.",
            "With order = \"shuffled\" the batches have a fixed size. Who knows the places of all other records then knows the one place \
             that is left, and shuffling hides nothing from them.",
        ],
        numbers: std::iter::once(lead).chain(orders.into_iter().filter_map(of)).collect(),
        example: "account examples/allocation.toml",
        see: vec!["neighbours", "hidden"],
    }
}

fn forgetting() -> Idea {
    let of = |steps: u64| {
        let run =
            Run::gradient_descent(1000).steps(1000).learning_rate(0.1).clip_norm(1.0).noise_multiplier(20.0);
        let run = run.weight_decay(0.05).convex().generalised_linear().smoothness(1.0);
        let run = run.release(Release::Last).neighbours(Neighbours::ZeroOut).forget(1, steps).build().ok()?;
        let account = run.account(Question::EpsilonAt(Delta::new(1e-5).ok()?));
        let epsilon = account.guarantee().ok()?.answer.value;
        Some(format!("after {steps} clean steps: ε ≤ {}", decimal::briefly(epsilon)))
    };
    let lead = "Noisy gradient descent, 1000 steps on 1000 records, each of which forgets 5 % of the past, δ = 1e-5. One record \
                is deleted, and the model is as if it had never been used"
        .to_owned();
    Idea {
        id: "forgetting",
        title: "Forgetting: a model as if deleted records had never been used",
        statement: vec![
            "A person asks to be deleted. To delete the record is easy; but the model was trained on it. To train again without the \
             record is the sure way, and costs as much as the first time.",
            "If steps forget the past, a few more of them on the remaining records do nearly the same. ε and δ bound how well anybody \
             can tell the result from a model that was trained without the record from the start: (ε, δ) as always, but about the \
             deleted records only.",
            "The clean steps must continue the secret iterate itself, not a rounded or released copy. Who is deleted must not depend on \
             a model that was released. And what was released before the request stays released: nothing can take it back.",
            "Several requests are one after another in the same run: [forget] lists how many records each deletes and how many clean \
             steps follow it. The bound is about all deleted records together.",
        ],
        numbers: std::iter::once(lead).chain([10, 30, 60, 100].into_iter().filter_map(of)).collect(),
        example: "calibrate examples/forget.toml --parameter forget.steps --epsilon 0.1",
        see: vec!["hidden", "neighbours", "epsilon"],
    }
}

fn ledger() -> Idea {
    let delta = || Delta::new(1e-5).ok();
    let profile = |mu: f64| {
        let law = GaussianProfile::new(NonNegative::new(mu).ok()?);
        Some(PiecewiseProfile::interpolating(&law, 1e-3))
    };
    // Somebody is used first in one release and last in the other, or last in both.
    let (early, late) = (0.1, 0.4);
    let total = |one: f64, other: f64, words: &str| {
        let (one, other) = (profile(one)?, profile(other)?);
        let composed = composed_cost([(&one, 1), (&other, 1)]).ok()?.epsilon(delta()?).upper();
        let allowance = Allowance::new(Epsilon::new(3.0).ok()?, delta()?);
        let share = allowance.share(&RunningCost::of(&one).and(RunningCost::of(&other)));
        Some(format!(
            "{words}: ε ≤ {}, {} of the budget",
            decimal::briefly(Enclosure::from(composed)),
            percent(Enclosure::from(share))
        ))
    };
    let lead = "Two releases with Gaussian noise; a record that is used late differs by 0.4 of the noise, and one that is used early \
                by 0.1. The budget is ε = 3 at δ = 1e-5"
        .to_owned();
    Idea {
        id: "ledger",
        title: "Ledger: what each person has spent over all releases",
        statement: vec![
            "A certificate is about one release. Over the years a person is in many, and what they tell adds up. A ledger knows who was \
             in which release and what it cost them, and refuses a release that would exceed anybody's budget, or leaves those \
             people out.",
            "It adds up what each person spent, and not what the most exposed person of each release spent. Whoever is used early in \
             one pass over the data, and is hidden by all later steps, pays less for it than whoever comes last. So the most that \
             anybody spends may be far less than the sum of what releases cost at most.",
            "A release is reserved before it is made, so nothing is spent that was not counted, whatever fails in between. It is \
             committed after it was made, and aborted only if nothing of it was released.",
            "Releases are often chosen after earlier ones were seen. Then budgets hold only under a rule that is stricter than the \
             composition of releases that were fixed in advance. A ledger uses this rule, unless you say that all was planned.",
        ],
        numbers: [
            Some(lead),
            total(early, early, "early in both"),
            total(early, late, "early in one and late in the other"),
            total(late, late, "late in both"),
        ]
        .into_iter()
        .flatten()
        .collect(),
        example: "account examples/pnsgd.toml --per-record",
        see: vec!["hidden", "forgetting", "epsilon"],
    }
}

fn floor() -> Idea {
    let levels = || {
        let run =
            Run::gradient_descent(1000).steps(1000).learning_rate(0.1).clip_norm(1.0).noise_multiplier(20.0);
        let run = run.weight_decay(0.05).convex().generalised_linear().smoothness(1.0);
        let run = run.release(Release::Last).build().ok()?;
        let question = Question::EpsilonAt(Delta::new(1e-5).ok()?);
        let account = run.account(question);
        let (best, composed) = (account.guarantee().ok()?.answer.value, account.if_published()?.value);
        let least = floor::floor(&run, question)?.answer.value.lower();
        Some([
            format!("if every model were published: ε ≤ {}", decimal::briefly(composed)),
            format!("the guarantee: ε ≤ {}", decimal::briefly(best)),
            format!("the floor: ε ≥ {}", decimal::lower(Enclosure::from(least), 4)),
        ])
    };
    let lead = "1000 steps on all of 1000 records, of which each forgets 5 % and only the last is published, δ = 1e-5"
        .to_owned();
    Idea {
        id: "floor",
        title: "Floor: how much of a guarantee is real",
        statement: vec![
            "A guarantee holds for all data that the facts of a run allow. It may be larger than it needs to be, because the proof is \
             not the best one. The floor says how much larger at most.",
            "It is the ε of one pair of neighbouring data sets that obey all facts, computed from below. No analysis that uses \
             only these facts can prove less than that. So the truth lies between the floor and the guarantee.",
            "The floor is about the worst data, and not about yours. If it is well below the guarantee, a better theorem may come. If \
             they are equal, only more noise, fewer steps or more facts will help.",
        ],
        numbers: std::iter::once(lead).chain(levels().into_iter().flatten()).collect(),
        example: "account examples/noisy-gd.toml",
        see: vec!["hidden", "audit"],
    }
}

fn audit() -> Idea {
    let most = |runs: u64| {
        // A quarter of the runs chooses the three rules that share the risk.
        let counted = runs - runs / 4;
        let guesses = Guesses { right: counted, runs: counted, wrong: 0, other_runs: counted };
        let rates = guesses.rates(Risk::new(0.05).ok()?.shared_by(3));
        let epsilon = rates.epsilon(Delta::new(1e-5).ok()?);
        Some(format!("{runs} runs of each: ε ≥ {}", decimal::lower(Enclosure::from(epsilon), 3)))
    };
    let lead =
        "The most that an attacker who is never wrong proves at δ = 1e-5 with 95% confidence".to_owned();
    Idea {
        id: "audit",
        title: "Audit: does a program keep its promise?",
        statement: vec![
            "An audit runs a program many times on two data sets that differ in one record. An attacker looks at what each run \
             released, and says whether the record was there. How often it is right and wrong proves an ε from below: at least this \
             much is lost.",
            "If that contradicts what was claimed, the program has an error, or something else is released than was said. If it \
             does not, nothing is proved: another attack may be better. A canary is a record that was made to be found, and \
             helps.",
            "attack ≤ floor ≤ guarantee ≤ composition: what was shown, what no proof can go below, what is proved, and what would be \
             proved if every step were published.",
        ],
        numbers: std::iter::once(lead)
            .chain([100, 1000, 10_000, 100_000].into_iter().filter_map(most))
            .collect(),
        example: "audit --scores examples/audit/scores-with.csv examples/audit/scores-without.csv --epsilon 4.4 --delta 1e-5",
        see: vec!["membership", "floor"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_idea_has_its_example_and_leads_to_others() {
        let ideas = Idea::all();
        assert_eq!(ideas.len(), IDEAS.len());
        for idea in ideas {
            assert!(idea.numbers.len() >= 3, "{}: {:?}", idea.id, idea.numbers);
            assert!(idea.see.iter().all(|other| Idea::find(other).is_some() && *other != idea.id));
            assert!(dobrushin::statement::find(idea.id).is_none(), "{} is a theorem, too", idea.id);
        }
        assert_eq!(Idea::find("gossip"), None);
    }

    #[test]
    fn the_numbers_are_those_of_the_formulas() {
        // e/(1 + e) = 0.73106 and 0.75 of randomised response.
        assert!(
            epsilon().numbers.contains(&"ε = 1: at most 73.11% certain".to_owned()),
            "{:?}",
            epsilon().numbers
        );
        // 2Φ(1/2) − 1 = 0.38292.
        assert!(hidden().numbers[1].ends_with(": 38.3%"), "{:?}", hidden().numbers);
        // ln(750/ln(120)) = 5.05.
        assert_eq!(audit().numbers[2], "1000 runs of each: ε ≥ 5.05");
        assert!(floor().numbers.len() == 4, "{:?}", floor().numbers);
    }
}
