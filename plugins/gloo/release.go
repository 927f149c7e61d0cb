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

// The releases with which the merge changed, and those after which nothing is known of the change until then.
const (
	mergesAll       = "1.17.10" // all options of a route or listener are merged; 1.17.0 does not
	lastKnownSingle = "1.17.1"
	hasOverrides    = "1.18" // the annotation is read, in 1.18.10 at the latest
	knownOverrides  = "1.18.10"
)

// between reports whether a release comes before one and not before another.
func between(release, from, to string) bool {
	return !descriptor.VersionBelow(release, from) && descriptor.VersionBelow(release, to)
}

// releases says where it is not known how the release merges.
func releases(k *policy.Kind, g *topology.Graph, _ policy.At) []model.Problem {
	r := release(k.Settings)
	say := func(format string, args ...any) []model.Problem {
		return []model.Problem{{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(format, args...)}}
	}
	switch {
	case between(r, lastKnownSingle, mergesAll):
		return say("between releases 1.17.0 and %s Gloo Gateway began to merge all %s of a place: release %s is read as if it takes the oldest only", mergesAll, k.Plural, r)
	case k.GroupKind.Kind == routeOption && between(r, hasOverrides, knownOverrides) && annotated(g):
		return say("with one of the releases before %s Gloo Gateway began to read annotation %s: release %s is read as if it does", knownOverrides, overridesKey, r)
	}
	return nil
}

// annotated reports whether a route lets others override its options.
func annotated(g *topology.Graph) bool {
	for _, id := range g.Order(topology.Traffic) {
		if n := g.Node(id); n.Object != nil && n.Role == topology.Route && n.Object.Annotations[overridesKey] != "" {
			return true
		}
	}
	return false
}

// annotations reports annotations that change nothing: of routes that hand nothing over, and in releases that do not read them.
func annotations(k *policy.Kind, g *topology.Graph, _ policy.At) []model.Problem {
	var out []model.Problem
	r := release(k.Settings)
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Object == nil || n.Ref.Section != "" || n.Hop > 0 {
			continue
		}
		raw, ok := n.Object.Annotations[overridesKey]
		why := ""
		switch {
		case !ok:
			continue
		case n.Ref.Kind != "HTTPRoute":
			why = ": it is read of HTTPRoutes only"
		case descriptor.VersionBelow(r, hasOverrides):
			why = ": release " + r + " does not read it"
		case len(fieldNames(raw)) == 0:
			why = ": it names no field"
		case !handsOver(g, id):
			why = ": the route hands nothing over to others"
		default:
			if why = misnamed(k, fieldNames(raw)); why == "" {
				continue
			}
		}
		p := model.Problem{Severity: model.Warning, Code: model.AnnotationIgnored, Message: fmt.Sprintf("annotation %s has no effect%s", overridesKey, why)}
		out = append(out, p.At(n.Object, "metadata", "annotations", overridesKey))
	}
	return out
}

// misnamed says which names are those of fields that go by the name of their choice, "" if none is.
func misnamed(k *policy.Kind, listed names) string {
	for _, p := range k.Rules {
		if field := p.Path.String(); p.Choice != "" && slices.Contains(listed, strings.ToLower(field)) {
			return fmt.Sprintf(" for %s, which it has to call %s", field, p.Choice)
		}
	}
	return ""
}

// handsOver reports whether a rule of the route, or of an instance of it, hands over to other routes.
func handsOver(g *topology.Graph, route topology.NodeID) bool {
	for _, id := range append([]topology.NodeID{route}, g.Instances(route)...) {
		for _, rule := range g.Children(topology.Traffic, id) {
			if g.Node(rule).Transit {
				return true
			}
		}
	}
	return false
}
