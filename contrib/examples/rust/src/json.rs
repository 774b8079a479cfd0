//! JSON values and their text: as much as a plugin needs.

use std::fmt;

const MAX_DEPTH: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// A number as it was written, so that one of any size comes back unchanged.
    Number(String),
    String(String),
    Array(Vec<Value>),
    /// The members in the order in which they were written.
    Object(Vec<(String, Value)>),
}

impl Value {
    pub fn string(text: impl Into<String>) -> Value {
        Value::String(text.into())
    }

    pub fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
        let owned = members.map(|(key, value)| (key.to_string(), value));
        Value::Object(owned.into_iter().collect())
    }

    /// The member of an object; `None` where it is missing or this is no object. Of members
    /// with the same name the last one counts.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Object(members) => {
                let found = members.iter().rev().find(|(key, _)| key == name);
                found.map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn is_object(&self) -> bool {
        matches!(self, Value::Object(_))
    }
}

/// Writes compact JSON, on one line.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Null => out.write_str("null"),
            Value::Bool(flag) => write!(out, "{}", flag),
            Value::Number(digits) => out.write_str(digits),
            Value::String(text) => write_string(text, out),
            Value::Array(items) => {
                out.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(out, "{}{}", if index > 0 { "," } else { "" }, item)?;
                }
                out.write_str("]")
            }
            Value::Object(members) => {
                out.write_str("{")?;
                for (index, (key, value)) in members.iter().enumerate() {
                    out.write_str(if index > 0 { "," } else { "" })?;
                    write_string(key, out)?;
                    write!(out, ":{}", value)?;
                }
                out.write_str("}")
            }
        }
    }
}

fn write_string(text: &str, out: &mut fmt::Formatter) -> fmt::Result {
    out.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            control if control < ' ' => write!(out, "\\u{:04x}", control as u32)?,
            other => write!(out, "{}", other)?,
        }
    }
    out.write_str("\"")
}

/// Reads one JSON value; `None` if the text is anything else.
pub fn parse(text: &str) -> Option<Value> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    match reader.peek() {
        None => Some(value),
        Some(_) => None,
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    /// The next byte that is not blank, without passing it.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Passes the next byte that is not blank.
    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut members = Vec::new();
        self.take();
        if self.peek()? == b'}' {
            self.take();
            return Some(Value::Object(members));
        }
        loop {
            if self.peek()? != b'"' {
                return None;
            }
            let key = self.string()?;
            if self.take()? != b':' {
                return None;
            }
            members.push((key, self.value(depth + 1)?));
            match self.take()? {
                b',' => continue,
                b'}' => return Some(Value::Object(members)),
                _ => return None,
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.take();
        if self.peek()? == b']' {
            self.take();
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            match self.take()? {
                b',' => continue,
                b']' => return Some(Value::Array(items)),
                _ => return None,
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let mut out = String::new();
        self.at += 1; // the opening quote
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c| c == '"' || c == '\\' || c < ' ')?;
            out.push_str(&rest[..plain]);
            self.at += plain + 1;
            match rest.as_bytes()[plain] {
                b'"' => return Some(out),
                b'\\' => out.push(self.escape()?),
                _ => return None, // a control character has to be escaped
            }
        }
    }

    /// What an escape stands for, from the character after the backslash on.
    fn escape(&mut self) -> Option<char> {
        let letter = *self.text.as_bytes().get(self.at)?;
        self.at += 1;
        Some(match letter {
            b'"' | b'\\' | b'/' => letter as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.unicode()?,
            _ => return None,
        })
    }

    fn unicode(&mut self) -> Option<char> {
        let mut code = hex(self.text, self.at)?;
        self.at += 4;
        if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with("\\u") {
            let low = hex(self.text, self.at + 2)?;
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                self.at += 6;
            }
        }
        // Half of a surrogate pair is no character.
        Some(char::from_u32(code).unwrap_or('\u{fffd}'))
    }

    fn word(&mut self) -> Option<Value> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| " \t\r\n,]}".contains(c));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        match word {
            "null" => Some(Value::Null),
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ if is_number(word) => Some(Value::Number(word.to_string())),
            _ => None,
        }
    }
}

fn hex(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 4)?;
    if digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        u32::from_str_radix(digits, 16).ok()
    } else {
        None // from_str_radix alone would take a sign
    }
}

fn is_number(word: &str) -> bool {
    let (mantissa, exponent) = match word.find(['e', 'E']) {
        Some(at) => (&word[..at], Some(&word[at + 1..])),
        None => (word, None),
    };
    let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.map_or(true, is_digits)
        && exponent.map_or(true, |text| {
            is_digits(text.strip_prefix(['+', '-']).unwrap_or(text))
        })
}
