package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// The labels that say what a node stands for. Count is how many objects there are, or of namespaces
// how many namespaces; Sample has the first names.
const (
	labelCount     = "count"
	labelSample    = "sample"
	labelRules     = "rules"    // how many rules the routes have
	labelListeners = "listens"  // of Gateways whose listeners are not drawn: what these listen on
	labelContents  = "holds"    // of namespaces: what is in them
	labelMissing   = "missing"  // how much of that is not in the input
	labelPolicies  = "policies" // the states of the policies in them
)

// describeGroup makes a node stand for several that look alike.
func (f *folding) describeGroup(g *GraphNode, members []int32) {
	if topology.Role(g.Kind) == topology.Namespace {
		f.describeNamespaces(g, members)
		return
	}
	refs := f.membersOf(members)
	g.Labels, g.Members = f.commonLabels(members), refs
	delete(g.Labels, labelRules)
	g.Labels[labelCount], g.Labels[labelSample] = strconv.Itoa(len(refs)), joinSampleNames(refs)
	setLabel(g.Labels, labelRules, formatLabelCount(f.sumLabel(members, labelRules)))
	g.Ref.Name = ""
	for _, r := range refs {
		if r.Namespace != refs[0].Namespace {
			g.Ref.Namespace = ""
		}
		if r.Section != refs[0].Section {
			g.Ref.Section = ""
		}
	}
}

// describeNamespace makes a node stand for what is in a namespace.
func (f *folding) describeNamespace(g *GraphNode, members []int32) {
	space := g.Ref.Namespace
	if topology.Role(g.Kind) == topology.Namespace {
		space = g.Ref.Name
	}
	var refs []model.Ref
	labels := map[string]string{}
	became, rules, missing := policyTally{}, 0, 0
	for _, i := range members {
		n := &f.from.Nodes[i]
		rules += readLabelCount(n.Labels, labelRules)
		if n.Labels["request"] != "" {
			labels["request"] = n.Labels["request"]
		}
		if n.Labels["state"] == stateMissing {
			missing++
			continue
		}
		if !isPart(n) {
			refs = append(refs, n.Ref)
		}
		if topology.Role(n.Kind) == topology.Rule {
			rules++
		}
		if n.Kind == policyKind {
			became[f.policyState(int(i))]++
		}
	}
	slices.SortFunc(refs, model.Ref.Compare)
	g.ID, g.Kind = refID(model.Ref{Kind: "Namespace", Name: space}), string(topology.Namespace)
	g.Ref, g.Members, g.Labels = model.Ref{Kind: "Namespace", Namespace: space}, refs, labels
	f.setNamespaceLabels(g, rules, missing, became)
}

// describeNamespaces makes a node stand for several namespaces.
func (f *folding) describeNamespaces(g *GraphNode, members []int32) {
	var names []model.Ref
	spaces, became := 0, policyTally{}
	for _, i := range members {
		n := &f.from.Nodes[i]
		spaces += max(1, readLabelCount(n.Labels, labelCount))
		if n.Ref.Namespace != "" {
			names = append(names, model.Ref{Name: n.Ref.Namespace})
		}
		became.addText(n.Labels[labelPolicies])
	}
	told := joinSampleNames(names)
	if len(names) == 0 {
		told = f.from.Nodes[members[0]].Labels[labelSample]
	}
	rules, missing := f.sumLabel(members, labelRules), f.sumLabel(members, labelMissing)
	g.Members, g.Labels = f.membersOf(members), f.commonLabels(members)
	maps.DeleteFunc(g.Labels, func(key, _ string) bool { return key != "request" })
	g.Ref = model.Ref{Kind: "Namespace"}
	g.Labels[labelCount], g.Labels[labelSample] = strconv.Itoa(spaces), told
	f.setNamespaceLabels(g, rules, missing, became)
}

// setNamespaceLabels sets the labels that say what a node of namespaces stands for.
func (f *folding) setNamespaceLabels(g *GraphNode, rules, missing int, became policyTally) {
	kinds := map[string]int{ruleNoun: rules}
	for _, r := range g.Members {
		kinds[r.Kind]++
	}
	var holds []string
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), compareKinds) {
		if kinds[kind] > 0 {
			holds = append(holds, formatPlural(kinds[kind], kind))
		}
	}
	setLabel(g.Labels, labelContents, strings.Join(holds, ", "))
	setLabel(g.Labels, labelRules, formatLabelCount(rules))
	setLabel(g.Labels, labelMissing, formatLabelCount(missing))
	setLabel(g.Labels, labelPolicies, became.String())
}

