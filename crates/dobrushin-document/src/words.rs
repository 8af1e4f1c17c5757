//! Which word was meant.

/// The word that takes fewest changes, if few.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('_', "-");
    let best = known.map(|candidate| (strsim::levenshtein(&word, candidate), candidate)).min()?;
    (best.0 <= 1 + word.chars().count() / 4).then_some(best.1)
}
