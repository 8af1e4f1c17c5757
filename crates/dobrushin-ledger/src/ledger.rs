//! A ledger, and what can be done with it.

use crate::bucket::{Bucket, Member};
use crate::budget::Limit;
use crate::classes::Classes;
use crate::codec::{damaged, of_json};
use crate::entry::{self, Part};
use crate::roll::Group;
use crate::store::{Access, Rows, Store, TERMS, Table};
use crate::terms::VERSION;
use crate::{Budget, Choice, LedgerError, OverBudget, Release, Roll, Spend, Status, Terms};
use dobrushin::account::composed_cost;
use dobrushin::profile::RunningCost;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::str::FromStr;

/// Where a ledger is: a file, or a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file of SQLite.
    File(std::path::PathBuf),
    /// The URL of a PostgreSQL database.
    Postgres(String),
}

impl FromStr for Place {
    type Err = std::convert::Infallible;

    /// Whatever begins with `postgres://` or `postgresql://` is a database, and everything else a file.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        Ok(if is_url { Self::Postgres(text.to_owned()) } else { Self::File(text.into()) })
    }
}

/// A ledger that is open. See the [crate] for what it is.
///
/// # Guarantee
/// If every release about these people is reserved before it is made, and aborted only if nothing of it was released, then for
/// each person all releases together are (ε, δ)-private by their budget; also if each release was chosen after the earlier
/// ones were seen, unless the budget says that they were planned (see [`Budget`]). This holds for any number of programs that
/// use the ledger at the same time, and however any of them ends.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use dobrushin::profile::ApproximateProfile;
/// use dobrushin::{Delta, Epsilon, Neighbours};
/// use dobrushin_ledger::{Budget, Choice, Ledger, LedgerError, Place, Roll, Spend, Terms};
///
/// let budget = Budget::new(Epsilon::new(1.0)?, Delta::new(1e-6)?, Choice::Adaptive);
/// let path = std::env::temp_dir().join(format!("example-{}.ledger", std::process::id()));
/// let place = Place::File(path.clone());
/// let mut ledger = Ledger::create(&place, Terms::new(Neighbours::ReplaceOne, budget, 100, [7; 16]))?;
///
/// // Ada has two answers in a survey that promises ε = 0.4 for each answer, and Ben has one.
/// let survey = ApproximateProfile::new(Epsilon::new(0.4)?, Delta::new(0.0)?);
/// let survey = Spend::of_profile(&survey, "claim", "a survey".to_owned(), "ε = 0.4".into());
/// let mut people = Roll::new(&ledger.terms()?);
/// for name in ["ada", "ben", "ada"] {
///     people.add(name.as_bytes())?;
/// }
/// let reserved = ledger.reserve(&survey, &mut people, None)?;
/// // … the survey is carried out …
/// ledger.commit(reserved.id, None)?;
///
/// // A second one is too much for Ada.
/// let refused = ledger.reserve(&survey, &mut people, None);
/// assert!(matches!(refused, Err(LedgerError::OverBudget(people)) if people.first == ["ada"]));
/// assert!(ledger.person("ben")?.spent.share < 0.5);
/// # std::fs::remove_file(path)?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Ledger {
    pub(crate) store: Box<dyn Store>,
}

/// What was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reserved {
    /// The number of the release.
    pub id: u64,
    /// How many people are in it.
    pub people: u64,
    /// How many records they have.
    pub records: u64,
}

impl Ledger {
    /// Makes a ledger in which nobody has spent anything.
    ///
    /// # Errors
    /// [`LedgerError`] if there is something at this place already, or it cannot be written.
    pub fn create(place: &Place, terms: Terms) -> Result<Self, LedgerError> {
        terms.budget.allowance()?;
        let fill = &mut |rows: &mut dyn Rows| {
            rows.put_json(Table::Meta, TERMS, &terms)?;
            let nobody = Bucket::default().encode();
            (0..i64::from(terms.buckets))
                .try_for_each(|bucket| rows.put_content(Table::Bucket, (0, bucket), &nobody))
        };
        Ok(Self { store: made(place, fill)? })
    }

    /// Opens a ledger.
    ///
    /// # Errors
    /// [`LedgerError`] if there is none, or it cannot be read.
    pub fn open(place: &Place) -> Result<Self, LedgerError> {
        let mut ledger = Self { store: opened(place)? };
        let version = ledger.terms()?.version;
        if version != VERSION {
            let what =
                format!("the ledger is of version {version}, and this program knows version {VERSION}");
            return Err(LedgerError::store(what, "a newer dobrushin reads it"));
        }
        Ok(ledger)
    }

