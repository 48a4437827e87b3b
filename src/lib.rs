//! A compiler backend for QBE's intermediate language, as a library.

#![deny(unsafe_code)]

pub mod error;
pub mod index;
pub mod ir;
pub mod parse;

pub mod interp;

pub mod analysis;

pub mod target;

pub mod opt;

pub mod out;
