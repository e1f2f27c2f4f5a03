//! Man pages and a reference in Markdown, made from the arguments of the command.

use std::fmt::Write as _;
use std::io;

use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// The page of the command, or of one of its subcommands.
#[derive(Debug)]
pub struct Page {
    /// The name, as in `hyperslab segy ingest`.
    pub name: String,
    command: Command,
}

/// Returns the pages of the command and of all its subcommands.
pub fn pages() -> Vec<Page> {
    let mut command = crate::command();
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages);
    pages
}

fn collect(command: &Command, pages: &mut Vec<Page>) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    pages.push(Page { name, command: command.clone() });
    for command in command.get_subcommands() {
        collect(command, pages);
    }
}

impl Page {
    /// Returns the name of the man page: `hyperslab-segy-ingest`.
    pub fn file_name(&self) -> String {
        self.name.replace(' ', "-")
    }

    /// Returns the man page.
    pub fn man(&self) -> io::Result<Vec<u8>> {
        let man = Man::new(self.command.clone()).title(self.file_name().to_uppercase());
        let man = man.source(concat!("hyperslab ", env!("CARGO_PKG_VERSION"))).manual("hyperslab");
        let mut page = Vec::new();
        man.render_title(&mut page)?;
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        if self.command.has_subcommands() {
            man.render_subcommands_section(&mut page)?;
        }
        self.man_after(&mut page)?;
        Ok(page)
    }

    /// Writes the sections after the options.
    fn man_after(&self, page: &mut Vec<u8>) -> io::Result<()> {
        let mut roff = Roff::new();
        let lines = |roff: &mut Roff, lines: &[String]| {
            // Lines of examples are not filled.
            roff.control("nf", []);
            for line in lines {
                roff.text([roman(line.as_str())]);
            }
            roff.control("fi", []);
        };
        let parts = parts(&self.command);
        let (blocks, paragraphs): (Vec<_>, Vec<_>) =
            parts.iter().partition(|part| matches!(part, TextPart::Lines { .. }));
        for part in blocks {
            let TextPart::Lines { title, text } = part else { continue };
            roff.control("SH", [&*title.to_uppercase()]);
            lines(&mut roff, text);
        }
        if !paragraphs.is_empty() {
            roff.control("SH", ["NOTES"]);
        }
        for part in paragraphs {
            let TextPart::Paragraph(text) = part else { continue };
            roff.control("PP", []);
            roff.text([roman(text.as_str())]);
        }
        if self.name.contains(' ') {
            roff.control("SH", ["SEE ALSO"]);
            roff.text([roman("hyperslab(1)")]);
        }
        roff.to_writer(page)
    }
}

/// A part of the text after the options.
enum TextPart {
    /// Lines under a title, such as examples.
    Lines {
        title: String,
        text: Vec<String>,
    },
    Paragraph(String),
}

/// Returns the parts of the text after the options of a command.
fn parts(command: &Command) -> Vec<TextPart> {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    text.split("\n\n")
        .filter(|block| !block.trim().is_empty())
        .map(|block| match block.split_once(":\n  ") {
            Some((title, text)) if !title.contains('\n') => {
                let lines = text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned());
                TextPart::Lines { title: title.to_owned(), text: lines.collect() }
            }
            _ => TextPart::Paragraph(block.split_whitespace().collect::<Vec<_>>().join(" ")),
        })
        .collect()
}

/// Returns the reference of all commands.
pub fn markdown() -> String {
    let pages = pages();
    let mut text = String::new();
    let mut filters = Vec::new();
    for page in &pages {
        if page.name == "hyperslab" {
            first(page, &pages, &mut text);
        } else {
            section(page, &mut text, &mut filters);
        }
    }
    text.push_str("## Filters\n\nOptions `--filter` take these names.\n");
    block("text", &filters, &mut text);
    text
}

/// Writes the part about all commands.
fn first(page: &Page, pages: &[Page], text: &mut String) {
    text.push_str("# The command `hyperslab`\n\n");
    let about = page.command.get_about().map(ToString::to_string).unwrap_or_default();
    wrapped(&format!("{}.", escaped(&about)), "", text);
    wrapped(
        "This page is made from the help of the command, which `hyperslab COMMAND --help` prints.",
        "",
        text,
    );
    text.push_str("\n| command | what it does |\n| --- | --- |\n");
    for page in pages.iter().filter(|page| page.name.contains(' ')) {
        let about = page.command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "| [`{}`](#{}) | {} |", page.name, page.file_name(), escaped(&about));
    }
    for part in parts(&page.command) {
        write_part(&part, text);
    }
    text.push_str("\nEvery command has these options.\n\n");
    let globals = page.command.get_arguments().filter(|arg| !arg.is_positional());
    for arg in globals {
        item(arg, text);
    }
    text.push('\n');
}

