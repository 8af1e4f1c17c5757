//! `dobrushin figures`: every figure of the papers, recomputed, and our own.

use crate::figures::{ALL, Recipe, claims, gallery};
use crate::file;
use crate::output::Report;
use crate::plot::Drawing;
use crate::problem::Problem;
use crate::watch::Watch;
use clap::Args;
use dobrushin_document::text::{Text, table};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub struct FiguresArgs {
    /// The folder for the pictures (SVG, PNG), their points (CSV) and a page that shows them; it is created if it does
    /// not exist
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Draw only these figures, separated by commas
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = figure)]
    pub only: Vec<&'static str>,
}

fn figure(text: &str) -> Result<&'static str, String> {
    let text = text.trim();
    let known = || ALL.iter().map(|recipe| recipe.id);
    known().find(|id| *id == text).ok_or_else(|| {
        let all: Vec<&str> = known().collect();
        format!("there is no figure {text:?}; one of: {}", all.join(", "))
    })
}

/// Draws the figures into a folder.
pub fn run(arguments: &FiguresArgs, show_progress: bool) -> Result<Report, Problem> {
    let folder = &arguments.out;
    let recipes = recipes(arguments);
    std::fs::create_dir_all(folder).map_err(|error| {
        Problem::new(format!("cannot make the folder {}", folder.display()))
            .because(error)
            .help("--out names a folder, which is created if it does not exist")
    })?;
    let watch = Watch::new(show_progress, recipes.len() as u64, "figures");
    let draw = |recipe: &&'static Recipe| {
        let all = (recipe.plot)()?;
        let points = all.points().text();
        let drawn = match (recipe.floor, all) {
            (Some(floor), Drawing::Curves(plot)) => plot.above(floor).into(),
            (_, all) => all,
        };
        write(folder, recipe.id, &drawn, points.as_bytes())?;
        watch.progress().advance(1);
        Ok((*recipe, drawn))
    };
    let figures = recipes.par_iter().map(draw).collect::<Result<Vec<(&Recipe, Drawing)>, Problem>>()?;
    drop(watch);
    let watch = Watch::new(show_progress, 0, "printed numbers");
    let claims = claims()?;
    drop(watch);
    store(&folder.join(PAGE), gallery(&figures, &claims).as_bytes())?;

    let mut text = Text::default();
    let page = folder.join(PAGE);
    text.answer(format!("{} figures, as SVG, PNG and CSV; {} shows them", figures.len(), page.display()));
    let longest = recipes.iter().map(|recipe| recipe.id.len()).max().unwrap_or(0);
    let lines = recipes.iter().map(|Recipe { id, about, .. }| format!("{id:longest$}  {about}"));
    text.explanation(lines.collect::<Vec<_>>().join("\n"));
    let rows = claims.iter().map(|claim| {
        let erratum = claim.erratum.unwrap_or("").to_owned();
        [claim.what.to_owned(), claim.printed.to_owned(), claim.shown(), erratum]
    });
    text.explanation(table(["what the papers print", "printed", "is", "erratum"], rows));
    let figure = |(recipe, plot): &(&Recipe, Drawing)| {
        let files: Vec<String> = ENDINGS.iter().map(|end| format!("{}.{end}", recipe.id)).collect();
        json!({ "id": recipe.id, "title": plot.title(), "about": recipe.about, "files": files, "caption": plot.caption() })
    };
    let claim = |claim: &crate::figures::Claim| {
        json!({
            "what": claim.what,
            "printed": claim.printed,
            "value": crate::output::bounds(claim.value),
            "erratum": claim.erratum,
        })
    };
    let json = json!({
        "folder": folder.display().to_string(),
        "figures": figures.iter().map(figure).collect::<Vec<Value>>(),
        "claims": claims.iter().map(claim).collect::<Vec<Value>>(),
    });
    Ok(Report::new(text, json))
}

/// The formats of a figure.
const ENDINGS: [&str; 3] = ["svg", "png", "csv"];
/// The page that shows all figures.
const PAGE: &str = "index.html";

/// The figures that are asked for.
fn recipes(arguments: &FiguresArgs) -> Vec<&'static Recipe> {
    let asked = |recipe: &&Recipe| arguments.only.is_empty() || arguments.only.contains(&recipe.id);
    ALL.iter().filter(asked).collect()
}

/// Every file that will be written.
pub fn written(arguments: &FiguresArgs) -> Vec<PathBuf> {
    let names =
        recipes(arguments).into_iter().flat_map(|recipe| ENDINGS.map(|end| format!("{}.{end}", recipe.id)));
    names.chain([PAGE.to_owned()]).map(|name| arguments.out.join(name)).collect()
}

fn write(folder: &Path, id: &str, plot: &Drawing, points: &[u8]) -> Result<(), Problem> {
    let path = |end: &str| folder.join(format!("{id}.{end}"));
    plot.write(&path("svg"))?;
    plot.write(&path("png"))?;
    store(&path("csv"), points)
}

fn store(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    file::replace(path, bytes).map_err(|error| Problem::cannot_write(path, error))
}
