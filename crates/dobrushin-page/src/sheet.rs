//! What a certificate's page shows, recomputed from the certificate alone.

use dobrushin::Epsilon;
use dobrushin::account::{Options, Question, analyses_for_curves};
use dobrushin_document::certificate::{self, Certificate, Checked};
use dobrushin_document::text::Style;
use dobrushin_document::{DocumentError, sheet, text};
use serde::Deserialize;
use serde_json::{Value, json};

/// The points of a curve.
const POINTS: u32 = 60;
/// The picture goes on to this multiple of ε.
const WIDER: f64 = 1.5;

/// Whether it holds, in words; if it does, what its page shows, and δ(ε) by its analysis and by composition.
pub fn sheet(file: &str) -> Result<Value, DocumentError> {
    let read = certificate::read(file.as_bytes(), "the certificate")?;
    let found = certificate::verify(&read, None)?;
    let said = text::verification(&found, None, Style::default()).render(Style::default());
    let certificate = Certificate::deserialize(&read).ok().filter(|_| found.confirmed);
    let Some(certificate) = certificate else {
        return Ok(json!({ "holds": false, "text": said }));
    };
    let curves = curves(certificate::check(&read)?)?;
    let shown = sheet::of_certificate(&certificate).shown();
    Ok(json!({ "holds": true, "text": said, "shown": shown, "curves": curves }))
}

/// Pairs of ε and log₁₀ δ.
fn curves(checked: Checked) -> Result<Vec<Value>, DocumentError> {
    let Checked { claim, account, .. } = checked;
    let run = claim.run().run()?;
    let only = vec![claim.analysis, "composition"];
    let options = Options { only, exception: account.exception, ..claim.options };
    let end = account.guarantee().ok().map(|best| match account.question {
        Question::EpsilonAt(_) => best.answer.value.upper(),
        Question::DeltaAt(epsilon) => epsilon.get(),
    });
    let end = WIDER * end.filter(|end| end.is_finite() && *end > 0.0).unwrap_or(1.0);
    let mut curves = Vec::new();
    for analysed in analyses_for_curves(&run, &options) {
        let Ok(profile) = analysed.profile else { continue };
        let mut points = Vec::new();
        for place in 0..=POINTS {
            let epsilon = end * f64::from(place) / f64::from(POINTS);
            let exponent = profile.log_delta(Epsilon::new(epsilon)?).upper() * std::f64::consts::LOG10_E;
            // What lies below is not drawn.
            if exponent > -30.0 {
                points.push(json!([epsilon, exponent]));
            }
        }
        if points.len() > 1 {
            curves.push(json!({ "analysis": analysed.id, "points": points }));
        }
    }
    Ok(curves)
}