/// Writes the part about one command.
fn section(page: &Page, text: &mut String, filters: &mut Vec<String>) {
    let command = &page.command;
    let _ = writeln!(text, "## {}\n", page.name);
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    wrapped(&format!("{}.", escaped(&about)), "", text);
    let usage = command.clone().render_usage().to_string();
    block("text", &[usage.trim_start_matches("Usage: ").to_owned()], text);
    let shown = |arg: &&Arg| !arg.is_hide_set() && !arg.is_global_set() && arg.get_id() != "help";
    let (arguments, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(shown).partition(|arg| arg.is_positional());
    for (title, args) in [("Arguments", arguments), ("Options", options)] {
        if !args.is_empty() {
            let _ = writeln!(text, "\n{title}:\n");
            for arg in args {
                item(arg, text);
            }
        }
    }
    for part in parts(command) {
        match part {
            TextPart::Lines { title, text: lines } if title == "Filters" => {
                *filters = lines;
                text.push_str("\n[Filters](#filters) have a list of their own.\n");
            }
            part => write_part(&part, text),
        }
    }
    text.push('\n');
}

fn write_part(part: &TextPart, text: &mut String) {
    match part {
        TextPart::Lines { title, text: lines } => {
            let _ = write!(text, "\n{title}:\n\n<!-- not run: the files are examples -->");
            block("sh", lines, text);
        }
        TextPart::Paragraph(paragraph) => {
            text.push('\n');
            wrapped(&escaped(paragraph), "", text);
        }
    }
}

/// Writes lines as a block of code, after an empty line.
fn block(language: &str, lines: &[String], text: &mut String) {
    let _ = writeln!(text, "\n```{language}\n{}\n```", lines.join("\n"));
}

/// Writes an argument as an item of a list.
fn item(arg: &Arg, text: &mut String) {
    let names: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let takes = arg.get_action().takes_values();
    let several = arg.get_num_args().is_some_and(|count| count.max_values() > names.len().max(1));
    let value = match names.join(" ") {
        value if several => format!("{value}..."),
        value => value,
    };
    let name = match (arg.get_short(), arg.get_long()) {
        (None, None) => value.clone(),
        (short, long) => {
            let short = short.map(|short| format!("-{short}"));
            let long = long.map(|long| format!("--{long}"));
            let names = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
            if takes { format!("{names} {value}") } else { names }
        }
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let (help, default) = match help.split_once(" [default: ") {
        Some((help, default)) => (help.to_owned(), Some(sentence(default.replacen(']', "", 1).trim()))),
        None => (help, None),
    };
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .filter(|_| takes)
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    let mut said = format!("`{name}`: {}", sentence(&help));
    if let Some(default) = default {
        let _ = write!(said, " Default: {default}");
    } else if !defaults.is_empty() {
        let _ = write!(said, " Default: {}.", defaults.join(", "));
    }
    let values = arg.get_possible_values();
    let values: Vec<_> = values.iter().filter(|value| takes && !value.is_hide_set()).collect();
    let explains = values.iter().any(|value| value.get_help().is_some());
    if !values.is_empty() && !explains {
        let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        let _ = write!(said, " One of {}.", names.join(", "));
    }
    wrapped(&format!("- {}", escaped(&said)), "  ", text);
    for value in values.into_iter().filter(|_| explains) {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        let said = format!("`{}`: {}", value.get_name(), sentence(&help));
        wrapped(&format!("  - {}", escaped(&said)), "    ", text);
    }
}

/// Returns a text with a full stop at its end.
fn sentence(text: &str) -> String {
    if text.is_empty() || text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// Returns a text in which letters that Markdown would take for itself are escaped, except in code. Options
/// become code.
fn escaped(text: &str) -> String {
    words(text).iter().map(|word| escaped_word(word)).collect::<Vec<_>>().join(" ")
}

fn escaped_word(word: &str) -> String {
    let end = word.trim_end_matches([',', ';', '.', ':', ')']).len();
    let start = end - word[..end].trim_start_matches('(').len();
    let option = &word[start..end];
    if !option.contains('`') && option.strip_prefix('-').is_some_and(|rest| !rest.is_empty()) {
        return format!("{}`{option}`{}", &word[..start], &word[end..]);
    }
    let mut in_code = false;
    let mut escaped = String::new();
    for letter in word.chars() {
        in_code ^= letter == '`';
        if !in_code && matches!(letter, '<' | '>' | '*' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Writes a text in lines of at most [`WIDTH`] columns. Code between backticks is not broken.
fn wrapped(said: &str, indent: &str, text: &mut String) {
    let lead = said.len() - said.trim_start().len();
    let mut line = said[..lead].to_owned();
    let mut is_empty = true;
    for word in words(said.trim_start()) {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{line}");
            indent.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&word);
        is_empty = false;
    }
    let _ = writeln!(text, "{line}");
}

/// Returns the words of a text, where code is one word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut in_code = false;
    for letter in text.chars() {
        in_code ^= letter == '`';
        if letter == ' ' && !in_code {
            words.push(std::mem::take(&mut word));
        } else {
            word.push(letter);
        }
    }
    words.push(word);
    words
}

/// The columns of the Markdown.
const WIDTH: usize = 110;
