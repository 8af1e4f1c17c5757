//! What the first bytes of a file say it is: text, compressed text that is read directly, or something else.

use crate::input::shown;
use crate::problem::Problem;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is read as text.
pub struct OpenedText {
    /// The text, without the byte-order mark that spreadsheets write.
    pub text: BufReader<Box<dyn Read + Send>>,
    /// The length of the file, if it has one.
    pub bytes: Option<u64>,
    /// How many bytes of the file have been read.
    pub read: Arc<AtomicU64>,
}

/// How many bytes are read at once.
const BUFFER: usize = 1 << 18;

/// Opens a file, or standard input ("-"), decompresses it if it is compressed with gzip, and refuses what is no text.
///
/// Only the first few bytes are looked at. If there is no header, they belong to somebody's row, and that row must not
/// decide how the others are read: then only the name of the file tells.
pub fn open(path: &Path, has_header: bool) -> Result<OpenedText, Problem> {
    let cannot_read = |error| Problem::new(format!("cannot read {}", shown(path))).because(error);
    let (source, bytes): (Box<dyn Read + Send>, Option<u64>) = if path == Path::new("-") {
        (Box::new(io::stdin()), None)
    } else {
        let file = File::open(path).map_err(cannot_read)?;
        let regular = file.metadata().ok().filter(std::fs::Metadata::is_file);
        (Box::new(file), regular.map(|metadata| metadata.len()))
    };
    let read = Arc::new(AtomicU64::new(0));
    let metered = Metered { source, read: Arc::clone(&read) };
    let mut source = BufReader::with_capacity(BUFFER, metered);
    let first = source.fill_buf().map_err(cannot_read)?;
    let is_named_gzip = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let is_gzip = first.starts_with(GZIP) && (has_header || is_named_gzip);
    if is_gzip {
        let mut text = boxed(MultiGzDecoder::new(source));
        check(text.fill_buf().map_err(cannot_read)?, path)?;
        skip_mark(&mut text).map_err(cannot_read)?;
        return Ok(OpenedText { text, bytes, read });
    }
    if has_header {
        check(first, path)?;
        skip_mark(&mut source).map_err(cannot_read)?;
    }
    Ok(OpenedText { text: boxed(source), bytes, read })
}

fn boxed(source: impl Read + Send + 'static) -> BufReader<Box<dyn Read + Send>> {
    BufReader::with_capacity(BUFFER, Box::new(source))
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// The first bytes of files that are no text, what such a file is, and what to do about it.
const OTHERS: [(&[u8], &str, &str); 8] = [
    (b"PK\x03\x04", "a ZIP archive, or a workbook of a spreadsheet", "unzip it, or save the sheet as CSV"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "decompress it: zstd -d"),
    (b"\xfd7zXZ\x00", "compressed with xz", "decompress it: unxz"),
    (b"BZh91AY&SY", "compressed with bzip2", "decompress it: bunzip2"),
    (b"PAR1\x15", "a Parquet file", "give it a name that ends in .parquet"),
    (b"\xff\xfe", "text in UTF-16", "save it as UTF-8: iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it as UTF-8: iconv -f UTF-16 -t UTF-8"),
    (GZIP, "compressed with gzip twice", "decompress it: gunzip"),
];

fn check(first: &[u8], path: &Path) -> Result<(), Problem> {
    match OTHERS.iter().find(|(magic, ..)| first.starts_with(magic)) {
        None => Ok(()),
        Some((_, what, help)) => {
            let message = format!("{} is not a CSV file: it is {what}", shown(path));
            Err(Problem::new(message).help(*help))
        }
    }
}

/// Skips the mark with which spreadsheets begin files in UTF-8.
fn skip_mark(source: &mut impl BufRead) -> io::Result<()> {
    if source.fill_buf()?.starts_with(MARK) {
        source.consume(MARK.len());
    }
    Ok(())
}

/// Counts what is read.
struct Metered {
    source: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
