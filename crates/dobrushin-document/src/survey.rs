//! Surveys as TOML: several questions to each person, under one promise of local privacy.

use crate::error::DocumentError;
use crate::section::{Keys, Section, number};
use dobrushin::{Delta, Epsilon, Positive, Probability};
use dobrushin_local::mean::Bounds;
use dobrushin_local::{Asked, LocalPrivacy};
use toml::{Table, Value};

/// What a survey file says.
///
/// ```
/// use dobrushin_document::SurveyFile;
/// let survey = SurveyFile::parse(r#"
///     epsilon = 3
///     [[question]]
///     column = "transport"
///     values = ["bus", "car"]
///     mechanism = "k-rr"
///     share = 2
///     [[question]]
///     columns = ["x", "y"]
///     radius = 1.5
///     mechanism = "priv-unit"
/// "#)?;
/// assert_eq!(survey.questions[1].columns, ["x", "y"]);
/// # Ok::<(), dobrushin_document::DocumentError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SurveyFile {
    /// The promise to everybody who answers.
    pub promise: LocalPrivacy,
    /// Who answers what.
    pub asked: Asked,
    /// The questions, in their order.
    pub questions: Vec<SurveyQuestion>,
}

/// A question of a survey file.
#[derive(Clone, Debug)]
pub struct SurveyQuestion {
    /// The column, or the columns of a vector.
    pub columns: Vec<String>,
    /// The name of the mechanism.
    pub mechanism: String,
    /// What may be answered.
    pub possible: Possible,
    /// The share of the promise, or of the people.
    pub share: u32,
    /// The probability that aue keeps the true bit.
    pub truth: Option<Probability>,
}

/// What may be answered.
#[derive(Clone, Debug)]
pub enum Possible {
    /// The numbers from 1 to this.
    Numbered(u32),
    /// These words.
    Values(Vec<String>),
    /// Numbers, in this many bins.
    Bins(Bounds, u32),
    /// Numbers.
    Bounds(Bounds),
    /// Vectors of at most this norm.
    Radius(Positive),
}

const QUESTION: &str = "[[question]] with column, mechanism, and values, categories, bounds or radius";
const SURVEY: Keys = &[
    ("epsilon", "epsilon = 3"),
    ("delta", "delta = 1e-6"),
    ("answer", "answer = \"all\""),
    ("question", QUESTION),
];
const KEYS: Keys = &[
    ("column", "column = \"transport\""),
    ("columns", "columns = [\"x\", \"y\"], for a vector"),
    ("mechanism", "mechanism = \"k-rr\""),
    ("values", "values = [\"bus\", \"car\"]"),
    ("categories", "categories = 10"),
    ("bounds", "bounds = [0, 60]"),
    ("bins", "bins = 20"),
    ("radius", "radius = 1.5"),
    ("share", "share = 2"),
    ("truth", "truth = 0.6"),
];
/// The keys that say what may be answered, exactly one of which is needed.
const POSSIBLE: [&str; 4] = ["values", "categories", "bounds", "radius"];

impl SurveyFile {
    /// Reads a TOML file.
    ///
    /// # Errors
    /// [`DocumentError`] names the key and what is accepted.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        // Some editors start UTF-8 files with a byte-order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            DocumentError::new(format!("the survey is not TOML: {error}")).help("epsilon = 3")
        })?;
        let whole = Section::table(&table, String::new(), SURVEY);
        whole.allow_its_keys("a survey")?;
        let epsilon = Epsilon::new(whole.needed_number("epsilon")?)
            .map_err(|_| whole.refuse("epsilon", "a number, 0 or more"))?;
        let delta = Delta::new(whole.number("delta")?.unwrap_or(0.0))
            .map_err(|_| whole.refuse("delta", "a number from 0 to 1"))?;
        let asked =
            whole.choice("answer", &[("all", Asked::All), ("one", Asked::One)])?.unwrap_or(Asked::All);
        let Some(Value::Array(entries)) = table.get("question") else {
            return Err(whole.refuse("question", "a list of questions"));
        };
        let questions =
            entries.iter().enumerate().map(|(index, entry)| match entry {
                Value::Table(table) => question(&Section::entry(table, "question", index + 1, KEYS)),
                _ => Err(DocumentError::new(format!("question {} is not a table of keys", index + 1))
                    .help(QUESTION)),
            });
        let questions = questions.collect::<Result<Vec<_>, _>>()?;
        Ok(Self { promise: LocalPrivacy { epsilon, delta }, asked, questions })
    }
}

fn question(section: &Section) -> Result<SurveyQuestion, DocumentError> {
    section.allow_its_keys("a question")?;
    let columns = match (section.value("column"), section.texts("columns")?) {
        (Some(Value::String(column)), None) => vec![column.clone()],
        (None, Some(columns)) if !columns.is_empty() => columns,
        (None, Some(_)) => return Err(section.refuse("columns", "the names of one or more columns")),
        (Some(_), None) => return Err(section.refuse("column", "the name of a column")),
        (None, None) => return Err(section.missing("column")),
        (Some(_), Some(_)) => {
            let message = format!("{} is given with columns", section.dotted("column"));
            return Err(DocumentError::new(message).help("leave out one of the two"));
        }
    };
    let Some(Value::String(mechanism)) = section.value("mechanism") else {
        return Err(
            section.refuse("mechanism", "the name of a mechanism; dobrushin local plan says which is best")
        );
    };
    let possible = possible(section)?;
    if columns.len() > 1 && !matches!(possible, Possible::Radius(_)) {
        let message =
            format!("{} names several columns, which is for a vector with radius", section.dotted("columns"));
        return Err(DocumentError::new(message).help("ask a question of its own about each column"));
    }
    let count = |key: &str| -> Result<Option<u32>, DocumentError> {
        let whole = section.whole(key)?.map(u32::try_from);
        whole.transpose().map_err(|_| section.refuse(key, "a whole number below 2^32"))
    };
    let (share, truth) = (count("share")?.unwrap_or(1), section.probability("truth")?);
    Ok(SurveyQuestion { columns, mechanism: mechanism.clone(), possible, share, truth })
}

