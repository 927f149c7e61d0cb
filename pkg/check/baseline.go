package check

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Baseline is what was found before: of an earlier state of the input, or written down in a file.
type Baseline struct {
	From    string // where it is from: git:main, or the name of a file
	isFile  bool   // it was written down
	entries map[baselineKey]*baselineEntry
}

// baselineKey is equal for what counts as the same finding, wherever it moves in its file.
type baselineKey struct{ id, object, file, message string }

// baselineEntry says how often something was found.
type baselineEntry struct {
	severity model.Severity // the worst
	count    int
	matched  int // how many were found again
}

// BaselineResult says what of a baseline was found again.
type BaselineResult struct {
	From string `json:"from"` // git:REV, or the name of the file or folder
	// errors and warnings that were there before, which Items does not have; it has no such notes
	// either
	Known int      `json:"known"`
	Gone  []string `json:"gone,omitempty"` // those that were there before and are not any more

	isFile bool
}

// NewBaseline makes the baseline of what was found in an earlier state of the input. What did not
// count there is new where it counts.
func NewBaseline(from string, before []Finding) *Baseline {
	b := &Baseline{From: from, entries: map[baselineKey]*baselineEntry{}}
	for i := range before {
		if f := &before[i]; f.Suppressed == nil {
			b.addEntry(f.baselineKey(), f.Severity, 1)
		}
	}
	return b
}

// addEntry counts a finding count more times, at the worst severity of all.
func (b *Baseline) addEntry(key baselineKey, severity model.Severity, count int) {
	e := b.entries[key]
	if e == nil {
		e = &baselineEntry{severity: severity}
		b.entries[key] = e
	}
	if severity.Compare(e.severity) < 0 {
		e.severity = severity
	}
	e.count += count
}

// Texts in which something counts that moves when other things change: lines of files, and rules
// that have no name but their number.
var (
	lineBehindFile = regexp.MustCompile(`(\.(?:ya?ml|json)):\d+`)
	numberedRule   = regexp.MustCompile(`\brule-\d+\b`)
)

// baselineKey returns what the finding is recognised by in a baseline.
func (f *Finding) baselineKey() baselineKey {
	key := baselineKey{id: f.ID, message: cmp.Or(f.cause.ofSeveral, f.Message)}
	key.message = numberedRule.ReplaceAllString(lineBehindFile.ReplaceAllString(key.message, "$1"), "rule-N")
	switch {
	case f.Ref != nil:
		key.object = numberedRule.ReplaceAllString(f.Ref.String(), "rule-N")
	case f.Origin != nil:
		key.file = cmp.Or(f.Origin.File, f.Origin.Cluster)
	}
	return key
}

// matchFinding reports whether a finding was there before, at least as severe. Of equal findings, it
// matches as many as the baseline counts.
func (b *Baseline) matchFinding(f *Finding) bool {
	e := b.entries[f.baselineKey()]
	if e == nil || e.matched == e.count || e.severity.Compare(f.Severity) > 0 {
		return false
	}
	e.matched++
	return true
}

// LeaveOut takes out the findings that a baseline has. It is called before causes are folded.
func (r *Report) LeaveOut(b *Baseline) {
	var known []Finding
	items := []Finding{}
	for _, f := range r.Items {
		switch {
		case f.Suppressed != nil || !b.matchFinding(&f):
			items = append(items, f)
		case f.Severity != model.Info:
			known = append(known, f)
		}
	}
	r.Items = items
	r.Baseline = &BaselineResult{From: b.From, Known: len(foldCauses(known)), Gone: b.listGone(),
		isFile: b.isFile}
	r.countItems()
}

