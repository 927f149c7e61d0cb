package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// quiet are labels that the picture tells in another way, or in a place of their own.
var quiet = []string{"policyKind", "state", "request", "mesh", "class", "hostnames", "hostname", "port", "protocol", "matches", "count"}

// facts are the lines below the name of an object.
func facts(b *box) []string {
	var out []string
	if b.class != "" {
		out = append(out, "class "+b.class)
	}
	if hosts := b.node.Labels["hostnames"]; hosts != "" {
		out = append(out, hosts)
	}
	return append(out, otherFacts(b.node)...)
}

// otherFacts are the labels that have no place of their own.
func otherFacts(n *view.GraphNode) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
		if n.Labels[key] != "" && !slices.Contains(quiet, key) {
			out = append(out, key+": "+n.Labels[key])
		}
	}
	return out
}

// sectionFact is what stands beside the name of a section: what a listener listens on, what a rule takes.
func sectionFact(n *view.GraphNode) string {
	parts := []string{}
	if port := n.Labels["port"]; port != "" {
		parts = append(parts, ":"+port)
	}
	for _, key := range []string{"protocol", "hostname", "hostnames", "matches"} {
		if n.Labels[key] != "" {
			parts = append(parts, n.Labels[key])
		}
	}
	return strings.Join(append(parts, otherFacts(n)...), " ")
}

// memberTitle says what a collapsed node stands for: "480 HTTPRoutes", "12 rules".
func memberTitle(n *view.GraphNode) string {
	count := len(n.Members)
	what := cmp.Or(n.Ref.Kind, n.Kind)
	if isSection(n) {
		what = n.Kind
	}
	if what == "" {
		what = "object"
	}
	return fmt.Sprintf("%d %s", count, plural(what, count))
}

func plural(what string, count int) string {
	switch {
	case count == 1:
		return what
	case strings.HasSuffix(what, "y") && !strings.HasSuffix(what, "ay"):
		return strings.TrimSuffix(what, "y") + "ies"
	case strings.HasSuffix(what, "s"):
		return what + "es"
	}
	return what + "s"
}

// samples are some names of what a collapsed node stands for.
func (d *clusters) samples(n *view.GraphNode) string {
	var b strings.Builder
	for i, m := range n.Members {
		if i == samplesShow {
			b.WriteString(d.text(fmt.Sprintf("and %d more", len(n.Members)-i), d.c.muted, smallSize) + left)
			break
		}
		name := m.Name
		if m.Section != "" {
			name = m.Section
		}
		b.WriteString(d.text(clip(name, nameWidth), d.c.muted, smallSize) + left)
	}
	return b.String()
}
