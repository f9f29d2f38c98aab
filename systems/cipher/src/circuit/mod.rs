//! Boolean circuits for lookup tables: the type, the library of known ones, the synthesiser.