    /// What it is about.
    ///
    /// # Errors
    /// [`LedgerError`] if it cannot be read.
    pub fn terms(&mut self) -> Result<Terms, LedgerError> {
        self.read(|rows| rows.json(Table::Meta, TERMS))
    }

    /// Charges everybody on the roll what the release costs them, before it is made; `made` is the day. Nothing happens if
    /// that is more than anybody may spend.
    ///
    /// # Errors
    /// [`LedgerError::OverBudget`] with those who would spend too much; and others if something is wrong.
    pub fn reserve(
        &mut self,
        spend: &Spend,
        roll: &mut Roll,
        made: Option<String>,
    ) -> Result<Reserved, LedgerError> {
        self.write(|rows| {
            let mut terms: Terms = rows.json(Table::Meta, TERMS)?;
            let id = terms.releases + 1;
            let mut charge = Charge::new(rows, &terms, spend)?;
            let (mut people, mut added) = (0, 0);
            let mut over = OverBudget { count: 0, first: Vec::new() };
            roll.each_bucket(|number, group| {
                people += group.len() as u64;
                let (mut bucket, parts, new) = charge.bucket(rows, number, group, &mut |member, _| {
                    over.count += 1;
                    if over.first.len() < OverBudget::LISTED {
                        over.first.push(String::from_utf8_lossy(&member.name).into_owned());
                    }
                })?;
                added += new;
                if over.count == 0 {
                    put_bucket(rows, number, &mut bucket)?;
                    rows.put_content(Table::Entry, (i64::from(number), id as i64), &entry::encode(parts))?;
                }
                Ok(())
            })?;
            if over.count > 0 {
                return Err(LedgerError::OverBudget(over));
            }
            for (class, made) in charge.classes.made.iter().enumerate() {
                rows.put_content(Table::Cost, (id as i64, class as i64), &made.encode())?;
            }
            let release = Release {
                id,
                status: Status::Reserved,
                what: spend.what.clone(),
                made: made.clone(),
                people,
                records: roll.records(),
                classes: charge.classes.made.len() as u32,
                notes: Vec::new(),
                description: spend.description.clone(),
            };
            rows.put_json(Table::Release, (0, id as i64), &release)?;
            terms.releases = id;
            terms.people += added;
            rows.put_json(Table::Meta, TERMS, &terms)?;
            Ok(Reserved { id, people, records: release.records })
        })
    }

    /// Calls `each` for everybody on the roll who would spend too much, with the places of their records; nothing is changed.
    ///
    /// # Errors
    /// [`LedgerError`] if something is wrong.
    pub fn over_budget(
        &mut self,
        spend: &Spend,
        roll: &mut Roll,
        each: &mut dyn FnMut(&[u8], &[u64]),
    ) -> Result<(), LedgerError> {
        self.read(|rows| {
            let terms: Terms = rows.json(Table::Meta, TERMS)?;
            let mut charge = Charge::new(rows, &terms, spend)?;
            roll.each_bucket(|number, group| {
                charge.bucket(rows, number, group, &mut |member, places| each(&member.name, places)).map(drop)
            })
        })
    }

    /// What was reserved is about to be released: from now on it cannot be aborted, until it is known that it
    /// [stays](Self::stays).
    ///
    /// # Errors
    /// [`LedgerError::NotReserved`] if it was committed or aborted before. Then nothing may be released.
    pub fn leaves(&mut self, id: u64) -> Result<Release, LedgerError> {
        self.turn(id, &[Status::Reserved], "released", Status::Leaving)
    }

    /// What was about to be released was not, so it is only reserved again.
    ///
    /// # Errors
    /// [`LedgerError::NotReserved`] if it was committed or aborted before.
    pub fn stays(&mut self, id: u64) -> Result<Release, LedgerError> {
        self.turn(id, &[Status::Reserved, Status::Leaving], "kept", Status::Reserved)
    }

    fn turn(
        &mut self,
        id: u64,
        from: &[Status],
        wanted: &'static str,
        to: Status,
    ) -> Result<Release, LedgerError> {
        self.write(|rows| {
            let mut release = in_status(rows, id, from, wanted)?;
            release.status = to;
            rows.put_json(Table::Release, (0, id as i64), &release)?;
            Ok(release)
        })
    }