// CollectiveName returns the name of a node that stands for several objects: "334 HTTPRoutes in
// shop (cart, search, …)", "Namespace shop: 12 HTTPRoutes, 20 rules", "1000 namespaces (a, b, c,
// …)". It is "" for a node that stands for itself.
func (n *GraphNode) CollectiveName() string {
	total := readLabelCount(n.Labels, labelCount)
	switch {
	case n.Ref.Name != "":
		return ""
	case topology.Role(n.Kind) != topology.Namespace:
		text := formatPlural(total, n.Ref.Kind)
		if n.Ref.Namespace != "" {
			text += " in " + n.Ref.Namespace
		}
		if n.Ref.Section != "" {
			return text + " " + n.formatSample(total) + " " + n.Ref.Section
		}
		return text + " " + n.formatSample(total)
	case n.Ref.Namespace != "":
		return strings.TrimSuffix("Namespace "+n.Ref.Namespace+": "+n.Labels[labelContents], ": ")
	}
	return view.FormatCount(total, "namespace") + " " + n.formatSample(total)
}

// formatSample returns the first names of so many, in brackets.
func (n *GraphNode) formatSample(total int) string {
	if total > maxSampleNames {
		return "(" + n.Labels[labelSample] + ", …)"
	}
	return "(" + n.Labels[labelSample] + ")"
}

// ruleNoun is what rules of routes are called among kinds.
const ruleNoun = "rule"

// compareKinds orders kinds: routes and their rules first, policies last.
func compareKinds(a, b string) int {
	rank := func(kind string) int {
		switch {
		case strings.HasSuffix(kind, "Route"):
			return 0
		case kind == ruleNoun:
			return 1
		case strings.HasSuffix(kind, "Policy"):
			return 3
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// formatPlural counts things: "1 rule", "12 RateLimitPolicies".
func formatPlural(n int, noun string) string {
	if stem, y := strings.CutSuffix(noun, "y"); y && n != 1 && !strings.HasSuffix(stem, "a") &&
		!strings.HasSuffix(stem, "e") {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	if strings.HasSuffix(noun, "ss") && n != 1 {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	if strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return view.FormatCount(n, noun)
}

// sumLabel adds up the numbers of a label.
func (f *folding) sumLabel(members []int32, label string) int {
	n := 0
	for _, i := range members {
		n += readLabelCount(f.from.Nodes[i].Labels, label)
	}
	return n
}

// policyState returns the state of a policy at all of its targets together.
func (f *folding) policyState(i int) string {
	words := map[string]bool{}
	for _, e := range f.edgesFrom(i) {
		if e.Kind == EdgeTargets {
			words[e.State] = true
		}
	}
	switch {
	case len(words) == 0:
		return stateNotAttached
	case len(words) == 1 && words[""]:
		return "unreached"
	case len(words) == 1 && words[EdgeDangling]:
		return EdgeDangling
	}
	if word := joinStates(words); word != EdgeConditionFalse {
		return word
	}
	return conditionFalseText
}

// conditionFalseText is what people read for EdgeIdle.
const conditionFalseText = "condition false"

// policyTally counts policies by state.
type policyTally map[string]int

// String lists what there is, the best first.
func (t policyTally) String() string {
	var out []string
	for _, word := range []string{EdgeFullyEffective, EdgePartial, EdgeFullyOverridden, conditionFalseText,
		"unreached", EdgeDangling, stateNotAttached} {
		if t[word] > 0 {
			out = append(out, strconv.Itoa(t[word])+" "+word)
		}
	}
	return strings.Join(out, ", ")
}

// addText adds the counts of a text that String wrote.
func (t policyTally) addText(text string) {
	for _, entry := range strings.Split(text, ", ") {
		if n, word, ok := strings.Cut(entry, " "); ok {
			if number, err := strconv.Atoi(n); err == nil {
				t[word] += number
			}
		}
	}
}
