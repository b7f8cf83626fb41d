//! Fragments in, words out.

use expect_test::{Expect, expect};

use super::*;

#[track_caller]
fn check(html: &str, expected: Expect) {
    expected.assert_eq(&html_to_text(html));
}

#[test]
fn paragraphs_and_breaks_become_line_ends() {
    check("<p>One<br>two<br />three</p><p>Four</p>", expect!["One\ntwo\nthree\n\nFour"]);
    check("<div>a</div>\n  <div>b   c</div>", expect!["a\nb c"]);
    check("<ul><li>x</li><li>y</li></ul>z", expect!["- x\n- y\n\nz"]);
    check("<p>a</p><pre>  b\n   c</pre>", expect!["a\n\n  b\n   c"]);
    check("", expect![""]);
}

#[test]
fn links_say_where_they_lead_unless_their_words_do() {
    check(
        r#"<a href="https://ex.org/a/b"><span class="invisible">https://</span><span>ex.org/a</span><span class="invisible">/b</span></a>!"#,
        expect!["https://ex.org/a/b!"],
    );
    check(r#"see <a href="https://ex.org/x">this page</a>."#, expect!["see this page (https://ex.org/x)."]);
    check(r#"<a class="mention" href="https://ex.org/@bo">@<span>bo</span></a> hi"#, expect!["@bo hi"]);
    check(r#"<a href="https://ex.org/t">#tag</a>"#, expect!["#tag"]);
    check(r#"<a href="javascript:alert(1)">click</a>"#, expect!["click"]);
    check(r#"<a href="https://ex.org/p"></a>"#, expect!["https://ex.org/p"]);
}

#[test]
fn scripts_comments_and_styles_are_no_words() {
    check("a<script>if (1 < 2) { x('</p>') }</script>b<style>p{}</style>c<!-- d > -->e", expect!["abce"]);
    check("a<script>never closed", expect!["a"]);
    check("a<!-- never closed", expect!["a"]);
}

#[test]
fn what_is_no_tag_stays_and_entities_are_decoded() {
    check("1 < 2 &amp; 3 > 2 <3", expect!["1 < 2 & 3 > 2 <3"]);
    check("a <b", expect!["a <b"]);
    check(r#"<img src=x alt=":blob&amp;cat:"> <em title="a > b">it</em>"#, expect![":blob&cat: it"]);
    check(r#"<a href="unclosed>x</a> y"#, expect!["x y"]);
}

#[test]
fn hostile_text_costs_no_more_than_its_length() {
    for part in ["<a href=\"", "<", "<a ", "<!--", "&", "<p>", "<script>", "<a b=c ", "<li>"] {
        html_to_text(&part.repeat(200_000 / part.len()));
    }
}
