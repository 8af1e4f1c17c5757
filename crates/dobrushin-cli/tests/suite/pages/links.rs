//! Links of pages, and the places in pages that they can lead to.

use super::Page;
use std::path::Path;

/// The links of a page that lead to nothing, and how many lead to files or places.
pub fn check(root: &Path, page: &Page) -> (Vec<String>, usize) {
    let links = targets(&page.prose);
    let local: Vec<&String> = links.iter().filter(|link| !is_elsewhere(link)).collect();
    let broken = local.iter().filter_map(|link| problem(root, page, link));
    (broken.map(|why| format!("{}: {why}", page.name)).collect(), local.len())
}

fn is_elsewhere(link: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
}

/// What [text](target), ![text](target) and `[text]: target` lead to.
fn targets(prose: &[String]) -> Vec<String> {
    let text = prose.join("\n");
    let inline = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next());
    let below = prose.iter().filter_map(|line| {
        let (name, target) = line.split_once("]: ")?;
        name.starts_with('[').then(|| target.trim())
    });
    inline.chain(below).map(str::to_owned).collect()
}

fn problem(root: &Path, page: &Page, link: &str) -> Option<String> {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let folder = Path::new(&page.name).parent().expect("a page is a file");
    let path = if file.is_empty() { Path::new(&page.name).to_owned() } else { folder.join(file) };
    if !root.join(&path).exists() {
        return Some(format!("{link} leads to no file"));
    }
    let anchor = anchor.filter(|_| path.extension().is_some_and(|extension| extension == "md"))?;
    let name = path.to_str().expect("links are UTF-8");
    let known = places(&Page::read(root, name));
    (!known.iter().any(|place| place == anchor)).then(|| format!("{link} leads to none of {known:?}"))
}

/// The anchors of a page: its headings as GitHub names them, and `<a id="…">`.
pub fn places(page: &Page) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for heading in page.prose.iter().filter(|line| line.starts_with('#')) {
        let slug = slug(heading.trim_start_matches('#').trim());
        let again = (1..).map(|number| format!("{slug}-{number}"));
        let free = std::iter::once(slug.clone()).chain(again).find(|name| !places.contains(name));
        places.extend(free);
    }
    let text = page.prose.join("\n");
    let ids = text.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    places.extend(ids.map(str::to_owned));
    places
}

/// Letters in lower case, digits, hyphens and underscores; spaces are hyphens, and everything else is left out.
fn slug(heading: &str) -> String {
    let mut text = heading.to_owned();
    // Of tags nothing stays, of links their text.
    while let (Some(begin), Some(end)) = (text.find('<'), text.find('>')) {
        text.replace_range(begin..=end.max(begin), "");
    }
    while let Some(middle) = text.find("](") {
        let end = text[middle..].find(')').map_or(text.len() - 1, |end| middle + end);
        text.replace_range(middle..=end, "");
    }
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    text.to_lowercase().chars().filter(kept).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
