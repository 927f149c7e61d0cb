package picture

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/textwidth"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// hiddenLabels are labels that the picture tells in another way, or in a place of their own.
var hiddenLabels = []string{"policyKind", "state", "request", "mesh", "class", "hostnames", "hostname", "port",
	"protocol", "matches", "count", "sample", "rules", "holds", "missing", "policies", graph.LabelPoint, graph.LabelEnforcer,
	graph.LabelStep, graph.LabelVerdict, graph.LabelBecause}

// boxFacts returns the lines below the name of an object.
func boxFacts(b *targetBox) []string {
	var out []string
	if b.class != "" {
		out = append(out, "class "+b.class)
	}
	if hosts := b.Node.Labels["hostnames"]; hosts != "" {
		out = append(out, hosts)
	}
	return slices.Concat(out, groupFacts(b.Node), otherFacts(b.Node), verdictFacts(b.Node))
}

// maxBecauseLines is how many lines say why a point decides as it does.
const maxBecauseLines = 5

// verdictFacts say why a request is denied, may be, or does not meet a point.
func verdictFacts(n *graph.GraphNode) []string {
	if v := n.Labels[graph.LabelVerdict]; v == "" || v == string(point.Allowed) {
		return nil
	}
	out := textwidth.WrapWords(n.Labels[graph.LabelBecause], nameWidth)
	if len(out) > maxBecauseLines {
		out = out[:maxBecauseLines]
		out[maxBecauseLines-1] += " …"
	}
	return out
}

// groupFacts are the lines of what stands for more than itself: some names, what is in it, and what
// became of the policies there.
func groupFacts(n *graph.GraphNode) []string {
	var out []string
	say := func(before, key, after string) {
		if n.Labels[key] != "" {
			out = append(out, foldList(before+n.Labels[key]+after, nameWidth)...)
		}
	}
	if n.Labels["sample"] != "" {
		more := ""
		if total := countMembers(n); total > strings.Count(n.Labels["sample"], ",")+1 {
			more = ", …"
		}
		say("", "sample", more)
	}
	if n.Labels["holds"] != "" {
		say("", "holds", "")
	} else if rules := n.Labels["rules"]; rules != "" {
		say("", "rules", map[bool]string{true: " rule", false: " rules"}[rules == "1"])
	}
	out = append(out, foldPolicyStates(n.Labels["policies"])...)
	say("", "missing", " not in the input")
	return out
}

// foldPolicyStates says how many policies of a group are in which state, in the words of the legend:
// "policies: 2 in force, 1 partly in force".
func foldPolicyStates(label string) []string {
	if label == "" {
		return nil
	}
	words := strings.Split(label, ", ")
	for i, word := range words {
		count, state, _ := strings.Cut(word, " ")
		if style, known := lineStyles()[state]; known && state != graph.EdgeDangling {
			words[i] = count + " " + style.meaning
		}
	}
	return foldList("policies: "+strings.Join(words, ", "), nameWidth)
}

// foldList breaks a list of words into lines of about so many characters.
func foldList(s string, most int) []string {
	var out []string
	for i, word := range strings.Split(s, ", ") {
		last := len(out) - 1
		if i > 0 && len(out[last])+len(word) < most {
			out[last] += ", " + word
			continue
		}
		if i > 0 {
			out[last] += ","
		}
		out = append(out, word)
	}
	return out
}

// countMembers is how many objects, or namespaces, a node stands for.
func countMembers(n *graph.GraphNode) int {
	if count, err := strconv.Atoi(n.Labels["count"]); err == nil {
		return count
	}
	return len(n.Members)
}

// otherFacts are the labels that have no place of their own.
func otherFacts(n *graph.GraphNode) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
		if n.Labels[key] != "" && !slices.Contains(hiddenLabels, key) {
			out = append(out, key+": "+n.Labels[key])
		}
	}
	return out
}

// sectionFact is what stands beside the name of a section: what a listener listens on, what a rule
// takes.
func sectionFact(n *graph.GraphNode) string {
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
func memberTitle(n *graph.GraphNode) string {
	count, what := countMembers(n), cmp.Or(n.Ref.Kind, n.Kind)
	if isNamespaceGroup(n) && n.Ref.Namespace != "" {
		return n.Ref.Namespace
	}
	if isSection(n) {
		what = n.Kind
	}
	if what == "" {
		what = "object"
	}
	return fmt.Sprintf("%d %s", count, pluralize(what, count))
}

func pluralize(what string, count int) string {
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

// isNamespaceGroup reports whether n stands for what is in one or several namespaces.
func isNamespaceGroup(n *graph.GraphNode) bool { return n.Kind == "namespace" && n.Ref.Name == "" }
