//! The one error type users see.
//!
//! Only the parser and the checker of user input make errors; everything behind them either
//! succeeds or has a bug of ours (and panics, see `pipeline`).

use std::fmt;

/// One fault of an input file, at a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file's name as the caller gave it, `-` for standard input.
    pub file: String,
    /// Line, from 1. 0 where the fault has no place (an unreadable file).
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// What is wrong, without a full stop.
    pub message: String,
    /// The text of the line, for the caret a terminal gets. Empty where there is none.
    pub source_line: String,
}

impl fmt::Display for Error {
    /// Writes `file:line:column: error: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return write!(f, "{}: error: {}", self.file, self.message);
        }
        write!(f, "{}:{}:{}: error: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for Error {}
