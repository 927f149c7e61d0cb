package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The labels that say what a node stands for. Count is how many objects there are, or of namespaces how many namespaces; Sample has the first names.
const (
	labelCount    = "count"
	labelSample   = "sample"
	labelRules    = "rules"    // how many rules the routes have
	labelListens  = "listens"  // of Gateways whose listeners are not drawn: what these listen on
	labelHolds    = "holds"    // of namespaces: what is in them
	labelMissing  = "missing"  // how much of that is not in the input
	labelPolicies = "policies" // what became of the policies in them
)

// asGroup makes a node one for several that look alike.
func (f *folding) asGroup(g *GraphNode, members []int32) {
	if topology.Role(g.Kind) == topology.Namespace {
		f.asNamespaces(g, members)
		return
	}
	refs := f.membersOf(members)
	g.Labels, g.Members = f.common(members), refs
	delete(g.Labels, labelRules)
	g.Labels[labelCount], g.Labels[labelSample] = strconv.Itoa(len(refs)), sample(refs)
	withLabel(g.Labels, labelRules, count(f.sum(members, labelRules)))
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

// asNamespace makes a node one for what is in a namespace.
func (f *folding) asNamespace(g *GraphNode, members []int32) {
	space := g.Ref.Namespace
	if topology.Role(g.Kind) == topology.Namespace {
		space = g.Ref.Name
	}
	var refs []model.Ref
	labels := map[string]string{}
	became, rules, missing := tally{}, 0, 0
	for _, i := range members {
		n := &f.from.Nodes[i]
		rules += counted(n.Labels, labelRules)
		if n.Labels["request"] != "" {
			labels["request"] = n.Labels["request"]
		}
		if n.Labels["state"] == absent {
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
			became[f.became(int(i))]++
		}
	}
	slices.SortFunc(refs, model.Ref.Compare)
	g.ID, g.Kind = refID(model.Ref{Kind: "Namespace", Name: space}), string(topology.Namespace)
	g.Ref, g.Members, g.Labels = model.Ref{Kind: "Namespace", Namespace: space}, refs, labels
	f.say(g, rules, missing, became)
}

// asNamespaces makes a node one for several namespaces.
func (f *folding) asNamespaces(g *GraphNode, members []int32) {
	var names []model.Ref
	spaces, became := 0, tally{}
	for _, i := range members {
		n := &f.from.Nodes[i]
		spaces += max(1, counted(n.Labels, labelCount))
		if n.Ref.Namespace != "" {
			names = append(names, model.Ref{Name: n.Ref.Namespace})
		}
		became.read(n.Labels[labelPolicies])
	}
	told := sample(names)
	if len(names) == 0 {
		told = f.from.Nodes[members[0]].Labels[labelSample]
	}
	rules, missing := f.sum(members, labelRules), f.sum(members, labelMissing)
	g.Members, g.Labels = f.membersOf(members), f.common(members)
	maps.DeleteFunc(g.Labels, func(key, _ string) bool { return key != "request" })
	g.Ref = model.Ref{Kind: "Namespace"}
	g.Labels[labelCount], g.Labels[labelSample] = strconv.Itoa(spaces), told
	f.say(g, rules, missing, became)
}

// say writes down what a node of namespaces stands for.
func (f *folding) say(g *GraphNode, rules, missing int, became tally) {
	kinds := map[string]int{ruleNoun: rules}
	for _, r := range g.Members {
		kinds[r.Kind]++
	}
	var holds []string
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), byHolding) {
		if kinds[kind] > 0 {
			holds = append(holds, plural(kinds[kind], kind))
		}
	}
	withLabel(g.Labels, labelHolds, strings.Join(holds, ", "))
	withLabel(g.Labels, labelRules, count(rules))
	withLabel(g.Labels, labelMissing, count(missing))
	withLabel(g.Labels, labelPolicies, became.String())
}

// Collective is what a node that stands for several objects is called: "334 HTTPRoutes in shop (cart, search, …)", "Namespace shop: 12
// HTTPRoutes, 20 rules", "1000 namespaces (a, b, c, …)". It is "" for a node that stands for itself.
func (n *GraphNode) Collective() string {
	total := counted(n.Labels, labelCount)
	switch {
	case n.Ref.Name != "":
		return ""
	case topology.Role(n.Kind) != topology.Namespace:
		text := plural(total, n.Ref.Kind)
		if n.Ref.Namespace != "" {
			text += " in " + n.Ref.Namespace
		}
		if n.Ref.Section != "" {
			return text + " " + n.sampled(total) + " " + n.Ref.Section
		}
		return text + " " + n.sampled(total)
	case n.Ref.Namespace != "":
		return strings.TrimSuffix("Namespace "+n.Ref.Namespace+": "+n.Labels[labelHolds], ": ")
	}
	return Counted(total, "namespace") + " " + n.sampled(total)
}

// sampled are the first names of so many, in brackets.
func (n *GraphNode) sampled(total int) string {
	if total > sampleNames {
		return "(" + n.Labels[labelSample] + ", …)"
	}
	return "(" + n.Labels[labelSample] + ")"
}

// ruleNoun is what rules of routes are called among kinds.
const ruleNoun = "rule"

// byHolding puts routes and their rules first and policies last.
func byHolding(a, b string) int {
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

// plural counts things: "1 rule", "12 RateLimitPolicies".
func plural(n int, noun string) string {
	if stem, y := strings.CutSuffix(noun, "y"); y && n != 1 && !strings.HasSuffix(stem, "a") && !strings.HasSuffix(stem, "e") {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	if strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return Counted(n, noun)
}

// sum adds up the numbers of a label.
func (f *folding) sum(members []int32, label string) int {
	n := 0
	for _, i := range members {
		n += counted(f.from.Nodes[i].Labels, label)
	}
	return n
}

// became is what became of a policy at all of its targets together.
func (f *folding) became(i int) string {
	words := map[string]bool{}
	for _, e := range f.out(i) {
		if e.Kind == EdgeTargets {
			words[e.State] = true
		}
	}
	switch {
	case len(words) == 0:
		return unattachedPolicy
	case len(words) == 1 && words[""]:
		return "unreached"
	case len(words) == 1 && words[EdgeDangling]:
		return EdgeDangling
	}
	if word := joinedWord(words); word != EdgeIdle {
		return word
	}
	return idlePolicy
}

// idlePolicy is what people read for EdgeIdle.
const idlePolicy = "condition false"

// tally counts what became of policies.
type tally map[string]int

// String lists what there is, the best first.
func (t tally) String() string {
	var out []string
	for _, word := range []string{EdgeWhole, EdgePartial, EdgeLost, idlePolicy, "unreached", EdgeDangling, unattachedPolicy} {
		if t[word] > 0 {
			out = append(out, strconv.Itoa(t[word])+" "+word)
		}
	}
	return strings.Join(out, ", ")
}

// read adds what String wrote.
func (t tally) read(text string) {
	for _, entry := range strings.Split(text, ", ") {
		if n, word, ok := strings.Cut(entry, " "); ok {
			if number, err := strconv.Atoi(n); err == nil {
				t[word] += number
			}
		}
	}
}
