//! Code as it lies in flash memory, without an ELF file around it: Intel HEX, Motorola's S-records,
//! or raw bytes that the user says the place of.

use report::{Diagnostic, SourceFile, Span};

/// Bytes that lie together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub base: u64,
    pub bytes: Vec<u8>,
}

/// The segments of a file, by address; `None` of a file that has a format of its own, or whose place
/// nobody knows. `base` is where raw bytes lie.
///
/// Errors: a record that is damaged, with its line, or that lies where another one lies; a place for
/// a file that has one of its own.
pub fn segments(
    name: &str,
    bytes: &[u8],
    base: Option<u64>,
) -> Result<Option<Vec<Segment>>, Diagnostic> {
    let parse = match bytes {
        [b':', digit, ..] if digit.is_ascii_hexdigit() => Some(intel_record as ParseRecord),
        [b'S', digit, ..] if digit.is_ascii_digit() => Some(motorola_record as ParseRecord),
        _ => None,
    };
    let is_elf = bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"!<");
    let Some(base) = base else {
        return parse
            .map(|parse| records(name, &String::from_utf8_lossy(bytes), parse))
            .transpose();
    };
    if is_elf || parse.is_some() {
        let refused = format!("`{name}` says itself where its bytes lie");
        return Err(Diagnostic::new(refused).with_help("leave the address behind its name out"));
    }
    if base.checked_add(bytes.len() as u64).is_none() {
        return Err(Diagnostic::new(format!("`{name}` goes beyond the last address")));
    }
    Ok(Some(vec![Segment { base, bytes: bytes.to_vec() }]))
}

/// Where bytes lie, and they.
type Data = Option<(u64, Vec<u8>)>;
/// Reads a record; the number is what records before it say of the upper half of addresses.
type ParseRecord = fn(&str, &mut u64) -> Result<Data, String>;

/// The segments that the records of a text make.
fn records(name: &str, text: &str, parse: ParseRecord) -> Result<Vec<Segment>, Diagnostic> {
    let refused = |said: String, from: usize, line: &str| {
        let file = SourceFile::new(name, text.to_owned());
        Diagnostic::new(said).at(Span::new(&file, from..from + line.trim_end().len()), "here")
    };
    let (mut all, mut upper, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        let record = line.trim();
        if !record.is_empty() {
            let data = parse(record, &mut upper).map_err(|said| refused(said, at, line))?;
            all.extend(data.map(|(base, bytes)| (base, bytes, at, line)));
        }
        at += line.len();
    }
    // In their order in the file, of those that lie at one place.
    all.sort_by_key(|record| record.0);
    let mut segments: Vec<Segment> = Vec::new();
    for (base, bytes, at, line) in all {
        let end = segments.last().map(|last| last.base + last.bytes.len() as u64);
        if base.checked_add(bytes.len() as u64).is_none() {
            return Err(refused("it goes beyond the last address".into(), at, line));
        }
        match segments.last_mut() {
            Some(last) if end == Some(base) => last.bytes.extend(bytes),
            Some(_) if end > Some(base) => {
                let said = format!("its bytes lie over those of another record, at {base:#x}");
                return Err(refused(said, at, line));
            }
            _ if bytes.is_empty() => {}
            _ => segments.push(Segment { base, bytes }),
        }
    }
    Ok(segments)
}

/// `:` length, address, kind, data and checksum; `upper` is what records of kind 2 and 4 say.
fn intel_record(record: &str, upper: &mut u64) -> Result<Data, String> {
    let digits = record.strip_prefix(':').ok_or("a record of Intel HEX begins with `:`")?;
    let bytes = digits_of(digits)?;
    let [length, high, low, kind, rest @ ..] = &bytes[..] else {
        return Err("the record is cut off".into());
    };
    if rest.len() != usize::from(*length) + 1 {
        return Err(format!("it says {length} bytes, and has {}", rest.len().saturating_sub(1)));
    }
    if bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) != 0 {
        return Err("its checksum is wrong".into());
    }
    let data = &rest[..usize::from(*length)];
    let number = data.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    match kind {
        2 | 4 if *length != 2 => Err(format!("a record of kind {kind} has 2 bytes, not {length}")),
        0 => Ok(Some((*upper + (u64::from(*high) << 8 | u64::from(*low)), data.to_vec()))),
        2 => {
            *upper = number << 4;
            Ok(None)
        }
        4 => {
            *upper = number << 16;
            Ok(None)
        }
        // The end, and where the program starts.
        1 | 3 | 5 => Ok(None),
        other => Err(format!("there is no record of kind {other}")),
    }
}