    /// What was reserved has happened.
    ///
    /// # Errors
    /// [`LedgerError::NotReserved`] if it was committed or aborted before.
    pub fn commit(&mut self, id: u64, note: Option<String>) -> Result<Release, LedgerError> {
        self.write(|rows| {
            let mut release = in_status(rows, id, &[Status::Reserved, Status::Leaving], "committed")?;
            release.status = Status::Committed;
            release.notes.extend(note.clone());
            rows.put_json(Table::Release, (0, id as i64), &release)?;
            Ok(release)
        })
    }

    /// What was reserved will never happen: nothing of it was released, and nobody pays for it.
    ///
    /// # Errors
    /// [`LedgerError::NotReserved`] if it was committed or aborted before.
    pub fn abort(&mut self, id: u64, note: Option<String>) -> Result<Release, LedgerError> {
        self.write(|rows| {
            let mut release = in_status(rows, id, &[Status::Reserved], "aborted")?;
            let terms: Terms = rows.json(Table::Meta, TERMS)?;
            let mut costs = Costs::default();
            for number in 0..terms.buckets {
                let key = (i64::from(number), id as i64);
                let Some(content) = rows.content_if_any(Table::Entry, key)? else { continue };
                let parts = entry::decode(&content).ok_or_else(|| damaged(Table::Entry, key))?;
                let mut bucket = bucket(rows, number)?;
                rows.delete(Table::Entry, key)?;
                let mut again = Vec::new();
                {
                    let mut members = bucket.by_serial();
                    for (serial, class) in parts {
                        let member = members.get_mut(&serial).ok_or_else(|| damaged(Table::Entry, key))?;
                        match member.cost.without(costs.of(rows, id, class)?) {
                            Some(left) => member.cost = left,
                            None => again.push(serial),
                        }
                    }
                }
                if !again.is_empty() {
                    let sums = sums(rows, number, &mut costs)?;
                    let mut members = bucket.by_serial();
                    for serial in again {
                        if let Some(member) = members.get_mut(&serial) {
                            member.cost = sums.get(&serial).copied().unwrap_or_default();
                        }
                    }
                }
                put_bucket(rows, number, &mut bucket)?;
            }
            release.status = Status::Aborted;
            release.notes.extend(note.clone());
            rows.put_json(Table::Release, (0, id as i64), &release)?;
            Ok(release)
        })
    }

    /// Adds a note to a release, such as a deletion from its model.
    ///
    /// # Errors
    /// [`LedgerError`] if there is no such release.
    pub fn note(&mut self, id: u64, note: String) -> Result<Release, LedgerError> {
        self.write(|rows| {
            let mut release = release(rows, id)?;
            release.notes.push(note.clone());
            rows.put_json(Table::Release, (0, id as i64), &release)?;
            Ok(release)
        })
    }

    /// A release.
    ///
    /// # Errors
    /// [`LedgerError::NoSuchRelease`].
    pub fn release(&mut self, id: u64) -> Result<Release, LedgerError> {
        self.read(|rows| release(rows, id))
    }

    /// Calls `each` for every release, from the first to the last.
    ///
    /// # Errors
    /// [`LedgerError`] if one of them is missing or damaged.
    pub fn releases(&mut self, each: &mut dyn FnMut(Release)) -> Result<(), LedgerError> {
        self.read(|rows| {
            let terms: Terms = rows.json(Table::Meta, TERMS)?;
            let mut known = 0;
            rows.each(Table::Release, 0, &mut |number, content| {
                known += 1;
                if number != known {
                    return Err(LedgerError::Damaged(format!("release {known} is missing")));
                }
                each(of_json(Table::Release, (0, number), content)?);
                Ok(())
            })?;
            if known != terms.releases as i64 {
                return Err(LedgerError::Damaged(format!("release {} is missing", known + 1)));
            }
            Ok(())
        })
    }

    /// Changes the budget of everybody who has none of their own. What was spent stays spent.
    ///
    /// # Errors
    /// [`LedgerError`] if it cannot be written.
    pub fn set_budget(&mut self, budget: Budget) -> Result<(), LedgerError> {
        budget.allowance()?;
        self.write(|rows| {
            let mut terms: Terms = rows.json(Table::Meta, TERMS)?;
            if terms.releases > 0 && budget.is_planned_after(&terms.budget) {
                return Err(too_late_to_plan("everybody"));
            }
            terms.budget = budget;
            rows.put_json(Table::Meta, TERMS, &terms)
        })
    }

