package requirement

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// selection says what a requirement is asked about. All conditions that are given have to hold; nil
// is not given.
type selection struct {
	kinds           []model.GroupKind // of targets; without a group, of any; nil: route rules
	gateways        []string          // namespace/name, with globs; so are the other lists of names
	listeners       []string
	namespaces      []string
	namespaceLabels labelSelector
	labels          labelSelector
	names           []string
	rules           []string
}

// labelSelector is a selector in the manner of Kubernetes.
type labelSelector struct {
	given bool
	all   []labelRequirement
}

type labelRequirement struct {
	key, operator string
	values        []string
}

func (s labelSelector) matchesLabels(labels map[string]string) bool {
	for _, n := range s.all {
		value, has := labels[n.key]
		holds := has
		switch n.operator {
		case "In":
			holds = has && slices.Contains(n.values, value)
		case "NotIn":
			holds = !has || !slices.Contains(n.values, value)
		case "DoesNotExist":
			holds = !has
		}
		if !holds {
			return false
		}
	}
	return true
}

// nameLabel is on every namespace, with its name as the value, whether or not the Namespace is in
// the input.
const nameLabel = "kubernetes.io/metadata.name"

// isByNameOnly reports whether the selector can be judged without the labels of a namespace.
func (s labelSelector) isByNameOnly() bool {
	return !slices.ContainsFunc(s.all, func(n labelRequirement) bool { return n.key != nameLabel })
}

// matchesAny reports whether a name fits one of the patterns; nil fits all.
func matchesAny(patterns []string, name string) bool {
	return patterns == nil || slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// The conditions of a selection, in the order in which they are asked.
type selectionStage int

const (
	byKind selectionStage = iota
	byNamespace
	byNamespaceLabels
	byName
	byLabels
	bySection
	byTraffic
	byGateway
	byListener
	byWhere
	stages
)

// selectionCounts counts how many targets pass each condition of a selection, to tell where none is
// left.
type selectionCounts struct {
	passed [stages]int
	seen   [stages]map[string]bool // names that came to a condition
}

func (f *selectionCounts) addName(at selectionStage, name string) {
	if f.seen[at] == nil {
		f.seen[at] = map[string]bool{}
	}
	f.seen[at][name] = true
}

// matchesKind reports whether a node is of the kinds selected.
func (s *selection) matchesKind(n *topology.Node) bool {
	if s.kinds == nil {
		return n.Role == topology.Rule
	}
	return slices.ContainsFunc(s.kinds, func(k model.GroupKind) bool {
		return k.Kind == n.Ref.Kind && (k.Group == "" || k.Group == n.Ref.Group)
	})
}

// matchesTarget reports whether a node of the kinds is selected as far as it tells itself; unsure:
// if its namespace has the labels.
func (s *selection) matchesTarget(f *selectionCounts, n *topology.Node, labels map[string]string,
	known bool) (selected, unsure bool) {
	ref := n.Ref
	space := ref.Namespace
	if ref.Namespace == "" && ref.Group == "" && ref.Kind == "Namespace" {
		space = ref.Name
	}
	f.passed[byKind]++
	f.addName(byNamespace, space)
	if !matchesAny(s.namespaces, space) {
		return false, false
	}
	f.passed[byNamespace]++
	if s.namespaceLabels.given {
		unsure = !known && !s.namespaceLabels.isByNameOnly()
		if !unsure && !s.namespaceLabels.matchesLabels(labels) {
			return false, false
		}
	}
	f.passed[byNamespaceLabels]++
	f.addName(byName, ref.Name)
	if !matchesAny(s.names, ref.Name) {
		return false, false
	}
	f.passed[byName]++
	if s.labels.given && (n.Object == nil || !s.labels.matchesLabels(n.Object.Labels)) {
		return false, false
	}
	f.passed[byLabels]++
	f.addName(bySection, ref.Section)
	if !matchesAny(s.rules, ref.Section) {
		return false, false
	}
	f.passed[bySection]++
	return true, unsure
}

// isByPath reports whether the selection asks how traffic comes.
func (s *selection) isByPath() bool { return s.gateways != nil || s.listeners != nil }

// filterPaths returns the paths of a place that are selected; false if there are none.
func (s *selection) filterPaths(f *selectionCounts, p *collect.EffectiveTarget) ([]view.Path, bool) {
	f.passed[byTraffic]++
	if !s.isByPath() {
		f.passed[byGateway]++
		f.passed[byListener]++
		return p.Paths, true
	}
	var out []view.Path
	for _, way := range p.Paths {
		f.addName(byGateway, way.Gateway)
		if !matchesAny(s.gateways, way.Gateway) {
			continue
		}
		f.passed[byGateway]++
		f.addName(byListener, way.Listener)
		if !matchesAny(s.listeners, way.Listener) {
			continue
		}
		f.passed[byListener]++
		out = append(out, way)
	}
	return out, out != nil
}

// explainNothing says at which condition nothing was left, and what may be meant instead.
func (f *selectionCounts) explainNothing(r *Requirement) (what, hint string) {
	s := &r.selects
	before := "targets of its kinds"
	if s.kinds == nil {
		before = "route rules"
	}
	resultsOf := ""
	if kinds := r.namedKinds(); s.kinds != nil && len(kinds) > 0 {
		resultsOf = " at which " + strings.Join(kinds, " or ") + " has results"
	}
	for _, c := range []struct {
		at    selectionStage
		what  string
		names []string
	}{
		{byKind, "there are no " + before + resultsOf, nil}, {byNamespace, "none is in namespaces " +
			joinNames(s.namespaces), s.namespaces},
		{byNamespaceLabels, "of none has the namespace these labels", nil}, {byName, "none has a name like " +
			joinNames(s.names), s.names},
		{byLabels, "none has these labels", nil}, {bySection, "none is called " + joinNames(s.rules), s.rules},
		{byTraffic, "no traffic reaches any", nil}, {byGateway, "none is reached through " + joinNames(s.gateways),
			s.gateways},
		{byListener, "none is reached through a listener called " + joinNames(s.listeners), s.listeners}, {byWhere,
			"none fits where", nil},
	} {
		if f.passed[c.at] > 0 {
			continue
		}
		if c.at > byKind {
			what = fmt.Sprintf("of %d %s ", f.passed[c.at-1], before)
			if c.at > byTraffic {
				what = "of what traffic reaches, "
			}
		}
		return what + c.what, suggestName(c.names, f.seen[c.at])
	}
	return "nothing is left", ""
}

func joinNames(names []string) string { return strings.Join(names, ", ") }

// suggestName proposes the nearest of the names that there are.
func suggestName(names []string, seen map[string]bool) string {
	known := slices.Sorted(maps.Keys(seen))
	for _, name := range names {
		if near := form.Nearest(name, known); len(near) > 0 && near[0] != "" {
			return "did you mean " + near[0] + "?"
		}
	}
	return ""
}
