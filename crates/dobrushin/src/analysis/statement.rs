//! What a theorem says, as data.

/// A theorem that a number rests on.
///
/// ```
/// use dobrushin::statement;
///
/// let shift = statement::find("shift").ok_or("it is one of the analyses")?;
/// assert!(shift.source.starts_with("Bok, Su, Altschuler"));
/// assert!(shift.assumptions.contains(&"Gaussian noise"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The name to ask for it by.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// The result, in words and formulas.
    pub statement: &'static str,
    /// What must hold.
    pub assumptions: &'static [&'static str],
    /// Where it comes from.
    pub source: &'static str,
    /// What the source has wrong, and what holds instead; the numbers are those
    /// of docs/errata.md.
    pub errata: &'static [&'static str],
    /// More about an analysis; none for what analyses rest on.
    pub notes: Option<Notes>,
}

/// What one needs to know of an analysis to check it and to choose it.
///
/// ```
/// use dobrushin::statement;
///
/// // An analysis has notes with an example; what it rests on needs none.
/// let notes = |id| statement::find(id).and_then(|statement| statement.notes);
/// assert!(notes("shift").is_some_and(|notes| notes.example.starts_with("account examples/")));
/// assert_eq!(notes("tight-curve"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notes {
    /// What runs it is about, in a few words.
    pub applies_to: &'static str,
    /// The displayed formulas, then what their symbols mean, in lines.
    pub formula: &'static str,
    /// The steps of its proof that matter.
    pub proof: &'static [&'static str],
    /// When it is the best of all, and when it says nothing.
    pub wins: &'static [&'static str],
    /// The arguments of a command that shows it at work, from the root of the repository.
    pub example: &'static str,
}

/// Contraction of E_γ-divergence and its applications to privacy.
macro_rules! ced {
    ($place:literal) => {
        concat!(
            "Asoodeh, Diaz, Calmon, Contraction of E_γ-divergence and its applications to privacy (2023), ",
            $place
        )
    };
}

/// Privacy amplification of iterative algorithms via contraction coefficients.
macro_rules! pac {
    ($place:literal) => {
        concat!(
            "Asoodeh, Diaz, Calmon, Privacy amplification of iterative algorithms via contraction \
             coefficients (2020), ",
            $place
        )
    };
}

/// Privacy loss of noisy stochastic gradient descent might converge even for non-convex losses.
macro_rules! ncv {
    ($place:literal) => {
        concat!(
            "Asoodeh, Diaz, Privacy loss of noisy stochastic gradient descent might converge even for \
             non-convex losses (2023), ",
            $place
        )
    };
}

pub(crate) use {ced, ncv, pac};
