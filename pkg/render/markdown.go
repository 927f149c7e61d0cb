package render

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// How much of an answer a comment shows. Hosts of pull requests refuse longer ones (GitHub: 65,536 characters); bytes are counted, which are
// not fewer.
const (
	markdownBytes = 60_000
	markdownRows  = 20 // that are not folded away
	markdownSpare = 400
	markdownTries = 20 // changes that turn out to be too long, before the rest is not looked at
)

// commentView is a view that can be a comment on a pull request.
type commentView interface {
	textsView
	View
	News() []model.Problem
}

// headlineView is a view whose comment is a sentence and its table.
type headlineView interface {
	View
	Headline() string
}

// writeHeadline writes an answer as a comment: the sentence, the table, its footer.
func writeHeadline(w *bufio.Writer, v headlineView, o view.TableOptions) error {
	m := &markdown{left: markdownBytes}
	m.add("**" + markdownText(v.Headline()) + "**\n")
	t := v.Table(o)
	if len(t.Blocks) > 0 && len(t.Blocks[0].Rows) > 0 {
		m.rows(&t.Blocks[0])
	}
	for _, line := range t.Footer {
		m.add("\n" + markdownText(line) + "\n")
	}
	_, err := w.Write(m.Bytes())
	return err
}

// markdown is a text of bounded length.
type markdown struct {
	bytes.Buffer
	left int
}

// add writes s whole, or not at all where it is too long.
func (m *markdown) add(s string) bool {
	if len(s) > m.left {
		return false
	}
	m.left -= len(s)
	m.WriteString(s)
	return true
}

// writeMarkdown writes an answer as a comment on a pull request: a sentence, short tables, and folded away the rest of it, the effective
// specs before and after, and problems. What does not fit is counted.
func writeMarkdown(w *bufio.Writer, v commentView, o view.TableOptions) error {
	m := &markdown{left: markdownBytes}
	m.add("**" + markdownText(strings.Join(v.Headline(), " ")) + "**\n")
	t := v.Table(o)
	for i := range t.Blocks {
		if len(t.Blocks[i].Rows) > 0 {
			m.rows(&t.Blocks[i])
		}
	}
	for _, line := range t.Footer {
		if line != strings.Join(v.Headline(), " ") {
			m.add("\n" + markdownText(line) + "\n")
		}
	}
	if err := m.specs(v.Texts()); err != nil {
		return err
	}
	m.problems(v.News())
	_, err := w.Write(m.Bytes())
	return err
}

// rows writes the lines of a table; those that are too many for a glance are folded away.
func (m *markdown) rows(b *view.Block) {
	rows := narrow(b.Rows, b.Columns)
	header, _ := headerOf(b)
	head := "\n" + markdownRow(narrow([][]view.Cell{header}, b.Columns)[0]) + "|" + strings.Repeat("---|", len(rows[0])) + "\n"
	m.add(head)
	shown := m.lines(rows[:min(len(rows), markdownRows)])
	if rest := rows[shown:]; len(rest) > 0 {
		m.open(fmt.Sprintf("%d more lines", len(rest)))
		m.add(head)
		n := m.lines(rest)
		m.close(len(rest)-n, "line")
	}
}

// lines writes as many rows as there is room for.
func (m *markdown) lines(rows [][]view.Cell) int {
	for i, row := range rows {
		if m.left < 2*markdownSpare || !m.add(markdownRow(row)) {
			return i
		}
	}
	return len(rows)
}

// open begins a part that is folded away, close ends it and says how much is missing.
func (m *markdown) open(summary string) {
	m.add("\n<details><summary>" + markdownText(summary) + "</summary>\n")
}

func (m *markdown) close(missing int, noun string) {
	if missing > 0 {
		if missing > 1 {
			noun += "s"
		}
		m.add(fmt.Sprintf("\n… and %d more %s, for which a comment has no room\n", missing, noun))
	}
	m.add("\n</details>\n")
}

// specs writes the changes as unified diffs.
func (m *markdown) specs(texts []view.DiffText) error {
	if len(texts) == 0 || m.left < 2*markdownSpare {
		return nil
	}
	m.open("effective specs before and after")
	missing := 0
	for i, t := range texts {
		if missing == markdownTries || m.left < 2*markdownSpare {
			missing += len(texts) - i
			break
		}
		whole, err := specText(t)
		if err != nil {
			return err
		}
		if len(whole)+markdownSpare > m.left || !m.add(whole) {
			missing++ // a shorter one may follow
		}
	}
	m.close(missing, "change")
	return nil
}

// specText is one change in a fence.
func specText(t view.DiffText) (string, error) {
	text, err := unified(t)
	if err != nil {
		return "", err
	}
	var head bytes.Buffer
	out := bufio.NewWriter(&head)
	comment(out, t.Title)
	for _, target := range t.Targets {
		comment(out, "  "+target)
	}
	_ = out.Flush()
	fence := fenceFor(append(head.Bytes(), text...))
	return "\n" + fence + "diff\n" + head.String() + string(text) + fence + "\n", nil
}

// fenceFor is a fence that is longer than any run of backticks in a text.
func fenceFor(text []byte) string {
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

// problems writes those that only one side has, or that leave the answer open.
func (m *markdown) problems(all []model.Problem) {
	var told []model.Problem
	for _, p := range all {
		if p.Severity != model.Info {
			told = append(told, p)
		}
	}
	if len(told) == 0 || m.left < 2*markdownSpare {
		return
	}
	noun := "problems"
	if len(told) == 1 {
		noun = "problem"
	}
	m.open(fmt.Sprintf("%d %s", len(told), noun))
	m.add("\n")
	for i, p := range told {
		t := trouble{Problem: p}
		line := "- " + string(p.Severity) + ": " + markdownText(t.sentence())
		if p.Hint != "" {
			line += " (" + markdownText(p.Hint) + ")"
		}
		if len(line)+markdownSpare > m.left || !m.add(line+"\n") {
			m.close(len(told)-i, "problem")
			return
		}
	}
	m.close(0, "")
}

// markdownRow is one line of a table.
func markdownRow(cells []view.Cell) string {
	var b strings.Builder
	b.WriteByte('|')
	for _, c := range cells {
		text := markdownCell(c.Text)
		if c.Tone == view.Bad && text != "" {
			text = "**" + text + "**"
		}
		b.WriteString(" " + text + " |")
	}
	return b.String() + "\n"
}

// markdownText is s as text: nothing in it is markup, a link, a mention, an emoji or a reference. Words that could hold such a thing stand in
// <code>, in which hosts look for none, with character references for whatever means something to Markdown.
func markdownText(s string) string {
	words := strings.Split(Escape(s), " ")
	for i, word := range words {
		if markedUp(word) {
			words[i] = codeText(word)
		}
	}
	return strings.Join(words, " ")
}

// markdownCell is markdownText for a field of a table, which is one thing.
func markdownCell(s string) string {
	s = Escape(s)
	if !markedUp(s) {
		return s
	}
	return codeText(s)
}

// markedUp reports whether a text may be more than text to Markdown, HTML or the host of a pull request.
func markedUp(s string) bool {
	return strings.ContainsAny(s, "\\`*_{}[]<>#|&~$@") || strings.Contains(s, "://") || strings.Contains(strings.ToLower(s), "www.") || strings.Count(s, ":") > 1
}

func codeText(s string) string {
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>#|&~$@:!\"'^=+", r) || r == '.' && strings.Contains(strings.ToLower(s), "www.") {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteString("</code>")
	return b.String()
}
