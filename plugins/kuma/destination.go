package kuma

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// destination is a service as policies name it.
type destination struct {
	object *model.Object
	labels map[string]string
	mesh   string
	ports  []port
}

type port struct{ name, number string }

// section is what a port is called: its name, else its number.
func (p port) section() string {
	if p.name != "" {
		return p.name
	}
	return p.number
}

// world is the meshes of a snapshot.
type world struct {
	dataplanes   []*dataplane
	byNamespace  map[string][]*dataplane
	destinations []*destination
	byName       map[place][]*destination
	byKind       map[place][]*destination
	routes       []*route
	gateways     []gateway
	old          bool // in the dialect of 2.14
}

// place is where to look: a kind in a mesh, and a display name.
type place struct{ kind, mesh, name string }

type route struct {
	object *model.Object
	labels map[string]string
}

func readWorld(in *model.Snapshot, s model.Settings) *world {
	w := &world{old: old(s), byNamespace: map[string][]*dataplane{}, byName: map[place][]*destination{}, byKind: map[place][]*destination{}}
	for _, o := range in.Of(dataplaneKind) {
		d := readDataplane(o, in, s)
		w.dataplanes = append(w.dataplanes, &d)
		w.byNamespace[d.labels[namespaceLabel]] = append(w.byNamespace[d.labels[namespaceLabel]], &d)
	}
	for _, kind := range []string{"MeshService", "MeshExternalService", "MeshMultiZoneService"} {
		for _, o := range in.Of(model.GroupKind{Group: group, Kind: kind}) {
			d := &destination{object: o, labels: labelsOf(o, in, s)}
			d.mesh = d.labels[meshLabel]
			for _, p := range spec(o).Field("ports").Items {
				d.ports = append(d.ports, port{p.Field("name").Text(), number(p.Field("port"))})
			}
			w.destinations = append(w.destinations, d)
			at := place{kind: kind, mesh: d.mesh}
			w.byKind[at] = append(w.byKind[at], d)
			at.name = nameOf(d.labels, o)
			w.byName[at] = append(w.byName[at], d)
		}
	}
	for _, o := range in.Of(httpRouteKind) {
		labels := labelsOf(o, in, s)
		if asStored(o, in, s) && o.Labels[displayNameLabel] == "" {
			delete(labels, displayNameLabel) // it is no label to be found by
		}
		w.routes = append(w.routes, &route{o, labels})
	}
	if w.old {
		w.gateways = readGateways(in, s)
	}
	return w
}

func (w *world) empty() bool {
	return len(w.dataplanes) == 0 && len(w.destinations) == 0 && len(w.routes) == 0
}

// near are the proxies that a policy may select: of its own namespace where it holds nowhere else.
func (w *world) near(p *selector) []*dataplane {
	if role := p.role(); role == consumerRole || role == workloadOwnerRole {
		return w.byNamespace[p.labels[namespaceLabel]]
	}
	return w.dataplanes
}

// target is a destination, or one of its ports.
type target struct {
	to   *destination
	port int // -1: all of it
}

// find resolves a reference of a policy with the given labels to services (spec §5): by labels all in its mesh, in 2.14 also by name, with
// the policy's namespace and zone, and by the old name of a port.
func (w *world) find(ref model.Body, policy map[string]string) []target {
	kind := ref.Field("kind").Text()
	section := ref.Field("sectionName").Text()
	labels, name := ref.Field("labels"), ref.Field("name").Text()
	at := place{kind: kind, mesh: policy[meshLabel]}
	var found []*destination
	switch {
	case w.byLabels(ref):
		candidates := w.byKind[at]
		if display := labels.Field(displayNameLabel).Text(); display != "" {
			at.name = display
			candidates = w.byName[at]
		}
		for _, d := range candidates {
			if has(d.labels, labels) {
				found = append(found, d)
			}
		}
	case name != "":
		if kind == "MeshService" && section == "" {
			if ports := w.oldName(at, name); len(ports) > 0 {
				return ports
			}
		}
		at.name = name
		for _, d := range w.byName[at] {
			if identified(d.labels, ref, policy) {
				found = append(found, d)
			}
		}
	}
	return sectioned(found, section)
}

// byLabels reports whether a reference selects by labels. Labels that are there but empty select all; in 2.14 they are as if not there.
func (w *world) byLabels(ref model.Body) bool {
	labels := ref.Field("labels")
	return labels.Len() > 0 || !w.old && labels.IsObject()
}

// identified compares the namespace and the zone that a name means.
func identified(labels map[string]string, ref model.Body, policy map[string]string) bool {
	ns := ref.Field("namespace").Text()
	if ns == "" {
		ns = policy[namespaceLabel]
	}
	zone := func(l map[string]string) string {
		if l[originLabel] == "global" {
			return ""
		}
		return l[zoneLabel]
	}
	return labels[namespaceLabel] == ns && zone(labels) == zone(policy)
}

// sectioned narrows to the ports of a name.
func sectioned(found []*destination, section string) []target {
	var out []target
	for _, d := range found {
		if section == "" {
			out = append(out, target{d, -1})
			continue
		}
		if i := slices.IndexFunc(d.ports, func(p port) bool { return p.section() == section }); i >= 0 {
			out = append(out, target{d, i})
		}
	}
	return out
}

// oldName resolves NAME_NAMESPACE_svc_PORT: the port of all services of that name, of whatever zone.
func (w *world) oldName(at place, text string) []target {
	words := strings.Split(text, "_")
	if len(words) != 4 || words[2] != "svc" {
		return nil
	}
	if _, err := strconv.Atoi(words[3]); err != nil {
		return nil
	}
	at.name = words[0]
	var out []target
	for _, d := range w.byName[at] {
		if d.labels[namespaceLabel] != words[1] {
			continue
		}
		if i := slices.IndexFunc(d.ports, func(p port) bool { return p.number == words[3] }); i >= 0 {
			out = append(out, target{d, i})
		}
	}
	return out
}

// routesLike are the routes that a reference means.
func (w *world) routesLike(ref model.Body, policy map[string]string) []*model.Object {
	var out []*model.Object
	labels, name := ref.Field("labels"), ref.Field("name").Text()
	for _, r := range w.routes {
		switch {
		case r.labels[meshLabel] != policy[meshLabel]:
		case w.byLabels(ref) && has(r.labels, labels),
			!w.byLabels(ref) && name != "" && nameOf(r.labels, r.object) == name && identified(r.labels, ref, policy):
			out = append(out, r.object)
		}
	}
	return out
}

// unfound says that an item leads nowhere.
func (w *world) unfound(p *policy.Policy, ref model.Body, n int) []model.Problem {
	if n > 0 {
		return nil
	}
	kind := ref.Field("kind").Text()
	problem := model.Problem{Severity: model.Warning, Code: model.TargetNotFound, Message: fmt.Sprintf("%s: no %s of mesh %s is what its targetRef asks for: the item is ignored", p.Part, kind, p.Label(meshLabel))}
	switch kind {
	case "MeshService", "MeshExternalService", "MeshMultiZoneService", "MeshHTTPRoute":
	default:
		problem.Code, problem.Message = model.NotEvaluated, fmt.Sprintf("%s: a destination of kind %s is not evaluated", p.Part, kind)
	}
	return []model.Problem{problem.At(p.Object)}
}
