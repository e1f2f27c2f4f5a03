//! The text of an expression as tokens.

use crate::error::{Error, Result};
use crate::value::Value;

/// A part of the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Literal(Value),
    /// A name, perhaps with dots, or with slashes where they lead into a record.
    Name(String),
    /// An operator, a parenthesis or a comma.
    Sign(&'static str),
    End,
}

/// Longer texts are refused.
const LONGEST: usize = 1 << 16;

/// The signs of expressions. Those of two characters come first.
const SIGNS: [&str; 25] = [
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~",
    "(", ")", ",", "[", "]", "=",
];

/// Words of Python that no name may be, and what to write instead.
const WORDS: [(&str, &str); 8] = [
    ("and", "write (a) & (b) instead of `and`"),
    ("or", "write (a) | (b) instead of `or`"),
    ("not", "write ~(a) instead of `not`"),
    ("in", "write isin(a, x, y) instead of `in`"),
    ("is", "write a == b instead of `is`"),
    ("if", "write where(condition, a, b) instead of `if`"),
    ("else", "write where(condition, a, b) instead of `else`"),
    ("lambda", "functions cannot be defined in an expression"),
];

/// Returns the tokens of a text, each with the number of its first character. A slash after a name that is
/// one of `records` belongs to a longer name, and does not divide.
pub(crate) fn tokens(text: &str, records: &dyn Fn(&str) -> bool) -> Result<Vec<(usize, Token)>> {
    if text.len() > LONGEST {
        let why = format!("the expression must be at most {LONGEST} bytes long, not {}", text.len());
        return Err(Error::Syntax { position: 0, why, text: text.chars().take(40).collect() });
    }
    let characters: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { text, characters, at: 0, records };
    let mut found = Vec::new();
    loop {
        while lexer.peek(0).is_some_and(char::is_whitespace) {
            lexer.at += 1;
        }
        let start = lexer.at;
        let token = lexer.token()?;
        let is_end = token == Token::End;
        found.push((start, token));
        if is_end {
            return Ok(found);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    characters: Vec<char>,
    at: usize,
    records: &'a dyn Fn(&str) -> bool,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn error<T>(&self, position: usize, why: impl Into<String>) -> Result<T> {
        Err(Error::Syntax { position, why: why.into(), text: self.text.to_owned() })
    }

    fn token(&mut self) -> Result<Token> {
        let Some(first) = self.peek(0) else { return Ok(Token::End) };
        let starts_number = first.is_ascii_digit()
            || (first == '.' && self.peek(1).is_some_and(|second| second.is_ascii_digit()));
        if starts_number {
            return self.number();
        }
        if matches!(first, '\'' | '"') {
            return self.string(false);
        }
        if matches!(first, 'b' | 'B') && matches!(self.peek(1), Some('\'' | '"')) {
            self.at += 1;
            return self.string(true);
        }
        if first == '_' || first.is_alphabetic() {
            return self.name();
        }
        for sign in SIGNS {
            let mut ahead = sign.chars().enumerate();
            if ahead.all(|(at, character)| self.peek(at) == Some(character)) {
                self.at += sign.len();
                return Ok(Token::Sign(sign));
            }
        }
        let why = match first {
            '!' => "write ~(a) to negate a condition, and != to compare".to_owned(),
            '@' => "matrices cannot be multiplied in an expression".to_owned(),
            other => format!("{other:?} has no meaning here"),
        };
        self.error(self.at, why)
    }

    fn name(&mut self) -> Result<Token> {
        let start = self.at;
        let mut name = String::new();
        loop {
            while let Some(character) = self.peek(0).filter(|one| *one == '_' || one.is_alphanumeric()) {
                name.push(character);
                self.at += 1;
            }
            let follows = self.peek(1).is_some_and(|next| next == '_' || next.is_alphabetic());
            match self.peek(0) {
                Some('.') if follows => name.push('.'),
                Some('/') if follows && (self.records)(&name) => name.push('/'),
                _ => break,
            }
            self.at += 1;
        }
        if let Some((_, why)) = WORDS.iter().find(|(word, _)| *word == name) {
            return self.error(start, *why);
        }
        Ok(match &*name {
            "True" => Token::Literal(Value::Bool(true)),
            "False" => Token::Literal(Value::Bool(false)),
            _ => Token::Name(name),
        })
    }

    fn number(&mut self) -> Result<Token> {
        let start = self.at;
        if self.peek(0) == Some('0') && matches!(self.peek(1), Some('x' | 'X' | 'b' | 'B' | 'o' | 'O')) {
            return self.radix();
        }
        let mut digits = String::new();
        let mut is_float = false;
        self.digits(&mut digits);
        if self.peek(0) == Some('.') {
            is_float = true;
            digits.push('.');
            self.at += 1;
            self.digits(&mut digits);
        }
        if matches!(self.peek(0), Some('e' | 'E')) {
            let signed = usize::from(matches!(self.peek(1), Some('+' | '-')));
            if self.peek(1 + signed).is_some_and(|digit| digit.is_ascii_digit()) {
                is_float = true;
                digits.extend(&self.characters[self.at..=self.at + signed]);
                self.at += 1 + signed;
                self.digits(&mut digits);
            }
        }
        let imaginary = matches!(self.peek(0), Some('j' | 'J'));
        self.at += usize::from(imaginary);
        if self.peek(0).is_some_and(|next| next == '_' || next.is_alphanumeric()) {
            return self.error(self.at, "an operator is missing after the number");
        }
        let float = digits.parse::<f64>();
        let value = match (imaginary, is_float, float) {
            (true, _, Ok(float)) => Value::Complex(0.0, float),
            (false, true, Ok(float)) => Value::Float(float),
            (false, false, _) => match digits.parse::<i128>() {
                Ok(integer) => Value::Int(integer),
                Err(_) => return self.error(start, "the integer must fit 127 bits"),
            },
            (_, _, Err(_)) => return self.error(start, "not a number"),
        };
        Ok(Token::Literal(value))
    }

    fn digits(&mut self, digits: &mut String) {
        while let Some(digit) = self.peek(0).filter(|one| one.is_ascii_digit() || *one == '_') {
            if digit != '_' {
                digits.push(digit);
            } else if !self.peek(1).is_some_and(|next| next.is_ascii_digit()) {
                return;
            }
            self.at += 1;
        }
    }

    fn radix(&mut self) -> Result<Token> {
        let (start, radix) = (self.at, self.peek(1));
        let radix = match radix {
            Some('x' | 'X') => 16,
            Some('o' | 'O') => 8,
            _ => 2,
        };
        self.at += 2;
        let mut digits = String::new();
        while let Some(digit) = self.peek(0).filter(|one| *one == '_' || one.is_ascii_alphanumeric()) {
            if digit != '_' {
                digits.push(digit);
            }
            self.at += 1;
        }
        match i128::from_str_radix(&digits, radix) {
            Ok(value) => Ok(Token::Literal(Value::Int(value))),
            Err(_) => self.error(start, format!("not a number of base {radix}")),
        }
    }

    fn string(&mut self, is_bytes: bool) -> Result<Token> {
        let (start, quote) = (self.at, self.peek(0));
        self.at += 1;
        let mut text = String::new();
        let mut bytes = Vec::new();
        loop {
            let Some(character) = self.peek(0) else {
                return self.error(start, "the closing quote of the string is missing");
            };
            self.at += 1;
            if Some(character) == quote {
                break;
            }
            let character = if character == '\\' { self.escape()? } else { character };
            text.push(character);
            if is_bytes {
                match u8::try_from(u32::from(character)) {
                    Ok(byte) => bytes.push(byte),
                    Err(_) => return self.error(self.at - 1, "bytes must have characters up to \\xff only"),
                }
            }
        }
        Ok(Token::Literal(if is_bytes { Value::Bytes(bytes) } else { Value::Text(text) }))
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at - 1;
        let Some(kind) = self.peek(0) else { return self.error(start, "the character after \\ is missing") };
        self.at += 1;
        let digits = match kind {
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            'r' => return Ok('\r'),
            '0' => return Ok('\0'),
            '\\' | '\'' | '"' => return Ok(kind),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return self.error(start, format!("the escape \\{kind} is not known")),
        };
        let end = (self.at + digits).min(self.characters.len());
        let hex: String = self.characters[self.at..end].iter().collect();
        self.at = end;
        let code = u32::from_str_radix(&hex, 16).ok().filter(|_| hex.len() == digits);
        match code.and_then(char::from_u32) {
            Some(character) => Ok(character),
            None => self.error(start, format!("\\{kind} needs {digits} hexadecimal digits")),
        }
    }
}
