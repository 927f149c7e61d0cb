package render

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
)

// How much of an answer a comment shows. Hosts of pull requests refuse longer ones (GitHub: 65,536
// characters); bytes are counted, which are not fewer.
const (
	markdownBytes = 60_000
	markdownRows  = 20 // that are not folded away
	markdownSpare = 400
	markdownTries = 20 // changes that turn out to be too long, before the rest is not looked at
)

// commentView is a view that can be a comment on a pull request.
type commentView interface {
	diffView
	View
	leadView
}

// leadView is a view that says first what loses protection.
type leadView interface {
	Lead() diff.Lead
	News() []model.Problem // of one side only, or that leave the answer open
}

// headlineView is a view whose comment is a sentence and its table.
type headlineView interface {
	View
	Headline() string
}

// commentHeadlineView is a view that says it otherwise in a comment: what loses protection comes
// first.
type commentHeadlineView interface {
	CommentHeadline() string
}

// writeHeadline writes an answer as a comment: the sentence, the table, its footer.
func writeHeadline(w *bufio.Writer, v headlineView, o view.TableOptions) error {
	m := &markdown{bytesLeft: markdownBytes}
	headline := v.Headline()
	if c, ok := v.(commentHeadlineView); ok {
		headline = c.CommentHeadline()
	}
	m.addText("**" + escapeMarkdown(headline) + "**\n")
	t := v.Table(o)
	for i := range t.Blocks {
		if len(t.Blocks[i].Rows) > 0 {
			m.writeRows(&t.Blocks[i])
		}
	}
	for _, line := range t.Footer {
		if line != v.Headline() {
			m.addText("\n" + escapeMarkdown(line) + "\n")
		}
	}
	_, err := w.Write(m.Bytes())
	return err
}

// markdown is a text of bounded length.
type markdown struct {
	bytes.Buffer
	bytesLeft int
}

// addText writes s whole, or not at all where it is too long.
func (m *markdown) addText(s string) bool {
	if len(s) > m.bytesLeft {
		return false
	}
	m.bytesLeft -= len(s)
	m.WriteString(s)
	return true
}

// writeMarkdown writes an answer as a comment on a pull request: what loses protection, short
// tables, and folded away the rest of it, the effective specs before and after, and problems. What
// does not fit is counted.
func writeMarkdown(w *bufio.Writer, v commentView, o view.TableOptions) error {
	m := &markdown{bytesLeft: markdownBytes}
	m.writeLead(v.Lead(), o)
	t := v.Table(o)
	for i := range t.Blocks {
		if len(t.Blocks[i].Rows) > 0 {
			m.writeRows(&t.Blocks[i])
		}
	}
	for _, line := range t.Footer {
		if line != strings.Join(v.Headline(), " ") {
			m.addText("\n" + escapeMarkdown(line) + "\n")
		}
	}
	if err := m.writeSpecs(v.Texts()); err != nil {
		return err
	}
	m.writeProblemList(v.News())
	_, err := w.Write(m.Bytes())
	return err
}

// writeLead writes in the first line what loses protection, and where. What else is to be said
// stands in the same line if nothing is lost, else below it.
func (m *markdown) writeLead(l diff.Lead, o view.TableOptions) {
	text := "**" + escapeMarkdown(l.Claim) + "**"
	between := " "
	if len(l.Names) > 0 {
		text += " " + escapeMarkdown(view.JoinNames(l.Names, o))
		between = "\n\n"
	}
	if l.Detail != "" {
		text += between + escapeMarkdown(l.Detail)
	}
	m.addText(text + "\n")
}

// writeRows writes the lines of a table; those that are too many for a glance are folded away.
func (m *markdown) writeRows(b *view.Block) {
	rows := dropWideCells(b.Rows, b.Columns)
	header, _ := buildHeader(b)
	head := "\n" + formatMarkdownRow(dropWideCells([][]view.Cell{header}, b.Columns)[0]) + "|" + strings.Repeat("---|",
		len(rows[0])) + "\n"
	m.addText(head)
	shown := m.writeLines(rows[:min(len(rows), markdownRows)])
	if rest := rows[shown:]; len(rest) > 0 {
		m.openDetails(fmt.Sprintf("%d more lines", len(rest)))
		m.addText(head)
		n := m.writeLines(rest)
		m.closeDetails(len(rest)-n, "line")
	}
}

// writeLines writes as many rows as there is room for, and returns their number.
func (m *markdown) writeLines(rows [][]view.Cell) int {
	for i, row := range rows {
		if m.bytesLeft < 2*markdownSpare || !m.addText(formatMarkdownRow(row)) {
			return i
		}
	}
	return len(rows)
}

// openDetails begins a part that is folded away, closeDetails ends it and says how much is missing.
func (m *markdown) openDetails(summary string) {
	m.addText("\n<details><summary>" + escapeMarkdown(summary) + "</summary>\n")
}