/// `S`, kind, length, address, data and checksum.
fn motorola_record(record: &str, _: &mut u64) -> Result<Data, String> {
    let (kind, digits) = record.split_at_checked(2).ok_or("the record is cut off")?;
    let bytes = digits_of(digits)?;
    let [length, rest @ ..] = &bytes[..] else { return Err("the record is cut off".into()) };
    if rest.len() != usize::from(*length) {
        return Err(format!("it says {length} bytes, and has {}", rest.len()));
    }
    if bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) != 0xff {
        return Err("its checksum is wrong".into());
    }
    let n_address = match kind {
        "S1" => 2,
        "S2" => 3,
        "S3" => 4,
        // The header, counts, and where the program starts.
        "S0" | "S5" | "S6" | "S7" | "S8" | "S9" => return Ok(None),
        _ => return Err("a record begins with S0 to S3 or S5 to S9".into()),
    };
    let (address, data) = rest.split_at_checked(n_address).ok_or("the record is cut off")?;
    let data = data.split_last().ok_or("the record is cut off")?.1;
    let address = address.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    Ok(Some((address, data.to_vec())))
}

fn digits_of(text: &str) -> Result<Vec<u8>, String> {
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok().filter(|_| !pair.starts_with('+'))
    };
    pairs.map(byte).collect::<Option<Vec<u8>>>().ok_or_else(|| "it is no row of hex digits".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Segment> {
        segments("f", text.as_bytes(), None).expect("it is right").expect("it is one of the two")
    }

    fn refused(text: &str) -> String {
        segments("f", text.as_bytes(), None).expect_err("it is refused").to_string()
    }

    #[test]
    fn records_are_joined_where_they_meet() {
        // The second record lies before the first; the third far above, by a record of kind 4.
        let text = ":020000040800F2\n:020002000304F5\n:020000000102FB\n:020000040801F1\n:01000000AA55\n:00000001FF\n";
        let low = Segment { base: 0x0800_0000, bytes: vec![1, 2, 3, 4] };
        let high = Segment { base: 0x0801_0000, bytes: vec![0xaa] };
        assert_eq!(of(text), [low, high]);
    }

    #[test]
    fn s_records_of_all_three_widths() {
        let text =
            "S00600004844521B\nS1050010AABB85\nS206001200CCDD3E\nS307080000000102ED\nS9030000FC\n";
        let bases: Vec<u64> = of(text).iter().map(|segment| segment.base).collect();
        assert_eq!(bases, [0x10, 0x1200, 0x0800_0000]);
    }

    #[test]
    fn damaged_records_are_refused_with_their_line() {
        for (text, said) in [
            (":0200000001 02FC\n", "it is no row of hex digits"),
            (":020000000102FC\n", "its checksum is wrong"),
            (":030000000102FB\n", "it says 3 bytes, and has 2"),
            (":020000000102FB\n:01000100AA54\n", "lie over those of another record"),
            (":0000000AF6\n", "there is no record of kind 10"),
            (":080000020000000000000000F6\n", "a record of kind 2 has 2 bytes, not 8"),
            (":020000000102FB\nhello\n", "begins with `:`"),
            ("S1050010AABB86\n", "its checksum is wrong"),
            ("S1050010AA\n", "it says 5 bytes, and has 3"),
            ("S4030000FC\n", "begins with S0 to S3"),
        ] {
            let refusal = refused(text);
            assert!(refusal.contains(said), "{text}: {refusal}");
        }
    }

    #[test]
    fn raw_bytes_need_a_place() {
        let of = |base| segments("f", &[1, 2], base).expect("no record is damaged");
        assert_eq!(of(None), None);
        assert_eq!(of(Some(0x100)), Some(vec![Segment { base: 0x100, bytes: vec![1, 2] }]));
        for (bytes, base, said) in [
            (&b":00000001FF\n"[..], 0, "says itself where"),
            (b"\x7fELF", 0, "says itself where"),
            (&[1, 2], u64::MAX, "beyond the last address"),
        ] {
            let refusal = segments("f", bytes, Some(base)).expect_err("it is refused").to_string();
            assert!(refusal.contains(said), "{refusal}");
        }
    }
}
