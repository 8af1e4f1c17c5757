//! What a theorem says, as data.

/// A theorem that a number rests on.
///
/// ```
/// use dobrushin::statement;
///
/// let shift = statement::find("shift").ok_or("it is one of the analyses")?;
/// assert!(shift.source.starts_with("Bok, Su, Altschuler"));
/// assert!(shift.assumptions.contains(&"Gaussian noise, or Laplace noise in one dimension"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The name by which to find it.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// The result, in words and formulas.
    pub statement: &'static str,
    /// What must hold.
    pub assumptions: &'static [&'static str],
    /// Its source.
    pub source: &'static str,
    /// The errors of the source, and what holds instead; the numbers are those of docs/errata.md.
    pub errata: &'static [&'static str],
    /// More about an analysis; `None` for theorems that analyses rely on.
    pub notes: Option<Notes>,
}

/// What one needs to know about an analysis to check it and to choose it.
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
    /// The runs it is about, in a few words.
    pub applies_to: &'static str,
    /// The displayed formulas, then the meaning of their symbols, in lines.
    pub formula: &'static str,
    /// The main steps of its proof.
    pub proof: &'static [&'static str],
    /// When it is the best of all, and when it gives nothing.
    pub wins: &'static [&'static str],
    /// The arguments of a command that demonstrates it, run from the root of the repository.
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
