//! `hyperslab completions`: scripts with which shells complete the command.

use std::io::Write;

use clap_complete::Shell;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mkdir -p ~/.local/share/bash-completion/completions
  hyperslab completions bash > ~/.local/share/bash-completion/completions/hyperslab
  mkdir -p ~/.zfunc
  hyperslab completions zsh > ~/.zfunc/_hyperslab
  mkdir -p ~/.config/fish/completions
  hyperslab completions fish > ~/.config/fish/completions/hyperslab.fish

Shells read these files when they start. For bash, the package bash-completion reads them; without the
package, put `source <(hyperslab completions bash)` into `~/.bashrc`. For zsh, `~/.zshrc` needs the lines `fpath+=~/.zfunc` and `autoload -Uz compinit && compinit`. For
PowerShell, put `hyperslab completions powershell | Out-String | Invoke-Expression` into `$PROFILE`.")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    Ok(out.write_all(script(args.shell).as_bytes())?)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::command(), "hyperslab", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Bash { completing_files(&script) } else { script }
}

/// Returns the script for bash such that words after a command without subcommands complete to files. As clap
/// makes it, the script offers names of arguments, as in `<FILE>`. An empty list lets bash complete the names
/// of files.
fn completing_files(script: &str) -> String {
    let (mut only_options, mut is_first) = (false, false);
    let mut lines = Vec::new();
    for line in script.lines() {
        let text = line.trim();
        if let Some(words) = text.strip_prefix("opts=\"").filter(|words| words.len() > 1) {
            let words = words.trim_end_matches('"').split_whitespace();
            let words: Vec<&str> = words.filter(|word| !word.starts_with(['<', '['])).collect();
            only_options = words.iter().all(|word| word.starts_with('-'));
            lines.push(line.replace(text, &format!("opts=\"{}\"", words.join(" "))));
            continue;
        }
        let is_offer = text.starts_with("COMPREPLY=( $(compgen -W \"${opts}\"");
        match line.split_once(" || ${COMP_CWORD} -eq ") {
            Some((before, _)) if only_options => {
                is_first = true;
                lines.push(format!("{before} ]] ; then"));
            }
            // The first offer is for a word that begins as an option does.
            _ if is_offer && only_options && !std::mem::take(&mut is_first) => {
                lines.push(line.replace(text, "COMPREPLY=()"));
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}
