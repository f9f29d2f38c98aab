//! Processors shared out equally among the programs that ask.

/// Equal shares of `n` for the programs that ask, in their order: none gets more than it asks for,
/// nothing is left while one wants more; what does not divide goes to the first.
pub(in crate::policies) fn shares(asked: &[usize], n: usize) -> Vec<usize> {
    let mut got = vec![0; asked.len()];
    let mut left = n;
    loop {
        let mut open: Vec<usize> = (0..asked.len()).filter(|&idx| got[idx] < asked[idx]).collect();
        open.truncate(left);
        if open.is_empty() {
            return got;
        }
        let each = left / open.len();
        for it in open {
            let more = each.min(asked[it] - got[it]);
            got[it] += more;
            left -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_does_not_want_is_shared_again() {
        assert_eq!(shares(&[1, 4, 4], 4), [1, 2, 1]);
        assert_eq!(shares(&[3, 3], 4), [2, 2]);
        assert_eq!(shares(&[1, 1], 4), [1, 1]);
        assert_eq!(shares(&[2, 2, 2, 2, 2], 4), [1, 1, 1, 1, 0]);
        assert_eq!(shares(&[8, 1], 8), [7, 1]);
    }
}
