package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/picture"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// Format is a form of output, as written behind -o.
type Format string

// The formats. The empty Format is Table.
const (
	Table   Format = "table"
	Wide    Format = "wide"
	Grouped Format = "grouped"
	Tree    Format = "tree"
	Name    Format = "name"
	YAML    Format = "yaml"
	JSON    Format = "json"
	NDJSON  Format = "ndjson"
	DOT     Format = "dot"
	Mermaid Format = "mermaid"
	SVG     Format = "svg"
	PNG     Format = "png"
	SARIF   Format = "sarif"
	JUnit   Format = "junit"
	GitHub  Format = "github"

	OpenMetrics Format = "openmetrics"

	Unified  Format = "unified"
	Markdown Format = "markdown"
)

// View is an answer that can be written. As YAML and JSON it is what its struct tags say.
type View interface {
	Table(view.TableOptions) view.Table
}

// treeView is a view that has a tree.
type treeView interface {
	Tree(view.TableOptions) []view.Branch
}

// nameView is a view that is about objects; the names are in the form kind.group/name.
type nameView interface {
	FilterNames() []string
}

// Options say how a view is written.
type Options struct {
	Format    Format
	Table     view.TableOptions  // Wide is set by the format
	NoHeaders bool               // leave out the line of column names
	Color     bool               // repeat in colour what the text says
	ASCII     bool               // draw tables and trees with ASCII only
	Template  *Template          // what to print, instead of a Format
	Runner    bool               // a CI runner reads it, which takes some of it as commands
	Terminal  bool               // the output is a terminal: what a Template prints of the answer is escaped
	SortBy    []string           // columns to sort the rows of a table by
	Width     int                // columns of the terminal that tables have to fit into; 0: any
	Version   string             // of the program, for formats that name it
	Root      string             // the folder that the program runs in, for formats that others look for files with
	Draw      Drawer             // draws SVG and PNG; nil: nothing does
	Stamp     Stamp              // what the answer is about
	DOT       picture.DOTOptions // how DOT is written, and pictures are drawn
}

// Drawer makes a picture in a format, SVG or PNG, of a graph in the DOT language.
type Drawer func(format string, dot []byte) ([]byte, error)

// supportedFormats lists what v can be written as. Only its type matters: a nil pointer will do.
func supportedFormats(v View) []string {
	out := []string{string(Table), string(Wide)}
	if _, ok := v.(*effective.EffectivePolicyList); ok {
		out = append(out, string(Grouped))
	}
	if _, ok := v.(treeView); ok {
		out = append(out, string(Tree))
	}
	if _, ok := v.(nameView); ok {
		out = append(out, string(Name))
	}
	if _, ok := v.(diffView); ok {
		out = append(out, string(Unified))
	}
	if _, ok := v.(commentView); ok {
		out = append(out, string(Markdown))
	}
	if _, ok := v.(headlineView); ok {
		out = append(out, string(Markdown))
	}
	out = append(out, string(YAML), string(JSON), string(NDJSON))
	if _, ok := v.(*graph.Topology); ok {
		out = append(out, string(DOT), string(Mermaid), string(SVG), string(PNG))
	}
	if _, ok := v.(*requirement.TestReport); ok {
		out = append(out, string(JUnit))
	}
	if _, ok := v.(*check.Report); ok {
		out = append(out, string(SARIF), string(JUnit), string(GitHub))
	}
	if _, ok := v.(metricView); ok {
		out = append(out, string(OpenMetrics))
	}
	return out
}

// Write writes v to w in the format of o. It returns an error if v has no such form, a
// *TemplateError if the template does not suit the answer, a *DrawError if a picture cannot be
// drawn, else what w returned.
func Write(w io.Writer, v View, o Options) error {
	if o.Format == "" {
		o.Format = Table
	}
	if supported := supportedFormats(v); o.Template == nil && !slices.Contains(supported, string(o.Format)) {
		return fmt.Errorf("unknown output format %q, use one of %s", o.Format, strings.Join(supported, ", "))
	}
	if o.Runner && o.isText() {
		w = escape.NewRunnerWriter(w)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if err := writeFormat(out, v, o); err != nil {
		return err
	}
	return out.Flush()
}

// isText reports whether what is written is for people, without escapes of its own.
func (o Options) isText() bool {
	return o.Template != nil || !slices.Contains([]Format{YAML, JSON, NDJSON, SARIF, JUnit, GitHub, SVG, PNG, OpenMetrics},
		o.Format)
}

func writeFormat(w *bufio.Writer, v View, o Options) error {
	if o.Template != nil {
		return writeTemplate(w, v, o.Template, o)
	}
	if r, ok := v.(*check.Report); ok {
		switch o.Format {
		case SARIF:
			return writeSARIF(w, r, o)
		case JUnit:
			return writeJUnit(w, r, o)
		case GitHub:
			return writeGitHub(w, r, o)
		}
	}
	if r, ok := v.(*requirement.TestReport); ok && o.Format == JUnit {
		return writeTestJUnit(w, r)
	}
	p := &printer{w: w, style: textStyle{color: o.Color, ascii: o.ASCII}, width: o.Width}
	switch o.Format {
	case JSON:
		return writeJSON(w, v)
	case NDJSON:
		return writeNDJSON(w, v, o.Stamp)
	case YAML:
		return writeYAML(w, v)
	case DOT:
		if t, ok := v.(*graph.Topology); ok {
			picture.WriteDOT(w, t, o.DOT)
		}
	case Mermaid:
		if t, ok := v.(*graph.Topology); ok {
			picture.WriteMermaid(w, t)
		}
	case SVG, PNG:
		if t, ok := v.(*graph.Topology); ok {
			return writePicture(w, t, o)
		}
	case Unified:
		if t, ok := v.(diffView); ok {
			return writeUnified(w, t)
		}
	case OpenMetrics:
		if m, ok := v.(metricView); ok {
			return writeOpenMetrics(w, gatherMetrics(m, o))
		}
	case Markdown:
		if c, ok := v.(commentView); ok {
			return writeMarkdown(w, c, o.Table)
		}
		if h, ok := v.(headlineView); ok {
			return writeHeadline(w, h, o.Table)
		}
	case Name:
		if n, ok := v.(nameView); ok {
			p.writeNames(n.FilterNames())
		}
	case Tree:
		if t, ok := v.(treeView); ok {
			p.writeTree(t.Tree(o.Table))
		}
	default:
		return p.writeSortedTable(v, o)
	}
	return nil
}

// writeSortedTable writes an answer as a table, its rows sorted as the options say.
func (p *printer) writeSortedTable(v View, o Options) error {
	o.Table.Wide, o.Table.Grouped, o.Table.Terminal = o.Format == Wide, o.Format == Grouped, o.Terminal
	t := v.Table(o.Table)
	if len(o.SortBy) > 0 {
		if err := sortTable(&t, o.SortBy); err != nil {
			return err
		}
	}
	p.writeTable(t, o)
	return nil
}
