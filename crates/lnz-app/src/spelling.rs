//! How options are said: as flags on the command line, as keywords in Python.

/// The way in which a text names options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// `--start gibbs`, `--transpose`.
    Flags,
    /// `start="gibbs"`, `transpose=True`.
    Keywords,
}

impl Spelling {
    /// The text with its options filled in: `{init}` mentions one, `{start=gibbs}` gives it a value,
    /// `{transpose=on}` turns a switch on, `{{` is a brace.
    pub fn say(self, text: &str) -> String {
        let mut said = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            said += before;
            rest = after;
            match (after.strip_prefix('{'), after.split_once('}')) {
                (None, Some((option, after))) => {
                    said += &match option.split_once('=') {
                        None => self.name(option),
                        Some((name, value)) => self.option(name, value),
                    };
                    rest = after;
                }
                (brace, _) => {
                    said.push('{');
                    rest = brace.unwrap_or(rest);
                }
            }
        }
        said + rest
    }

    /// The name alone: `chain_layout` is `--chain-layout`.
    pub fn name(self, option: &str) -> String {
        match self {
            Spelling::Flags => format!("--{}", option.replace('_', "-")),
            Spelling::Keywords => option.to_owned(),
        }
    }

    fn option(self, name: &str, value: &str) -> String {
        match (self, value) {
            (Spelling::Flags, "on") => self.name(name),
            (Spelling::Flags, value) => format!("{} {value}", self.name(name)),
            (Spelling::Keywords, "on") => format!("{name}=True"),
            (Spelling::Keywords, value) if value.parse::<f64>().is_ok() => {
                format!("{name}={value}")
            }
            (Spelling::Keywords, value) => format!("{name}=\"{value}\""),
        }
    }
}

/// A text of the user's as it is, whatever braces it has, within one that is to be said.
pub(crate) fn verbatim(text: impl std::fmt::Display) -> String {
    text.to_string().replace('{', "{{")
}

#[cfg(test)]
mod tests {
    use super::Spelling::{Flags, Keywords};

    #[test]
    fn one_text_serves_both() {
        let text = "{chain_layout} needs {start=gibbs}, {betas=4096} or {transpose=on}.";
        assert_eq!(
            Flags.say(text),
            "--chain-layout needs --start gibbs, --betas 4096 or --transpose."
        );
        assert_eq!(
            Keywords.say(text),
            "chain_layout needs start=\"gibbs\", betas=4096 or transpose=True."
        );
        assert_eq!(Flags.say("nothing { to say"), "nothing { to say");
    }

    #[test]
    fn what_a_user_wrote_stays_as_it_is() {
        for name in ["a{seed}b", "{{seed=1}}", "{", "}{", "{{{", "a"] {
            let text = format!("{}: {{schedule}} is empty", super::verbatim(name));
            assert_eq!(Flags.say(&text), format!("{name}: --schedule is empty"));
        }
    }
}
