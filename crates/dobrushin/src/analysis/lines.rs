//! From a chain to the steps of a shift: one line for each modulus.

use super::allocation::{ShiftStep, squared_shift_from, squared_shift_within};
use super::laps::laps;
use super::unrelated;
use crate::chain::{Chain, Count, Piece, Section, StepNoise, Stretch};
use crate::run::{Fact, in_the_way};
use crate::{Enclosure, NotApplicable};

/// μ² = Σ(a_t/s_t)² of the best allocation, starting with the first use of the record.
///
/// # Errors
/// [`NotApplicable`] if the noise is not Gaussian, nothing bounds the distance of iterates, or if no allocation has a
/// finite price.
pub(super) fn squared_shift(chain: &Chain) -> Result<Enclosure, NotApplicable> {
    best_over_lines(chain, |lines| lines.together())
}

/// The same, or less if iterates are in a bounded set, where the argument may begin at any time.
pub(super) fn squared_shift_on_domain(chain: &Chain) -> Result<Enclosure, NotApplicable> {
    let diameter = chain.domain().width().upper();
    // The first use may follow a smaller set, but nothing that is lost matters: iterates are equal before it.
    best_over_lines(chain, |lines| {
        let together = lines.together();
        // With any number of steps, there may be too few to begin among them, unless there are no others.
        let too_few = lines.is_endless() && lines.all.len() > 1;
        if diameter == f64::INFINITY || too_few || lines.all.is_empty() {
            return together;
        }
        let within: Vec<f64> = lines.within.iter().map(|within| within.min(diameter)).collect();
        let apart = squared_shift_within(&within, &lines.all);
        if apart.upper() < together.upper() { apart } else { together }
    })
}

/// Shows every choice of lines for a chain with Laplace noise, with the steps after the last use of the record and
/// without them.
///
/// # Errors
/// [`NotApplicable`] if a step has other noise, or nothing bounds the distance of iterates.
pub(super) fn each_laplace_line(chain: &Chain, mut show: impl FnMut(&Lines)) -> Result<(), NotApplicable> {
    if chain.has_laps() {
        return Err(NotApplicable::beyond(
            "the record is used in turn in thousands of passes, and with Laplace noise shifts are found one by one: \
             composition counts them",
        ));
    }
    let sections = sections(chain);
    let until_the_last_use = until_the_last_use(&sections);
    let all = each_choice(&sections, laplace, &mut show);
    if until_the_last_use.len() == sections.len() {
        return all;
    }
    each_choice(until_the_last_use, laplace, &mut show).or(all)
}

/// The size of noise that must be Gaussian.
fn gaussian(noise: StepNoise) -> Result<Enclosure, NotApplicable> {
    match noise {
        StepNoise::Gaussian(size) => Ok(size),
        StepNoise::Laplace(_) => Err(in_the_way!("the noise must be Gaussian: {}", NoiseKind)),
    }
}

/// The size of noise that must be Laplace noise.
fn laplace(noise: StepNoise) -> Result<Enclosure, NotApplicable> {
    match noise {
        StepNoise::Laplace(size) => Ok(size),
        StepNoise::Gaussian(_) => {
            Err(in_the_way!("the noise must be of one kind in all steps: {}", NoiseKind))
        }
    }
}

/// One line for each stretch, starting with the first use of the record.
pub(super) struct Lines {
    /// The first use separately, before which iterates are equal, and everything that follows.
    pub first_apart: Vec<ShiftStep>,
    /// The stretches in order; empty if some have no line.
    pub all: Vec<ShiftStep>,
    /// The largest diameter of the sets before the steps of each stretch; ∞ for that of the domain.
    within: Vec<f64>,
    /// Whether there is only one stretch.
    pub alone: bool,
}

impl Lines {
    /// Whether the last stretch has any number of steps.
    pub fn is_endless(&self) -> bool {
        self.first_apart.last().is_some_and(|step| step.count == Count::Any)
    }

