package gloo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The releases with which the merge changed, and those after which nothing is known of the change
// until then.
const (
	mergesAllRelease      = "1.17.10" // all options of a route or listener are merged; 1.17.0 does not
	lastSingleRelease     = "1.17.1"
	overridesRelease      = "1.18" // the annotation is read, in 1.18.10 at the latest
	knownOverridesRelease = "1.18.10"
)

// isBetween reports whether a release comes before one and not before another.
func isBetween(release, from, to string) bool {
	return !descriptor.IsVersionBelow(release, from) && descriptor.IsVersionBelow(release, to)
}

// findReleaseProblems says where it is not known how the release merges.
func findReleaseProblems(k *policy.Kind, g *topology.Graph, _ policy.AttachedAt) []model.Problem {
	r := readRelease(k.Settings)
	say := func(format string, args ...any) []model.Problem {
		return []model.Problem{{Severity: model.Warning, Code: model.NotEvaluated,
			Message: fmt.Sprintf(format, args...)}}
	}
	switch {
	case isBetween(r, lastSingleRelease, mergesAllRelease):
		return say(
			"between releases 1.17.0 and %s Gloo Gateway began to merge all %s of a place: release %s is read as if it takes the oldest only", mergesAllRelease, k.Plural, r)
	case k.GroupKind.Kind == routeOption && isBetween(r, overridesRelease, knownOverridesRelease) &&
		hasOverridesAnnotation(g):
		return say(
			"with one of the releases before %s Gloo Gateway began to read annotation %s: release %s is read as if it does", knownOverridesRelease, overridesAnnotation, r)
	}
	return nil
}

// hasOverridesAnnotation reports whether a route lets others override its options.
func hasOverridesAnnotation(g *topology.Graph) bool {
	for _, id := range g.Order(topology.Traffic) {
		if n := g.Node(id); n.Object != nil && n.Role == topology.Route &&
			n.Object.Annotations[overridesAnnotation] != "" {
			return true
		}
	}
	return false
}

// findIdleAnnotations reports annotations that change nothing: of routes that delegate nothing, and
// in releases that do not read them.
func findIdleAnnotations(k *policy.Kind, g *topology.Graph, _ policy.AttachedAt) []model.Problem {
	var out []model.Problem
	r := readRelease(k.Settings)
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Object == nil || n.Ref.Section != "" || n.Hop > 0 {
			continue
		}
		raw, ok := n.Object.Annotations[overridesAnnotation]
		why := ""
		switch {
		case !ok:
			continue
		case n.Ref.Kind != "HTTPRoute":
			why = ": it is read of HTTPRoutes only"
		case descriptor.IsVersionBelow(r, overridesRelease):
			why = ": release " + r + " does not read it"
		case len(parseFieldList(raw)) == 0:
			why = ": it names no field"
		case !isDelegating(g, id):
			why = ": the route hands nothing over to others"
		default:
			if why = explainMisnamed(k, parseFieldList(raw)); why == "" {
				continue
			}
		}
		p := model.Problem{Severity: model.Warning, Code: model.AnnotationIgnored,
			Message: fmt.Sprintf("annotation %s has no effect%s", overridesAnnotation, why)}
		out = append(out, p.At(n.Object, "metadata", "annotations", overridesAnnotation))
	}
	return out
}

// explainMisnamed says which names are those of fields that go by the name of their choice, "" if
// none is.
func explainMisnamed(k *policy.Kind, listed fieldList) string {
	for _, p := range k.Rules {
		if field := p.Path.String(); p.Choice != "" && slices.Contains(listed, strings.ToLower(field)) {
			return fmt.Sprintf(" for %s, which it has to call %s", field, p.Choice)
		}
	}
	return ""
}

// isDelegating reports whether a rule of the route, or of an instance of it, delegates to other
// routes.
func isDelegating(g *topology.Graph, route topology.NodeID) bool {
	for _, id := range append([]topology.NodeID{route}, g.Instances(route)...) {
		for _, rule := range g.Children(topology.Traffic, id) {
			if g.Node(rule).Delegates {
				return true
			}
		}
	}
	return false
}
