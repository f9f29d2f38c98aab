//! Repetition, paired interleaved runs, medians, intervals and noise warnings.
