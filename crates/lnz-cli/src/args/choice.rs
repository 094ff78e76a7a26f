//! Options that take one of a few names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lnz::Choice;

/// Accepts the names of a choice, which the help lists with what they mean.
pub(crate) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    let values = T::CHOICES.iter().map(|c| PossibleValue::new(c.name).help(c.help));
    // A name that is not among them has been refused by then, with a list of those that are.
    PossibleValuesParser::new(values).try_map(|name| T::named(&name).ok_or("unknown name"))
}

#[cfg(test)]
mod tests {
    use crate::args::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn help_says_what_each_name_means() {
        let mut cli = Cli::command();
        let estimate = cli.find_subcommand_mut("estimate").unwrap();
        let help = estimate.render_long_help().to_string();
        for line in ["- i32:", "- mf:", "Mean field: the sign of each row sum", "[default: auto]"] {
            assert!(help.contains(line), "no {line} in {help}");
        }
    }

    #[test]
    fn another_name_is_refused_with_those_that_exist() {
        let typed = Cli::try_parse_from(["lnz", "estimate", "m", "--init", "mean"]);
        let message = typed.unwrap_err().to_string();
        assert!(message.contains("zero, one, random, mf, ps"), "{message}");
    }
}