    /// Gives everybody on the roll a budget of their own. People who were in no release yet are added.
    ///
    /// # Errors
    /// [`LedgerError`] if it cannot be written.
    pub fn set_budget_of(&mut self, roll: &mut Roll, budget: Budget) -> Result<u64, LedgerError> {
        budget.allowance()?;
        self.write(|rows| {
            let mut terms: Terms = rows.json(Table::Meta, TERMS)?;
            let limits = limits(rows, &terms)?;
            // Equal budgets have one number.
            let mut number = None;
            rows.each(Table::Budget, 0, &mut |known, content| {
                if of_json::<Budget>(Table::Budget, (0, known), content)? == budget {
                    number = u32::try_from(known).ok();
                }
                Ok(())
            })?;
            let number = match number {
                Some(number) => number,
                None => {
                    terms.budgets += 1;
                    rows.put_json(Table::Budget, (0, i64::from(terms.budgets)), &budget)?;
                    terms.budgets
                }
            };
            let mut people = 0;
            roll.each_bucket(|place, group| {
                people += group.len() as u64;
                let mut bucket = bucket(rows, place)?;
                let names = group.iter().map(|(name, _)| (&**name, ()));
                let mut too_late = None;
                terms.people += bucket.visit(names, |member, ()| {
                    let before = limits.get(member.budget as usize).map(|limit| limit.budget);
                    let is_late = before.is_none_or(|before| budget.is_planned_after(&before));
                    if is_late && !member.cost.is_nothing() {
                        too_late = Some(String::from_utf8_lossy(&member.name).into_owned());
                    }
                    member.budget = number;
                });
                if let Some(name) = too_late {
                    return Err(too_late_to_plan(&format!("{name:?}")));
                }
                put_bucket(rows, place, &mut bucket)
            })?;
            rows.put_json(Table::Meta, TERMS, &terms)?;
            Ok(people)
        })
    }

    /// Reads something, all of it at one moment.
    pub(crate) fn read<T>(
        &mut self,
        work: impl FnMut(&mut dyn Rows) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.within(Access::Read, work)
    }

    fn write<T>(
        &mut self,
        work: impl FnMut(&mut dyn Rows) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.within(Access::Write, work)
    }

    fn within<T>(
        &mut self,
        access: Access,
        mut work: impl FnMut(&mut dyn Rows) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut found = None;
        self.store.transaction(access, &mut |rows| {
            found = Some(work(rows)?);
            Ok(())
        })?;
        found.ok_or_else(|| LedgerError::store("the ledger did nothing", "try again"))
    }
}

#[cfg_attr(not(feature = "sqlite"), allow(unused_variables))]
fn made(place: &Place, fill: crate::store::Work) -> Result<Box<dyn Store>, LedgerError> {
    match place {
        #[cfg(feature = "sqlite")]
        Place::File(path) => Ok(Box::new(crate::store::sqlite::Sqlite::create(path, fill)?)),
        #[cfg(feature = "postgres")]
        Place::Postgres(url) => Ok(Box::new(crate::store::postgres::Postgres::create(url, fill)?)),
        #[allow(unreachable_patterns, reason = "with all features, there is nothing else")]
        other => Err(not_built(other)),
    }
}

fn opened(place: &Place) -> Result<Box<dyn Store>, LedgerError> {
    match place {
        #[cfg(feature = "sqlite")]
        Place::File(path) => Ok(Box::new(crate::store::sqlite::Sqlite::open(Path::new(path))?)),
        #[cfg(feature = "postgres")]
        Place::Postgres(url) => Ok(Box::new(crate::store::postgres::Postgres::open(url)?)),
        #[allow(unreachable_patterns, reason = "with all features, there is nothing else")]
        other => Err(not_built(other)),
    }
}

#[allow(dead_code, reason = "with all features, every place is known")]
fn not_built(place: &Place) -> LedgerError {
    match place {
        Place::File(_) => LedgerError::invalid(
            "this program was built without ledgers in files",
            "build it with the feature ledger",
        ),
        Place::Postgres(_) => LedgerError::invalid(
            "this program was built without PostgreSQL",
            "build it with the feature postgres",
        ),
    }
}

