//! Kernels and joint tables, in words.

use super::{Style, Text, aligned, heading, table};
use crate::json::Bounds;
use crate::report::{CompositionReport, EtaReport, JointReport, KernelReport, PassageReport, ProductReport};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// How much a kernel makes its inputs alike.
pub fn kernel(report: &KernelReport, style: Style) -> Text {
    let mut text = Text::default();
    let whose = |pair: Option<(usize, usize)>, value: Bounds| inputs(report, pair, value.0);
    let row = |eta: &EtaReport| {
        let Bounds(value) = eta.value;
        [eta.level.name(), style.upper(value), number::width(value), whose(eta.pair, eta.value)]
    };
    let profile = table(["epsilon", "eta = delta at most", "width", "inputs"], report.eta.iter().map(row));
    text.answer(heading(&report.title).then_apart(profile));
    let rows = report
        .epsilon_at_delta
        .iter()
        .map(|at| [number::plain(at.delta), style.upper(at.epsilon.0), number::width(at.epsilon.0)]);
    text.answer(table(["delta", "locally private at epsilon", "width"], rows));
    let row = |name: &str, Bounds(value): Bounds, by: String| {
        [name.to_owned(), style.upper(value), number::width(value), by]
    };
    let pair = report.tv_maximiser.as_ref().map(|at| at.pair);
    let weighted = match &report.chi2_maximiser {
        Some(at) => {
            let weight = at.weight.unwrap_or(0.5);
            format!("{} (weight {weight:.4})", whose(Some(at.pair), report.chi2))
        }
        None => whose(None, report.chi2),
    };
    let rows = [
        row("total variation (Dobrushin)", report.tv, whose(pair, report.tv)),
        row("χ², KL, squared Hellinger", report.chi2, weighted),
    ];
    text.answer(table(["contraction of", "at most", "width", "inputs"], rows));
    tight(&mut text, report, style);
    if let Some(bends) = &report.curve {
        let rows = bends.iter().map(|bend| {
            let pair = inputs(report, Some(bend.pair), bend.value.0);
            [style.nearest(bend.gamma), style.nearest(bend.epsilon), style.upper(bend.value.0), pair]
        });
        text.answer(table(["bend at gamma", "epsilon", "eta at most", "inputs below it"], rows));
    }
    if !report.divergences.is_empty() {
        passages(&mut text, &report.divergences, style);
    }
    if let Some(composed) = &report.composition {
        composition(&mut text, composed, style);
    }
    if let Some(parts) = &report.product {
        product(&mut text, parts, style);
    }
    let more = if report.noise.is_some() { "gaussian-kernel, laplace-kernel, " } else { "" };
    text.explanation(format!(
        "eta is the contraction coefficient of E_γ with γ = e^epsilon, and the channel is (epsilon, eta)-locally \
         private. Every f-divergence with f″(1) > 0 contracts at least as χ² and at most as total variation says.\n\
         Printed bounds are rounded up; \"width\" is how much smaller the true value can be, relatively.\n\
         See: dobrushin explain contraction-coefficient, {more}chi2-contraction, tight-curve",
    ));
    text
}

/// The inputs that attain a coefficient; nothing where all pairs are alike, or where they are not known.
fn inputs(report: &KernelReport, pair: Option<(usize, usize)>, value: Enclosure) -> String {
    match pair {
        _ if value.upper() == 0.0 => "–".to_owned(),
        Some((x, y)) => format!("{x}, {y}"),
        None if report.noise.is_some() => "the ends".to_owned(),
        None => "–".to_owned(),
    }
}

fn tight(text: &mut Text, report: &KernelReport, style: Style) {
    if report.eta.iter().all(|eta| eta.tight.is_empty()) {
        return;
    }
    let rows = report.eta.iter().flat_map(|eta| {
        eta.tight.iter().map(move |tight| {
            let linear = eta.value.0 * Enclosure::from(tight.before);
            let before = number::plain(tight.before);
            [eta.level.name(), before, style.upper(tight.after.0), style.upper(linear)]
        })
    });
    text.answer(table(["epsilon", "E_γ before", "after: tight", "after: eta·E_γ"], rows));
}