func (m *markdown) closeDetails(missing int, noun string) {
	if missing > 0 {
		if missing > 1 {
			noun += "s"
		}
		m.addText(fmt.Sprintf("\n… and %d more %s, for which a comment has no room\n", missing, noun))
	}
	m.addText("\n</details>\n")
}

// writeSpecs writes the changes as unified diffs.
func (m *markdown) writeSpecs(texts []diff.DiffText) error {
	if len(texts) == 0 || m.bytesLeft < 2*markdownSpare {
		return nil
	}
	m.openDetails("effective specs before and after")
	missing := 0
	for i, t := range texts {
		if missing == markdownTries || m.bytesLeft < 2*markdownSpare {
			missing += len(texts) - i
			break
		}
		whole, err := formatSpec(t)
		if err != nil {
			return err
		}
		if len(whole)+markdownSpare > m.bytesLeft || !m.addText(whole) {
			missing++ // a shorter change may still fit
		}
	}
	m.closeDetails(missing, "change")
	return nil
}

// formatSpec is one change in a fence.
func formatSpec(t diff.DiffText) (string, error) {
	text, err := formatUnified(t)
	if err != nil {
		return "", err
	}
	var head bytes.Buffer
	out := bufio.NewWriter(&head)
	writeComment(out, t.Title)
	for _, target := range t.Targets {
		writeComment(out, "  "+target)
	}
	_ = out.Flush()
	fence := chooseFence(append(head.Bytes(), text...))
	return "\n" + fence + "diff\n" + head.String() + string(text) + fence + "\n", nil
}

// chooseFence is a fence that is longer than any run of backticks in a text.
func chooseFence(text []byte) string {
	longest, run := 2, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// writeProblemList writes the problems that only one side has, or that leave the answer open.
func (m *markdown) writeProblemList(all []model.Problem) {
	var told []model.Problem
	for _, p := range all {
		if p.Severity != model.Info {
			told = append(told, p)
		}
	}
	if len(told) == 0 || m.bytesLeft < 2*markdownSpare {
		return
	}
	noun := "problems"
	if len(told) == 1 {
		noun = "problem"
	}
	m.openDetails(fmt.Sprintf("%d %s", len(told), noun))
	m.addText("\n")
	for i, p := range told {
		t := problemGroup{Problem: p}
		line := "- " + string(p.Severity) + ": " + escapeMarkdown(t.formatSentence())
		if p.Hint != "" {
			line += " (" + escapeMarkdown(p.Hint) + ")"
		}
		if len(line)+markdownSpare > m.bytesLeft || !m.addText(line+"\n") {
			m.closeDetails(len(told)-i, "problem")
			return
		}
	}
	m.closeDetails(0, "")
}

// formatMarkdownRow is one line of a table.
func formatMarkdownRow(cells []view.Cell) string {
	var b strings.Builder
	b.WriteByte('|')
	for _, c := range cells {
		text := escapeMarkdownCell(c.Text)
		if c.Tone == view.Bad && text != "" {
			text = "**" + text + "**"
		}
		b.WriteString(" " + text + " |")
	}
	return b.String() + "\n"
}

// escapeMarkdown is s as text: nothing in it is markup, a link, a mention, an emoji or a reference.
// Words that could hold such a thing stand in <code>, in which hosts look for none, with character
// references for whatever means something to Markdown.
func escapeMarkdown(s string) string {
	words := strings.Split(escape.Escape(s), " ")
	for i, word := range words {
		if hasMarkup(word) {
			words[i] = formatCode(word)
		}
	}
	return strings.Join(words, " ")
}

// escapeMarkdownCell is escapeMarkdown for a field of a table, which is one thing.
func escapeMarkdownCell(s string) string {
	s = escape.Escape(s)
	if !hasMarkup(s) {
		return s
	}
	return formatCode(s)
}

// reference is what hosts take for the name of a merge request (!1), a milestone (%x), an alert
// (^alert), an issue (GH-1, ABC-1) or a commit. The others begin with a mark.
var reference = regexp.MustCompile(`[!%^][\p{L}\p{N}_"]|(?i:\bg[hl]-\d)|\b[A-Z][A-Z0-9_]+-\d|\b[0-9A-Fa-f]{7,}\b`)

// hasMarkup reports whether a text may be more than text to Markdown, HTML or the host of a pull
// request.
func hasMarkup(s string) bool {
	return reference.MatchString(s) || strings.ContainsAny(s, "\\`*_{}[]<>#|&~$@") || strings.Contains(s, "://") ||
		strings.Contains(strings.ToLower(s), "www.") || strings.Count(s, ":") > 1
}

func formatCode(s string) string {
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>#|&~$@:!%\"'^=+", r) || r == '.' &&
			strings.Contains(strings.ToLower(s), "www.") {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteString("</code>")
	return b.String()
}