pub(crate) fn release(rows: &mut dyn Rows, id: u64) -> Result<Release, LedgerError> {
    let terms: Terms = rows.json(Table::Meta, TERMS)?;
    if id == 0 || id > terms.releases {
        return Err(LedgerError::NoSuchRelease(id));
    }
    rows.json(Table::Release, (0, id as i64))
}

fn in_status(
    rows: &mut dyn Rows,
    id: u64,
    accepted: &[Status],
    wanted: &'static str,
) -> Result<Release, LedgerError> {
    let release = release(rows, id)?;
    match accepted.contains(&release.status) {
        true => Ok(release),
        false => Err(LedgerError::NotReserved { id, status: release.status.word(), wanted }),
    }
}

pub(crate) fn bucket(rows: &mut dyn Rows, number: u32) -> Result<Bucket, LedgerError> {
    let key = (0, i64::from(number));
    Bucket::decode(&rows.content(Table::Bucket, key)?).ok_or_else(|| damaged(Table::Bucket, key))
}

fn put_bucket(rows: &mut dyn Rows, number: u32, bucket: &mut Bucket) -> Result<(), LedgerError> {
    rows.put_content(Table::Bucket, (0, i64::from(number)), &bucket.encode())
}

fn too_late_to_plan(who: &str) -> LedgerError {
    LedgerError::invalid(
        format!("the budget of {who} cannot become one for planned releases: there are releases already"),
        "releases are planned before the first of them is seen: leave --planned out, or make another ledger",
    )
}

/// The limit of each budget.
pub(crate) fn limits(rows: &mut dyn Rows, terms: &Terms) -> Result<Vec<Limit>, LedgerError> {
    let mut limits = vec![Limit::of(terms.budget)?];
    for number in 1..=terms.budgets {
        limits.push(Limit::of(rows.json(Table::Budget, (0, i64::from(number)))?)?);
    }
    Ok(limits)
}

/// The limit of a member.
pub(crate) fn limit_of<'a>(limits: &'a [Limit], member: &Member) -> Result<&'a Limit, LedgerError> {
    let missing = || LedgerError::Damaged(format!("budget {} is missing", member.budget));
    limits.get(member.budget as usize).ok_or_else(missing)
}

/// The costs of classes, read once.
#[derive(Default)]
pub(crate) struct Costs {
    known: HashMap<(u64, u32), crate::classes::Class>,
}

impl Costs {
    pub fn class(
        &mut self,
        rows: &mut dyn Rows,
        release: u64,
        class: u32,
    ) -> Result<&crate::classes::Class, LedgerError> {
        Ok(match self.known.entry((release, class)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(crate::classes::Class::read(rows, release, class)?),
        })
    }

    pub fn of(&mut self, rows: &mut dyn Rows, release: u64, class: u32) -> Result<RunningCost, LedgerError> {
        Ok(self.class(rows, release, class)?.cost)
    }
}

/// What everybody in a bucket was in: releases with their classes, by the numbers of people.
pub(crate) fn histories(rows: &mut dyn Rows, number: u32) -> Result<HashMap<u32, Vec<Part64>>, LedgerError> {
    let mut found: HashMap<u32, Vec<Part64>> = HashMap::new();
    rows.each(Table::Entry, i64::from(number), &mut |release, content| {
        let parts =
            entry::decode(content).ok_or_else(|| damaged(Table::Entry, (i64::from(number), release)))?;
        for (serial, class) in parts {
            found.entry(serial).or_default().push((release as u64, class));
        }
        Ok(())
    })?;
    Ok(found)
}

/// A release, and the class of somebody in it.
pub(crate) type Part64 = (u64, u32);

/// What everybody in a bucket has spent, added up again.
pub(crate) fn sums(
    rows: &mut dyn Rows,
    number: u32,
    costs: &mut Costs,
) -> Result<HashMap<u32, RunningCost>, LedgerError> {
    let mut sums = HashMap::new();
    for (serial, history) in histories(rows, number)? {
        let mut sum = RunningCost::default();
        for (release, class) in history {
            sum = sum.and(costs.of(rows, release, class)?);
        }
        sums.insert(serial, sum);
    }
    Ok(sums)
}