/// What is left of divergences of two laws, and what each theorem says about it.
fn passages(text: &mut Text, passages: &[PassageReport], style: Style) {
    let exact = passages.iter().any(|passage| passage.after.is_some());
    let upper = |value: Option<Bounds>| value.map_or("–".to_owned(), |value| style.upper(value.0));
    let after = exact.then(|| "after, exactly".to_owned());
    let header = ["divergence", "before"].map(str::to_owned).into_iter().chain(after);
    let theorems = ["tight curve", "Corollary 1", "eta_f·D_f", "eta_TV·D_f", "smallest"].map(str::to_owned);
    let rows = passages.iter().map(|passage| {
        let known = [passage.f.clone(), style.upper(passage.before.0)].into_iter();
        let known = known.chain(exact.then(|| upper(passage.after)));
        let bounds = &passage.bounds;
        let said = [bounds.tight, bounds.corollary_1, bounds.eta_f, bounds.eta_tv].map(upper);
        let smallest = match passage.smallest {
            Some("tight") => "tight curve",
            Some("corollary_1") => "Corollary 1",
            Some("eta_f") => "eta_f·D_f",
            _ => "eta_TV·D_f",
        };
        known.chain(said).chain([smallest.to_owned()]).collect()
    });
    text.answer(aligned(header.chain(theorems).collect(), rows));
    text.explanation(
        "These are divergences of two laws of the input, and bounds on what is left of them at the output: by the tight \
         curve, by Corollary 1 of Asoodeh, Diaz and Calmon, by the divergence's own coefficient where it is known, \
         and by Dobrushin's. The first two know the laws only by their E_γ, and the channel by its eta.\n\
         See: dobrushin explain output-bound, tight-output-bound, chi2-contraction",
    );
}

fn composition(text: &mut Text, composition: &CompositionReport, style: Style) {
    let rows = composition
        .eta
        .iter()
        .map(|eta| [eta.level.name(), style.upper(eta.tight.0), style.upper(eta.published.0)]);
    let title =
        format!("What the coefficients of the {} channels in sequence would say", composition.channels);
    let levels = table(["epsilon", "eta, tight curves", "eta, multiplied"], rows);
    let rows = [
        ["total variation".to_owned(), style.upper(composition.tv.0)],
        ["χ², KL, squared Hellinger".to_owned(), style.upper(composition.chi2.0)],
    ];
    let contractions = table(["contraction of", "multiplied"], rows);
    text.answer(heading(&title).then_apart(levels).then_apart(contractions));
}

fn product(text: &mut Text, product: &ProductReport, style: Style) {
    let row = |eta: &crate::report::ProductEta| {
        [eta.level.name(), style.upper(eta.value.0), style.upper(eta.tv_published.0)]
    };
    let title = format!("What the coefficients of the {} channels side by side say", product.channels);
    let header = ["epsilon", "eta", "total variation, by eta as published"];
    let levels = table(header, product.eta.iter().map(row));
    let rows = [
        ["total variation".to_owned(), style.upper(product.tv.0)],
        ["total variation, as published".to_owned(), style.upper(product.tv_published.0)],
        ["χ², KL, squared Hellinger".to_owned(), style.upper(product.chi2.0)],
    ];
    let contractions = table(["contraction of", "at most"], rows);
    text.answer(heading(&title).then_apart(levels).then_apart(contractions));
    text.explanation(match product.formed {
        true => {
            "The coefficients further up are those of the channel of all of them, and exact. See: dobrushin explain product-kernel"
        }
        false => {
            "The channel of all of them is too large to compare its inputs: a product is formed if inputs² × outputs is at \
             most 2^28. So the coefficients further up are bounds: from below the largest of a part, and from above those \
             of the worst pairs of laws of the parts side by side. See: dobrushin explain product-kernel"
        }
    });
}

/// What a joint table tells.
pub fn joint(report: &JointReport, style: Style) -> Text {
    let mut text = Text::default();
    let row = |name: String, Bounds(value): Bounds| [name, style.upper(value), number::width(value)];
    let rows = report.information.iter().map(|at| row(at.level.name(), at.value));
    let title = format!("Joint table with {} rows and {} columns", report.rows, report.columns);
    text.answer(heading(&title).then_apart(table(["epsilon", "I_γ at most", "width"], rows)));
    let information = &report.mutual_information;
    let rows = [row("nats".to_owned(), information.nats), row("bits".to_owned(), information.bits)];
    text.answer(table(["mutual information in", "at most", "width"], rows));
    text.explanation(
        "I_γ is E_γ of the joint law from the product of its marginals, with γ = e^epsilon; at epsilon = 0 it is their \
         total variation. If the column is sent through a channel, what remains of I_γ is at most eta times it, and of the \
         mutual information at most the channel's coefficient of KL times it.\n\
         Printed bounds are rounded up; \"width\" is how much smaller the true value can be, relatively.\n\
         See: dobrushin explain contraction-coefficient, chi2-contraction",
    );
    text
}