    /// The price from equal iterates.
    ///
    /// Equal steps, any number of them, cost most in the limit. If others come before, everything is shifted before
    /// them, and then as in a chain of their own: the number may be 0.
    fn together(&self) -> Enclosure {
        match &self.first_apart[..] {
            [before @ .., last] if self.is_endless() && !self.alone => {
                squared_shift_from(0.0, before) + squared_shift_from(0.0, std::slice::from_ref(last))
            }
            steps => squared_shift_from(0.0, steps),
        }
    }
}

/// The least over the choices of lines, with the steps after the last use of the record and without them. These steps
/// are post-processing; but where gradients are only bounded, lines let equal iterates move apart.
fn best_over_lines(chain: &Chain, price: impl Fn(&Lines) -> Enclosure) -> Result<Enclosure, NotApplicable> {
    let sections = sections(chain);
    let until_the_last_use = until_the_last_use(&sections);
    let all = best_of(&sections, &price);
    if until_the_last_use.len() == sections.len() {
        return all;
    }
    match (all, best_of(until_the_last_use, &price)) {
        (Ok(a), Ok(b)) => Ok(if b.upper() < a.upper() { b } else { a }),
        (Err(_), Ok(price)) | (Ok(price), _) => Ok(price),
        (Err(reason), Err(_)) => Err(reason),
    }
}

/// The sections since the first use of the record. Steps without the record whose number may be 0 are left out.
fn sections(chain: &Chain) -> Vec<Section<'_>> {
    let may_be_none = |section: &Section<'_>| match section {
        Section::Stretch(stretch) => stretch.count == Count::Any && stretch.step.participation.is_never(),
        Section::Laps(..) => false,
    };
    let sections: Vec<Section<'_>> =
        chain.sections_since_the_record().filter(|section| !may_be_none(section)).collect();
    if chain.has_laps() { sections.into_iter().flat_map(with_laps_apart).collect() } else { sections }
}

fn until_the_last_use<'a, 'b>(sections: &'b [Section<'a>]) -> &'b [Section<'a>] {
    let used = sections.iter().rposition(Section::is_used);
    &sections[..used.map_or(0, |last| last + 1)]
}

/// The number of last laps that are treated one by one, so that the argument may begin at any of their steps.
const LAST_LAPS: u64 = 256;

