package render

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/metric"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// ClusterPart is what one of several clusters answers, laid out in the format in which all of them
// are written. It holds nothing of the answer itself, so that this can be released.
type ClusterPart struct {
	stamp    Stamp
	options  Options
	kind     string // of the answer
	failed   bool   // there is no answer
	complete bool
	problems []model.Problem

	text  []byte   // all of it; in JSON what is beside the items
	items [][]byte // in JSON
	table view.Table

	metrics []metric.Family // with the name of the cluster as a label
}

// JoinedFormats are the formats in which the answers of several clusters can be written as one.
func JoinedFormats() []string {
	return []string{string(Table), string(Wide), string(Grouped), string(Tree), string(YAML), string(JSON),
		string(NDJSON), string(Name), string(OpenMetrics)}
}

// NewClusterPart lays out the answer of the cluster that the options' Stamp names.
func NewClusterPart(v View, o Options) (*ClusterPart, error) {
	if o.Template != nil || !slices.Contains(JoinedFormats(), string(o.Format)) {
		return nil, fmt.Errorf("the answers of several clusters cannot be written as %s, use one of %s", o.Format,
			strings.Join(JoinedFormats(), ", "))
	}
	_, failed := v.(*view.ClusterFailure)
	if supported := supportedFormats(v); !failed && !slices.Contains(supported, string(o.Format)) {
		return nil, fmt.Errorf("unknown output format %q, use one of %s", o.Format, strings.Join(supported, ", "))
	}
	p := &ClusterPart{stamp: o.Stamp, options: o, failed: failed}
	if e, ok := v.(envelopeView); ok {
		p.complete, p.problems, p.kind = e.Opening().Complete, e.Opening().Problems, e.Opening().Kind
	}
	switch o.Format {
	case Tree, Name:
		if failed { // the failure is printed on stderr
			return p, nil
		}
	case Table, Wide, Grouped:
		return p, p.layOutTable(v)
	case JSON:
		return p, p.layOutJSON(v)
	case OpenMetrics:
		counted, _ := v.(metricView)
		for _, f := range gatherMetrics(counted, o) {
			p.metrics = append(p.metrics, f.WithLabel(clusterLabel, escapeLabel(o.Stamp.Cluster)))
		}
		return p, nil
	}
	var text bytes.Buffer
	w := bufio.NewWriter(&text)
	if err := p.writeText(w, v); err != nil {
		return nil, err
	}
	err := w.Flush()
	p.text = text.Bytes()
	return p, err
}

// writeText writes formats that are the answers one after the other.
func (p *ClusterPart) writeText(w *bufio.Writer, v View) error {
	switch p.options.Format {
	case YAML:
		return p.writeYAML(w, v)
	case Name:
		n, _ := v.(nameView)
		if n == nil {
			return nil
		}
		pr := printer{w: w, style: textStyle{ascii: p.options.ASCII}}
		for _, name := range n.FilterNames() {
			pr.writeLine(pr.style.escapeText(p.stamp.Cluster), " ", pr.style.escapeText(name))
		}
		return nil
	case Tree:
		pr := printer{w: w, style: textStyle{color: p.options.Color, ascii: p.options.ASCII}}
		pr.writeLine(pr.style.escapeText("cluster " + p.stamp.Cluster))
		pr.writeLine()
	}
	return writeFormat(w, v, p.options)
}

func (p *ClusterPart) writeYAML(w *bufio.Writer, v View) error {
	lines, err := p.stamp.yamlLines()
	if err != nil {
		return err
	}
	_, _ = w.Write(lines)
	return writeYAMLStamped(w, v, lines)
}

// layOutJSON lays out the items, and what of the answer is beside them. An answer without items is
// an item by itself.
func (p *ClusterPart) layOutJSON(v View) error {
	const inner = "    "
	lead := p.stamp.jsonMembers()
	item, head := newJSONText(inner), newJSONText(inner)
	item.lead, head.lead = lead[:min(1, len(lead))], lead
	head.skip = []string{`"apiVersion"`, `"kind"`, `"items"`, `"problems"`}
	rest, items, listed := splitItems(v)
	switch {
	case listed:
	case p.failed:
		rest, items = v, func(func(any) bool) {}
	default:
		item.skip = head.skip[:2]
		p.kind += "List"
		rest, items = &view.ClusterFailure{Envelope: view.Envelope{Complete: p.complete}},
			func(yield func(any) bool) { yield(v) }
	}
	for one := range items {
		text, err := item.encode(one)
		if err != nil {
			return err
		}
		p.items = append(p.items, bytes.Clone(bytes.TrimSuffix(text, []byte("\n"))))
	}
	text, err := head.encode(rest)
	p.text = bytes.Clone(bytes.TrimSuffix(text, []byte("\n")))
	return err
}

// layOutTable makes a table whose rows begin with the cluster. Its texts are copies: those of an
// answer may be pieces of all that was read.
func (p *ClusterPart) layOutTable(v View) error {
	o := p.options
	o.Table.Wide, o.Table.Grouped, o.Table.Terminal = o.Format == Wide, o.Format == Grouped, o.Terminal
	t := v.Table(o.Table)
	for i := range t.Blocks {
		b := &t.Blocks[i]
		b.Heading = p.labelLines(b.Heading)
		if len(b.Rows) == 0 {
			continue
		}
		width, first := len(b.Columns), view.Column{}
		if _, named := buildHeader(b); named {
			first.Name = "CLUSTER"
		}
		b.Columns = append([]view.Column{first}, b.Columns...)
		for r, row := range b.Rows {
			label := p.stamp.Cluster
			if len(row) < width && row[0].Text == "" { // it continues the row above
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

// labelLines returns the lines behind the name of the cluster.
func (p *ClusterPart) labelLines(lines []string) []string {
	var out []string
	for _, line := range lines {
		if line != "" {
			out = append(out, p.stamp.Cluster+": "+line)
		}
	}
	return out
}