fn possible(section: &Section) -> Result<Possible, DocumentError> {
    let given: Vec<&str> = POSSIBLE.into_iter().filter(|key| section.value(key).is_some()).collect();
    let [given] = given[..] else {
        let message = match given.first() {
            None => format!("{} is missing: what may be answered is not declared", section.dotted("values")),
            Some(key) => format!("{} is given with {}", section.dotted(key), given[1..].join(" and ")),
        };
        return Err(DocumentError::new(message).help(
            "one of values = [\"a\", \"b\"], categories = 10, bounds = [0, 60] or radius = 1.5, not read off the data",
        ));
    };
    let small = |key: &str, count: u64| {
        u32::try_from(count).map_err(|_| section.refuse(key, "a whole number below 2^32"))
    };
    let bins = section.whole("bins")?.map(|count| small("bins", count)).transpose()?;
    if bins.is_some() && given != "bounds" {
        let message = format!("{} is given without bounds", section.dotted("bins"));
        return Err(DocumentError::new(message).help("bounds = [0, 60] says which numbers the bins divide"));
    }
    Ok(match given {
        "values" => Possible::Values(section.texts("values")?.unwrap_or_default()),
        "categories" => match section.whole("categories")? {
            Some(count) => Possible::Numbered(small("categories", count)?),
            None => return Err(section.missing("categories")),
        },
        "bounds" => {
            let ends = section.value("bounds").and_then(Value::as_array).map(Vec::as_slice);
            let ends = match ends {
                Some([low, high]) => number(low).zip(number(high)),
                _ => None,
            };
            let (low, high) = ends.ok_or_else(|| section.refuse("bounds", "two numbers"))?;
            let bounds = Bounds::new(low, high)
                .map_err(|error| DocumentError::new(format!("{}: {error}", section.dotted("bounds"))))?;
            match bins {
                Some(count) => Possible::Bins(bounds, count),
                None => Possible::Bounds(bounds),
            }
        }
        _ => Possible::Radius(section.positive("radius")?.ok_or_else(|| section.missing("radius"))?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let error = SurveyFile::parse(text).expect_err("it is wrong");
        format!("{error} / {}", error.help.clone().unwrap_or_default())
    }

    #[test]
    fn a_survey_names_what_is_wrong_with_it() {
        let question = "[[question]]\ncolumn = \"a\"\nmechanism = \"k-rr\"\n";
        let with = |more: &str| format!("epsilon = 1\n{question}{more}");
        for (text, word) in [
            ("", "epsilon is missing"),
            ("epsilon = -1", "epsilon is -1, but it must be a number, 0 or more"),
            ("epsilon = nan", "epsilon is nan"),
            ("epsilon = 1", "question is missing"),
            ("epsilon = 1\ndelta = 2\n", "delta is 2, but it must be a number from 0 to 1"),
            ("epsilon = 1\nanswer = \"some\"\n", "one of \"all\", \"one\""),
            ("epsilon = 1\nquestion = [1]\n", "question 1 is not a table"),
            ("epsilon = 1\nquestions = 1\n", "did you mean question?"),
            ("epsilon = [", "the survey is not TOML"),
            (&with(""), "question 1.values is missing"),
            (&with("values = [\"x\", \"y\"]\nbounds = [0, 1]"), "question 1.values is given with bounds"),
            (&with("bounds = [1, 0]"), "question 1.bounds: the upper bound is 0"),
            (&with("bounds = [0]"), "question 1.bounds is a list, but it must be two numbers"),
            (&with("bounds = [0, nan]"), "the upper bound is NaN"),
            (&with("values = [\"x\"]\nbins = 3"), "question 1.bins is given without bounds"),
            (&with("radius = 0"), "question 1.radius is 0, but it must be a number above 0"),
            (
                &with("categories = 5e9"),
                "question 1.categories is 5000000000.0, but it must be a whole number below 2^32",
            ),
            (
                &with("values = [\"x\", \"y\"]\nshare = 0"),
                "question 1.share is 0, but it must be a whole number, 1 or more",
            ),
            (&with("values = [\"x\", \"x\"]"), "question 1.values lists \"x\" twice"),
            (&with("values = [\"x\", \"y\"]\ncolumns = [\"b\"]"), "question 1.column is given with columns"),
            (
                "epsilon = 1\n[[question]]\nmechanism = \"k-rr\"\ncategories = 3",
                "question 1.column is missing",
            ),
            ("epsilon = 1\n[[question]]\ncolumn = \"a\"\ncategories = 3", "question 1.mechanism is missing"),
            (
                "epsilon = 1\n[[question]]\ncolumns = [\"a\", \"b\"]\nmechanism = \"k-rr\"\ncategories = 3",
                "names several columns",
            ),
        ] {
            let message = refused(text);
            assert!(message.contains(word), "{text}\n{message}");
        }
    }
}