/// A section, with its first lap and its last laps as stretches.
fn with_laps_apart(section: Section<'_>) -> Vec<Section<'_>> {
    let Section::Laps(lap, times) = section else {
        return vec![section];
    };
    let last = (times - 1).min(LAST_LAPS);
    let between = times - 1 - last;
    let again = |times: u64| (0..times).flat_map(|_| lap.iter().copied().map(Section::Stretch));
    let together = (between > 0).then(|| Section::Laps(lap.clone(), between));
    again(1).chain(together).chain(again(last)).collect()
}

fn best_of(
    sections: &[Section<'_>],
    price: &dyn Fn(&Lines) -> Enclosure,
) -> Result<Enclosure, NotApplicable> {
    if sections.is_empty() {
        return Ok(Enclosure::ZERO);
    }
    let mut best: Option<Enclosure> = None;
    each_choice(sections, gaussian, &mut |lines| {
        let price = price(lines);
        best = Some(best.map_or(price, |best| if price.upper() < best.upper() { price } else { best }));
    })?;
    match best {
        Some(price) if price.upper() < f64::INFINITY => Ok(price),
        _ => Err(growing()),
    }
}

/// The reason if no allocation has a finite price.
pub(super) fn growing() -> NotApplicable {
    NotApplicable::missing(
        &[Fact::WeightDecay, Fact::StrongConvexity, Fact::Diameter],
        "what has to be shifted grows with the number of steps: weight decay or strong convexity would bound it, \
         or a bounded domain",
    )
}

/// The noise of a step, if it is of the right kind.
type Size = fn(StepNoise) -> Result<Enclosure, NotApplicable>;

/// Shows the lines of every choice that has one for each section.
///
/// # Errors
/// [`NotApplicable`] if there is none.
fn each_choice(
    sections: &[Section<'_>],
    size: Size,
    show: &mut dyn FnMut(&Lines),
) -> Result<(), NotApplicable> {
    let choices = |never: bool| {
        let stretches = sections.iter().flat_map(Section::stretches);
        choices(&stretches.filter(|s| s.step.participation.is_never() == never).collect::<Vec<_>>())
    };
    let (same, crossed) = (choices(true), choices(false));
    let mut is_related = false;
    for &same in &same {
        for &crossed in &crossed {
            if let Some(lines) = choose(sections, same, crossed, size)? {
                is_related = true;
                show(&lines);
            }
        }
    }
    if is_related { Ok(()) } else { Err(unrelated()) }
}

/// The line with this index, or the last if there are fewer.
fn line(stretch: &Stretch<'_>, choice: usize) -> Option<Piece> {
    stretch.step.lines().take(choice + 1).last()
}

/// The choices for some stretches, without those whose lines all lie above the lines of another choice.
fn choices(stretches: &[&Stretch<'_>]) -> Vec<usize> {
    let most = stretches.iter().map(|stretch| stretch.step.lines().count()).max().unwrap_or(1);
    let is_above = |line: Piece, other: Piece| {
        line.slope().upper() >= other.slope().upper() && line.offset().upper() >= other.offset().upper()
    };
    let are_above = |choice: usize, other: usize| {
        let lines = stretches.iter().map(|stretch| line(stretch, choice).zip(line(stretch, other)));
        lines.into_iter().all(|lines| lines.is_none_or(|(line, other)| is_above(line, other)))
    };
    let is_needless = |&choice: &usize| {
        let others = (0..most).filter(|&other| other != choice && are_above(choice, other));
        others.into_iter().any(|other| other < choice || !are_above(other, choice))
    };
    (0..most).filter(|choice| !is_needless(choice)).collect()
}

/// One line for each section; `None` if a section other than the first use has none.
fn choose(
    sections: &[Section<'_>],
    same: usize,
    crossed: usize,
    size: Size,
) -> Result<Option<Lines>, NotApplicable> {
    let mut all = Vec::with_capacity(sections.len());
    let mut within: Vec<f64> = Vec::with_capacity(sections.len());
    let mut before = f64::INFINITY;
    let mut unknown = false;
    for section in sections {
        let start = all.len();
        for stretch in section.stretches() {
            let noise = size(stretch.step.noise)?;
            let choice = if stretch.step.participation.is_never() { same } else { crossed };
            let line = line(stretch, choice);
            // Without any line, the first use may still be bounded on its own.
            unknown |= line.is_none() && !(all.is_empty() && stretch.count == Count::Times(1));
            let (slope, offset) = line
                .map_or((f64::INFINITY, f64::INFINITY), |line| (line.slope().upper(), line.offset().upper()));
            all.push(ShiftStep { slope, offset, noise: noise.lower(), count: stretch.count });
            let after = stretch.step.diameter.map_or(f64::INFINITY, |diameter| diameter.get());
            within.push(if stretch.count == Count::Times(1) { before } else { before.max(after) });
            before = after;
        }
        if let Section::Laps(_, times) = section {
            let together = laps(&all[start..], *times);
            unknown |= together.is_none();
            all.truncate(start);
            all.extend(together);
            within.truncate(start);
            within.resize(all.len(), f64::INFINITY);
            before = f64::INFINITY;
        }
    }
    let (Some(Section::Stretch(stretch)), false) = (sections.first(), unknown) else {
        return Ok(None);
    };
    // From equal iterates, the distance after the first use is at most the displacement, and at most what any line
    // gives.
    let offsets = stretch.step.crossed_pieces().map(|piece| piece.offset().upper());
    let first = ShiftStep {
        slope: 1.0,
        offset: offsets.fold(stretch.step.displacement.upper(), f64::min),
        noise: all[0].noise,
        count: Count::Times(1),
    };
    let left = match stretch.count {
        Count::Times(times) => Count::Times(times - 1),
        Count::Any => Count::Any,
    };
    let rest = ShiftStep { count: left, ..all[0] };
    let mut first_apart = vec![first];
    first_apart.extend((left != Count::Times(0)).then_some(rest));
    first_apart.extend_from_slice(&all[1..]);
    let known = all.iter().all(|step| step.slope < f64::INFINITY);
    let all = if known { all } else { Vec::new() };
    Ok(Some(Lines { first_apart, all, within, alone: sections.len() == 1 }))
}
