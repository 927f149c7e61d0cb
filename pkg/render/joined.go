package render

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/metric"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// joinedRows is how many rows of a table are held back, so that they share the widths of their
// columns.
const joinedRows = 5000

// JoinedWriter writes the answers of several clusters as one, in the order in which they come. Of
// what was written it keeps, in JSON, what is beside the items; of a table some thousand rows are
// held back.
type JoinedWriter struct {
	w     io.Writer
	parts int
	last  *ClusterPart // the options of a table and of what comes at the end

	table  view.Table
	footer []footerLine
	rows   int

	opened   bool // the items follow
	items    int
	heads    [][]byte
	complete bool
	problems []joinedProblem

	metrics []metric.Family // of all parts: a family is written as one
}

// joinedProblem is a problem with the cluster that has it.
type joinedProblem struct {
	Cluster string `json:"cluster,omitempty"`
	model.Problem
}

// NewJoinedWriter writes to w.
func NewJoinedWriter(w io.Writer) *JoinedWriter { return &JoinedWriter{w: w, complete: true} }

// Write writes what follows.
func (j *JoinedWriter) Write(p *ClusterPart) error {
	j.parts++
	j.last = p
	switch p.options.Format {
	case Table, Wide, Grouped:
		j.addTable(p.stamp.Cluster, p.table)
		if j.rows < joinedRows {
			return nil
		}
		return j.flushTable()
	case JSON:
		return j.writeItems(p)
	case OpenMetrics:
		j.metrics = append(j.metrics, p.metrics...)
		return nil
	case YAML:
		if j.parts > 1 {
			if _, err := io.WriteString(j.w, "---\n"); err != nil {
				return err
			}
		}
	case Tree:
		if j.parts > 1 && len(p.text) > 0 {
			if _, err := io.WriteString(j.w, "\n"); err != nil {
				return err
			}
		}
	}
	_, err := j.w.Write(p.text)
	return err
}

// addTable adds the blocks of a table. Rows below the same column names become one block.
func (j *JoinedWriter) addTable(cluster string, t view.Table) {
	for _, b := range t.Blocks {
		j.rows += len(b.Rows)
		if last := len(j.table.Blocks) - 1; last >= 0 && len(b.Heading) == 0 &&
			len(j.table.Blocks[last].Heading) == 0 && haveSameColumns(b.Columns, j.table.Blocks[last].Columns) {
			j.table.Blocks[last].Rows = append(j.table.Blocks[last].Rows, b.Rows...)
			continue
		}
		j.table.Blocks = append(j.table.Blocks, b)
	}
	for _, line := range t.Footer {
		at := slices.IndexFunc(j.footer, func(c footerLine) bool { return c.text == line })
		if at < 0 {
			at = len(j.footer)
			j.footer = append(j.footer, footerLine{text: line})
			j.rows++
		}
		j.footer[at].clusters = append(j.footer[at].clusters, cluster)
	}
}

// footerLine is a line below a table, with the clusters whose tables have it.
type footerLine struct {
	text     string
	clusters []string
}

// maxNamedClusters is how many clusters are named before one line.
const maxNamedClusters = 5

// formatFooter returns the lines below a table, each behind the clusters that it is about.
func (j *JoinedWriter) formatFooter() []string {
	var out []string
	for _, line := range j.footer {
		named := line.clusters[:min(len(line.clusters), maxNamedClusters)]
		who := strings.Join(named, ", ")
		if rest := len(line.clusters) - len(named); rest > 0 {
			who += fmt.Sprintf(" and %d more", rest)
		}
		out = append(out, who+": "+line.text)
	}
	return out
}

// haveSameColumns reports whether rows can stand below one another.
func haveSameColumns(a, b []view.Column) bool {
	return slices.EqualFunc(a, b, func(a, b view.Column) bool { return a.Name == b.Name && a.Wide == b.Wide })
}

// flushTable writes the rows that were held back.
func (j *JoinedWriter) flushTable() error {
	if len(j.table.Blocks) == 0 && len(j.footer) == 0 {
		return nil
	}
	j.table.Footer = j.formatFooter()
	o := j.last.options
	if len(o.SortBy) > 0 {
		if err := sortTable(&j.table, o.SortBy); err != nil {
			return err
		}
	}
	to := j.w
	if o.Runner {
		to = escape.NewRunnerWriter(to)
	}
	w := bufio.NewWriterSize(to, 1<<16)
	p := &printer{w: w, style: textStyle{color: o.Color, ascii: o.ASCII}, width: o.Width}
	p.writeTable(j.table, o)
	j.table, j.footer, j.rows = view.Table{}, nil, 0
	return w.Flush()
}

// writeItems writes the items of a part.
func (j *JoinedWriter) writeItems(p *ClusterPart) error {
	j.heads = append(j.heads, p.text)
	j.complete = j.complete && p.complete
	for _, one := range p.problems {
		j.problems = append(j.problems, joinedProblem{p.stamp.Cluster, one})
	}
	if p.failed { // a failed part does not tell the kind of the answer
		return nil
	}
	var out bytes.Buffer
	j.openDocument(&out, p.kind)
	for _, item := range p.items {
		if j.items > 0 {
			out.WriteByte(',')
		}
		j.items++
		out.WriteString("\n    ")
		out.Write(item)
	}
	_, err := j.w.Write(out.Bytes())
	return err
}

// openDocument begins the document.
func (j *JoinedWriter) openDocument(out *bytes.Buffer, kind string) {
	if !j.opened {
		j.opened = true
		out.WriteString("{\n  \"apiVersion\": " + quoteJSON(view.APIVersion) + ",\n  \"kind\": " + quoteJSON(kind) +
			",\n  \"items\": [")
	}
}

// Close writes what is left.
func (j *JoinedWriter) Close() error {
	switch {
	case j.last == nil:
		return nil
	case j.last.options.Format == JSON:
		return j.closeJSON()
	case j.last.options.Format == OpenMetrics:
		w := bufio.NewWriter(j.w)
		if err := writeOpenMetrics(w, metric.Join(j.metrics)); err != nil {
			return err
		}
		return w.Flush()
	}
	return j.flushTable()
}

func (j *JoinedWriter) closeJSON() error {
	var out bytes.Buffer
	j.openDocument(&out, "ClusterFailure")
	if j.items > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("],\n  \"clusters\": [")
	for i, head := range j.heads {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(head)
	}
	complete := "false"
	if j.complete {
		complete = "true"
	}
	out.WriteString("\n  ],\n  \"complete\": " + complete + ",\n  \"problems\": ")
	if j.problems == nil {
		j.problems = []joinedProblem{}
	}
	text, err := newJSONText("  ").encode(j.problems)
	if err != nil {
		return err
	}
	out.Write(bytes.TrimSuffix(text, []byte("\n")))
	out.WriteString("\n}\n")
	_, err = j.w.Write(out.Bytes())
	return err
}
