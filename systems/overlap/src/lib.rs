//! Does other work while a message is under way: an LLVM plugin for MPI programs, and what drives
//! it.

pub mod calls;
pub mod compile;
pub mod driver;
pub mod examples;
mod flang;
mod fortran;
pub mod install;
pub mod linked;
pub mod llvm;
pub mod mpi;
pub mod places;
pub mod plugin;
pub mod profile;
pub mod remarks;
pub mod settings;
pub mod timeline;
pub mod trace;

pub use mpi::Mpi;
pub use settings::Settings;
