package picture

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// Layout is the way in which a picture is drawn.
type Layout string

// The layouts. LayoutClusters is for people: namespaces are frames, routes are tables of their
// rules. LayoutFlat is for programs that read topologies: a node for each target and policy,
// labelled with its kind and name, and the edges of traffic and attachment only.
const (
	LayoutClusters Layout = "clusters"
	LayoutFlat     Layout = "flat"
)

// Layouts lists the layouts.
func Layouts() []string { return []string{string(LayoutClusters), string(LayoutFlat)} }

// DOTOptions say how DOT is written. The zero value draws clusters for light ground, without links.
type DOTOptions struct {
	Layout Layout
	Theme  Theme
	Links  func(node string) string // where a node leads to, by its id; "" is nowhere
}

// linkOf returns the link of a node. What URLs do not hold is written as %XX, and so is &, which
// Graphviz does not always escape.
func (o DOTOptions) linkOf(node string) string {
	if o.Links == nil {
		return ""
	}
	return percentEncode(o.Links(node), "-_.~/:#?=@,%!$()*+;")
}

// FormatDOT returns t as a text for Graphviz. The order of nodes and edges in t changes no byte of
// it, and whatever names contain, it is valid.
func FormatDOT(t *graph.Topology, o DOTOptions) []byte {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	WriteDOT(w, t, o)
	_ = w.Flush() // writing to a buffer does not fail
	return out.Bytes()
}

func WriteDOT(w *bufio.Writer, t *graph.Topology, o DOTOptions) {
	if o.Layout == LayoutFlat {
		writeFlat(indentWriter{w}, t, o)
		return
	}
	writeClusters(indentWriter{w}, NewPicture(t), o)
}

// attribute is one attribute of a node, an edge or a table cell.
type attribute struct{ name, value string }

// formatAttributes writes the attributes that have a value, as DOT does.
func formatAttributes(list ...attribute) string {
	var out []string
	for _, a := range list {
		if a.value != "" {
			out = append(out, a.name+"="+quoteDOT(a.value))
		}
	}
	return strings.Join(out, ", ")
}

// quoteDOT is a quoted text of several lines.
func quoteDOT(lines ...string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	out := make([]string, len(lines))
	for i, s := range lines {
		out[i] = quote.Replace(escape.Escape(s))
	}
	return `"` + strings.Join(out, `\n`) + `"`
}

// escapeEntities escapes a text in an attribute in which Graphviz looks for entities.
func escapeEntities(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// QuoteNodeID is a quoted node name. Characters other than letters, digits and a few marks are
// written as %XX, so that different names stay different and quoting has no cases.
func QuoteNodeID(id string) string { return `"` + percentEncode(id, "-_./: #@,=") + `"` }

// formatElementID is the id of the element that stands for a node.
func formatElementID(id string) string {
	return "n-" + strings.ReplaceAll(percentEncode(id, "-_./"), "%", ":")
}

// percentEncode writes everything but letters, digits and some other characters as %XX.
func percentEncode(id, plain string) string {
	var b strings.Builder
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