// listGone names what was not found again, each with how often. Notes are left out.
func (b *Baseline) listGone() []string {
	var out []string
	for key, e := range b.entries {
		if e.matched == e.count || e.severity == model.Info {
			continue
		}
		text := key.id + " " + cmp.Or(key.object, key.file) + ": " + key.message
		if n := e.count - e.matched; n > 1 {
			text += fmt.Sprintf(" (%d times)", n)
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

// baselineFile is the form in which a baseline is written.
type baselineFile struct {
	Findings []baselineItem `yaml:"findings"`
}

type baselineItem struct {
	ID       string         `yaml:"id"`
	Object   string         `yaml:"object,omitempty"`
	File     string         `yaml:"file,omitempty"`
	Message  string         `yaml:"message"`
	Severity model.Severity `yaml:"severity"`
	Count    int            `yaml:"count,omitempty"`
}

// baselineHeader says to whoever opens the file what it is.
const baselineHeader = `# Findings that "kubectl dopolicy check --baseline" leaves out, because they were there before (docs/ci.md).
# Written by --write-baseline.
`

// WriteBaseline returns the text of a baseline file with all findings that count and are no notes,
// and how many there are.
func (r *Report) WriteBaseline() ([]byte, int, error) {
	found := slices.DeleteFunc(slices.Clone(r.Items), func(f Finding) bool {
		return f.Suppressed != nil || f.Severity == model.Info && !r.Failing(f)
	})
	b := NewBaseline("", found)
	file := baselineFile{Findings: []baselineItem{}}
	for key, e := range b.entries {
		item := baselineItem{ID: key.id, Object: key.object, File: key.file, Message: key.message, Severity: e.severity}
		if e.count > 1 {
			item.Count = e.count
		}
		file.Findings = append(file.Findings, item)
	}
	slices.SortFunc(file.Findings, func(a, b baselineItem) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Object, b.Object), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Message, b.Message))
	})
	var out bytes.Buffer
	out.WriteString(baselineHeader)
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(file); err != nil {
		return nil, 0, fmt.Errorf("writing the baseline: %w", err)
	}
	return out.Bytes(), len(found), nil
}

// ParseBaseline reads the file of a baseline. Errors are *ConfigError, with the place. A finding
// that there is no more does no harm.
func ParseBaseline(name string, text []byte) (*Baseline, error) {
	b := NewBaseline(name, nil)
	b.isFile = true
	r := configReader{file: name, hint: "write it with --write-baseline; the format is described in docs/ci.md"}
	doc, err := r.readDocument(text)
	if err != nil || len(doc.Content) == 0 {
		return b, err
	}
	return b, r.readObject(doc.Content[0], "the file", []configField{{"findings", func(n *yaml.Node) error {
		return r.readList(n, "findings", func(n *yaml.Node) error { return r.readBaselineItem(n, b) })
	}}})
}

func (r configReader) readBaselineItem(n *yaml.Node, b *Baseline) error {
	key, severity, count := baselineKey{}, string(model.Error), 1
	text := func(name string, to *string) configField {
		return configField{name, func(n *yaml.Node) (err error) { *to, err = r.readText(n, name); return err }}
	}
	err := r.readObject(n, "an entry of findings", []configField{text("id", &key.id), text("object", &key.object),
		text("file", &key.file), text("message", &key.message),
		{"severity", func(n *yaml.Node) (err error) {
			severity, err = r.readWord(n, "severity", []string{string(model.Error), string(model.Warning),
				string(model.Info)})
			return err
		}},
		{"count", func(n *yaml.Node) error {
			number, err := strconv.Atoi(n.Value)
			if err != nil || number < 1 {
				return r.newError(n, "", "count has to be a number from 1 on")
			}
			count = number
			return nil
		}}})
	switch {
	case err != nil:
		return err
	case key.id == "" || key.message == "":
		return r.newError(n, "", "an entry of findings needs an id and a message")
	}
	b.addEntry(key, model.Severity(severity), count)
	return nil
}

// formatKnown says how a baseline changed what is listed: "" without one.
func (b *BaselineResult) formatKnown() string {
	if b == nil || b.Known == 0 {
		return ""
	}
	was := "findings were"
	if b.Known == 1 {
		was = "finding was"
	}
	return fmt.Sprintf("; %d %s there before (%s)", b.Known, was, b.From)
}

// listGoneLines says what the file of a baseline need not have any more.
func (b *BaselineResult) listGoneLines() []string {
	if b == nil || len(b.Gone) == 0 || !b.isFile {
		return nil
	}
	names := listing{"", fmt.Sprintf("no longer found, of %s: ", b.From), b.Gone, "; --write-baseline drops them"}
	return []string{names.formatText(maxNamed)}
}
