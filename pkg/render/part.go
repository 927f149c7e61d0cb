package render

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Part is what one of several clusters answers, laid out in the format in which all of them are written. It holds nothing of the answer itself, so
// that this can be forgotten.
type Part struct {
	stamp    Stamp
	options  Options
	kind     string // of the answer
	failed   bool   // there is no answer
	complete bool
	problems []model.Problem

	text  []byte   // all of it; in JSON what is beside the items
	items [][]byte // in JSON
	table view.Table
}

// JoinedFormats are the formats in which the answers of several clusters can be written as one.
func JoinedFormats() []string {
	return []string{string(Table), string(Wide), string(Grouped), string(Tree), string(YAML), string(JSON), string(NDJSON), string(Name)}
}

// NewPart lays out the answer of the cluster that the options' Stamp names.
func NewPart(v View, o Options) (*Part, error) {
	if o.Template != nil || !slices.Contains(JoinedFormats(), string(o.Format)) {
		return nil, fmt.Errorf("the answers of several clusters cannot be written as %s, use one of %s", o.Format, strings.Join(JoinedFormats(), ", "))
	}
	_, failed := v.(*view.ClusterFailure)
	if supported := formats(v); !failed && !slices.Contains(supported, string(o.Format)) {
		return nil, fmt.Errorf("unknown output format %q, use one of %s", o.Format, strings.Join(supported, ", "))
	}
	p := &Part{stamp: o.Stamp, options: o, failed: failed}
	if e, ok := v.(opened); ok {
		p.complete, p.problems, p.kind = e.Opening().Complete, e.Opening().Problems, e.Opening().Kind
	}
	switch o.Format {
	case Tree, Name:
		if failed { // which is told beside the answers
			return p, nil
		}
	case Table, Wide, Grouped:
		return p, p.lay(v)
	case JSON:
		return p, p.json(v)
	}
	var text bytes.Buffer
	w := bufio.NewWriter(&text)
	if err := p.write(w, v); err != nil {
		return nil, err
	}
	err := w.Flush()
	p.text = text.Bytes()
	return p, err
}

// write writes formats that are the answers one after the other.
func (p *Part) write(w *bufio.Writer, v View) error {
	switch p.options.Format {
	case YAML:
		return p.yaml(w, v)
	case Name:
		n, _ := v.(nameView)
		if n == nil {
			return nil
		}
		pr := printer{w: w, style: style{ascii: p.options.ASCII}}
		for _, name := range n.Names() {
			pr.line(pr.style.text(p.stamp.Cluster), " ", pr.style.text(name))
		}
		return nil
	case Tree:
		pr := printer{w: w, style: style{color: p.options.Color, ascii: p.options.ASCII}}
		pr.line(pr.style.text("cluster " + p.stamp.Cluster))
		pr.line()
	}
	return write(w, v, p.options)
}

func (p *Part) yaml(w *bufio.Writer, v View) error {
	lines, err := p.stamp.lines()
	if err != nil {
		return err
	}
	_, _ = w.Write(lines)
	return writeYAMLStamped(w, v, lines)
}

// json lays out the items, and what of the answer is beside them. An answer without items is an item by itself.
func (p *Part) json(v View) error {
	const inner = "    "
	lead := p.stamp.members()
	item, head := newJSONText(inner), newJSONText(inner)
	item.lead, head.lead = lead[:min(1, len(lead))], lead
	head.skip = []string{`"apiVersion"`, `"kind"`, `"items"`, `"problems"`}
	rest, items, listed := itemsApart(v)
	switch {
	case listed:
	case p.failed:
		rest, items = v, func(func(any) bool) {}
	default:
		item.skip = head.skip[:2]
		p.kind += "List"
		rest, items = &view.ClusterFailure{Envelope: view.Envelope{Complete: p.complete}}, func(yield func(any) bool) { yield(v) }
	}
	for one := range items {
		text, err := item.of(one)
		if err != nil {
			return err
		}
		p.items = append(p.items, bytes.Clone(bytes.TrimSuffix(text, []byte("\n"))))
	}
	text, err := head.of(rest)
	p.text = bytes.Clone(bytes.TrimSuffix(text, []byte("\n")))
	return err
}

// lay makes a table whose rows begin with the cluster. Its texts are copies: those of an answer may be pieces of all that was read.
func (p *Part) lay(v View) error {
	o := p.options
	o.Table.Wide, o.Table.Grouped, o.Table.Terminal = o.Format == Wide, o.Format == Grouped, o.Terminal
	t := v.Table(o.Table)
	for i := range t.Blocks {
		b := &t.Blocks[i]
		b.Heading = p.labelled(b.Heading)
		if len(b.Rows) == 0 {
			continue
		}
		width, first := len(b.Columns), view.Column{}
		if _, named := headerOf(b); named {
			first.Name = "CLUSTER"
		}
		b.Columns = append([]view.Column{first}, b.Columns...)
		for r, row := range b.Rows {
			label := p.stamp.Cluster
			if len(row) < width && row[0].Text == "" { // it goes on from the row above
				label = ""
			}
			out := append(make([]view.Cell, 0, len(row)+1), view.Cell{Text: label})
			for _, cell := range row {
				out = append(out, view.Cell{Text: strings.Clone(cell.Text), Tone: cell.Tone})
			}
			b.Rows[r] = out
		}
	}
	t.Footer = slices.DeleteFunc(t.Footer, func(line string) bool { return line == "" })
	p.table = t
	return nil
}

// labelled are lines behind the name of the cluster.
func (p *Part) labelled(lines []string) []string {
	var out []string
	for _, line := range lines {
		if line != "" {
			out = append(out, p.stamp.Cluster+": "+line)
		}
	}
	return out
}
