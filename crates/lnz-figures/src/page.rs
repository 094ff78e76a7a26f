//! The frame of an HTML page that loads nothing from outside and whose tables can be sorted.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/sort.js");

/// A whole document around this content of its `main` element.
///
/// Tables of the class `sortable` are sorted by a column when its head is selected; framed text is of the
/// class `claim`.
pub fn document(title: &str, body: Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (body) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}

/// What the colour of a badge says; the words say it, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Badge {
    /// As it should be.
    Yes,
    /// Not quite.
    Part,
    /// Not at all.
    No,
    /// Nothing is known.
    Open,
}

impl Badge {
    /// A word on a coloured ground.
    pub fn html(self, word: &str) -> Markup {
        let class = match self {
            Badge::Yes => "yes",
            Badge::Part => "part",
            Badge::No => "no",
            Badge::Open => "open",
        };
        html! { span class={ "badge " (class) } { (word) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_text_stays_text() {
        let name = "</title><script>alert(1)</script>\"'&";
        let page = document(name, html! { p title=(name) { (name) } (Badge::No.html(name)) });
        assert_eq!(page.matches("<script>").count(), 1, "{page}");
        assert!(page.contains("<title>&lt;/title&gt;&lt;script&gt;alert(1)"), "{page}");
        assert!(page.contains(r#"<p title="&lt;/title&gt;"#), "{page}");
    }
}