/// The share of their budget that somebody has spent. A planned budget holds more than the allowance, up to what the exact
/// composition of their history says, which is asked for only if the allowance is exceeded.
pub(crate) fn share_of(
    rows: &mut dyn Rows,
    limit: &Limit,
    cost: &RunningCost,
    history: impl FnOnce(&mut dyn Rows) -> Result<Vec<Part64>, LedgerError>,
    costs: &mut Costs,
) -> Result<f64, LedgerError> {
    let share = limit.allowance.share(cost);
    if share <= 1.0 || limit.budget.choice == Choice::Adaptive {
        return Ok(share);
    }
    let mut profiles = Vec::new();
    for (release, class) in history(rows)? {
        profiles.push(costs.class(rows, release, class)?.profile.clone());
    }
    let Ok(composed) = composed_cost(profiles.iter().map(|profile| (profile, 1))) else { return Ok(share) };
    let exact = composed.epsilon(limit.budget.delta()?).upper() / limit.budget.epsilon;
    Ok(if exact <= 1.0 { exact } else { share })
}

/// Charging people for a release.
struct Charge<'a> {
    classes: Classes<'a>,
    limits: Vec<Limit>,
    costs: Costs,
    /// Whether a history fits with a class of this release, where only the exact composition can tell; by the number of
    /// the budget.
    exact: HashMap<(u32, Vec<Part64>, u32), bool>,
}

impl<'a> Charge<'a> {
    fn new(rows: &mut dyn Rows, terms: &Terms, spend: &'a Spend) -> Result<Self, LedgerError> {
        let limits = limits(rows, terms)?;
        Ok(Self { classes: Classes::new(spend), limits, costs: Costs::default(), exact: HashMap::new() })
    }

    /// Charges some people of a bucket: the bucket afterwards, who takes part, and how many are new. `refuse` is told who
    /// would spend too much.
    fn bucket(
        &mut self,
        rows: &mut dyn Rows,
        number: u32,
        group: Group,
        refuse: &mut dyn FnMut(&Member, &[u64]),
    ) -> Result<(Bucket, Vec<Part>, u64), LedgerError> {
        let mut bucket = bucket(rows, number)?;
        let (mut parts, mut failed, mut history) = (Vec::with_capacity(group.len()), None, None);
        let names = group.iter().map(|(name, places)| (&**name, &places[..]));
        let new = bucket.visit(names, |member, places| {
            let mut charge = || {
                let class = self.classes.of(places)?;
                let cost = member.cost.and(self.classes.made[class as usize].cost);
                let limit = *limit_of(&self.limits, member)?;
                let fits = limit.fits(&cost)
                    || (limit.budget.choice == Choice::Planned && {
                        if history.is_none() {
                            history = Some(histories(rows, number)?);
                        }
                        let before = history.as_ref().and_then(|history| history.get(&member.serial));
                        self.fits_exactly(
                            rows,
                            &limit,
                            member.budget,
                            before.cloned().unwrap_or_default(),
                            class,
                        )?
                    });
                if !fits {
                    refuse(member, places);
                }
                member.cost = cost;
                parts.push((member.serial, class));
                Ok(())
            };
            if failed.is_none() {
                failed = charge().err();
            }
        });
        match failed {
            Some(error) => Err(error),
            None => Ok((bucket, parts, new)),
        }
    }

    /// Whether a history and a class of this release are together within the budget, by the exact composition.
    fn fits_exactly(
        &mut self,
        rows: &mut dyn Rows,
        limit: &Limit,
        budget: u32,
        history: Vec<Part64>,
        class: u32,
    ) -> Result<bool, LedgerError> {
        let key = (budget, history, class);
        if let Some(&known) = self.exact.get(&key) {
            return Ok(known);
        }
        for &(release, class) in &key.1 {
            self.costs.class(rows, release, class)?;
        }
        let earlier =
            key.1.iter().filter_map(|part| self.costs.known.get(part)).map(|class| (&class.profile, 1));
        let all = earlier.chain([(&self.classes.made[class as usize].profile, 1)]);
        let epsilon = composed_cost(all)
            .map(|profile| Ok::<_, LedgerError>(profile.epsilon(limit.budget.delta()?).upper()));
        let fits = epsilon.is_ok_and(|epsilon| epsilon.is_ok_and(|epsilon| epsilon <= limit.budget.epsilon));
        self.exact.insert(key, fits);
        Ok(fits)
    }
}
