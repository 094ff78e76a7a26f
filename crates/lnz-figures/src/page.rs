//! The frame of an HTML page that loads nothing from outside and whose tables can be sorted.

use crate::escape::escape;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/sort.js");

/// A whole document around this content of its `main` element, which is HTML already.
///
/// Tables of the class `sortable` are sorted by a column when its head is selected; badges are `span`s of
/// the class `badge` and one of `yes`, `part`, `no` and `open`; framed text is of the class `claim`.
pub fn document(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}
