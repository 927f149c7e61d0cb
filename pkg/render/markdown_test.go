package render

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
)

// changes is an answer with as many changes as are wanted.
type changes struct {
	n    int
	text string
}

func (c changes) Headline() []string    { return []string{"much changes."} }
func (c changes) News() []model.Problem { return nil }
func (c changes) Lead() diff.Lead {
	return diff.Lead{Claim: "much is lost.", Names: []string{c.text}, Detail: "much changes."}
}
func (c changes) Table(view.TableOptions) view.Table {
	b := view.Block{Columns: []view.Column{{Name: "TARGET"}, {Name: "AFTER"}}}
	for i := range c.n {
		b.Rows = append(b.Rows, []view.Cell{{Text: fmt.Sprint(c.text, i)}, {Text: "gone", Tone: view.Bad}})
	}
	return view.Table{Blocks: []view.Block{b}}
}
func (c changes) Texts() []diff.DiffText {
	var out []diff.DiffText
	for i := range c.n {
		out = append(out, diff.DiffText{Title: c.text, Targets: []string{fmt.Sprint(i)},
			Before: diff.DiffSide{Spec: map[string]any{"a": c.text}}})
	}
	return out
}

// TestMarkdownFits: a comment is never longer than its host takes, and says what it leaves out;
// whatever is opened is closed.
func TestMarkdownFits(t *testing.T) {
	for _, n := range []int{1, 10, 100, 1000, 100_000} {
		for _, text := range []string{"name ", strings.Repeat("long ", 2000)} {
			var out bytes.Buffer
			if err := Write(&out, changes{n, text}, Options{Format: Markdown}); err != nil {
				t.Fatal(err)
			}
			got := out.String()
			if utf8.RuneCountInString(got) > 65_536 {
				t.Errorf("%d changes take %d characters", n, utf8.RuneCountInString(got))
			}
			if strings.Count(got, "<details>") != strings.Count(got, "</details>") ||
				strings.Count(got, "\n```")%2 != 0 {
				t.Errorf("%d changes: something is not closed:\n%.300s", n, got)
			}
			if n >= 1000 && !strings.Contains(got, "a comment has no room") {
				t.Errorf("%d changes: it is not said that some are missing", n)
			}
		}
	}
}

// mixed has one long change before a short one.
type mixed struct{ changes }

func (m mixed) Texts() []diff.DiffText {
	return append(changes{1, strings.Repeat("long ", 20_000)}.Texts(), changes{1, "short"}.Texts()...)
}

// TestMarkdownSkipsLong: a change for which there is no room does not take the room of those after
// it.
func TestMarkdownSkipsLong(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, mixed{changes{1, "name"}}, Options{Format: Markdown}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "# short\n") ||
		!strings.Contains(got, "and 1 more change, for which") {
		t.Errorf("got\n%s", got)
	}
}

// FuzzMarkdown: nothing in a name or a value is more than text.
func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{"a|b", "@user", "#12", "<script>", "`x`", "[a](b)", "![a](b)", "https://x.example",
		"www.example.com", ":smile:", "a\nb", "**b**", "\\|", "$x$", "&lt;", "a@b.example", "!1", "a!1", "%x",
		"%1", `%"a b"`, "GH-1", "gh-12", "ABC-7", "^alert", "@name", "#1", "$1", "&1", "~x", "a/b#1", "a/b!1",
		"0123456789abcdef0123456789abcdef01234567", "a/b@0123456", "(deadbeef)"} {
		f.Add(seed)
	}
	markup := regexp.MustCompile("[\\\\`*_{}\\[\\]<>|~$@]|://|&(?:[^#]|#[^0-9])|www\\.")
	code := regexp.MustCompile("<code>[^<]*</code>")
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{escapeMarkdown(s), escapeMarkdownCell(s)} {
			if at := reference.FindString(code.ReplaceAllString(got, "")); at != "" {
				t.Errorf("%q becomes %q, with the reference %q", s, got, at)
			}
			bare := strings.NewReplacer("<code>", "", "</code>", "").Replace(got)
			if strings.Contains(s, "<code>") || strings.Contains(s, "</code>") {
				bare = strings.Replace(bare, "&#60;", "", -1)
			}
			if at := markup.FindString(bare); at != "" || strings.ContainsAny(got, "\n\r") {
				t.Errorf("%q becomes %q, with %q", s, got, at)
			}
		}
	})
}
