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

// portName is what a port is called: its name, else its number.
func (p port) portName() string {
	if p.name != "" {
		return p.name
	}
	return p.number
}

// meshIndex is the meshes of a snapshot.
type meshIndex struct {
	dataplanes   []*dataplane
	byNamespace  map[string][]*dataplane
	destinations []*destination
	byName       map[indexKey][]*destination
	byKind       map[indexKey][]*destination
	routes       []*meshRoute
	gateways     []meshGateway
	dialect214   bool // in the dialect of 2.14
}

// indexKey is where to look: a kind in a mesh, and a display name.
type indexKey struct{ kind, mesh, name string }

type meshRoute struct {
	object *model.Object
	labels map[string]string
}

func buildMeshIndex(in *model.Snapshot, s model.Settings) *meshIndex {
	w := &meshIndex{dialect214: isDialect214(s), byNamespace: map[string][]*dataplane{},
		byName: map[indexKey][]*destination{}, byKind: map[indexKey][]*destination{}}
	for _, o := range in.OfKind(dataplaneKind) {
		d := readDataplane(o, in, s)
		w.dataplanes = append(w.dataplanes, &d)
		w.byNamespace[d.labels[namespaceLabel]] = append(w.byNamespace[d.labels[namespaceLabel]], &d)
	}
	for _, kind := range []string{"MeshService", "MeshExternalService", "MeshMultiZoneService"} {
		for _, o := range in.OfKind(model.GroupKind{Group: group, Kind: kind}) {
			d := &destination{object: o, labels: computeLabels(o, in, s)}
			d.mesh = d.labels[meshLabel]
			for _, p := range settingsOf(o).Field("ports").Items {
				d.ports = append(d.ports, port{p.Field("name").Text(), numberText(p.Field("port"))})
			}
			w.destinations = append(w.destinations, d)
			at := indexKey{kind: kind, mesh: d.mesh}
			w.byKind[at] = append(w.byKind[at], d)
			at.name = displayName(d.labels, o)
			w.byName[at] = append(w.byName[at], d)
		}
	}
	for _, o := range in.OfKind(httpRouteKind) {
		labels := computeLabels(o, in, s)
		if keepsLabels(o, in, s) && o.Labels[displayNameLabel] == "" {
			delete(labels, displayNameLabel) // it is no label to be found by
		}
		w.routes = append(w.routes, &meshRoute{o, labels})
	}
	if w.dialect214 {
		w.gateways = readGateways(in, s)
	}
	return w
}

func (w *meshIndex) isEmpty() bool {
	return len(w.dataplanes) == 0 && len(w.destinations) == 0 && len(w.routes) == 0
}

// proxiesNear are the proxies that a policy may select: of its own namespace where it holds nowhere
// else.
func (w *meshIndex) proxiesNear(p *proxySelector) []*dataplane {
	if role := p.policyRole(); role == consumerRole || role == workloadOwnerRole {
		return w.byNamespace[p.labels[namespaceLabel]]
	}
	return w.dataplanes
}

// destinationPort is a destination, or one of its ports.
type destinationPort struct {
	destination *destination
	port        int // -1: all of it
}

// findDestinations resolves a reference of a policy with the given labels to services: by labels
// all in its mesh, in 2.14 also by name, with the policy's namespace and zone, and by the old name
// of a port.
func (w *meshIndex) findDestinations(ref model.Body, policy map[string]string) []destinationPort {
	kind := ref.Field("kind").Text()
	section := ref.Field("sectionName").Text()
	labels, name := ref.Field("labels"), ref.Field("name").Text()
	at := indexKey{kind: kind, mesh: policy[meshLabel]}
	var found []*destination
	switch {
	case w.selectsByLabels(ref):
		candidates := w.byKind[at]
		if display := labels.Field(displayNameLabel).Text(); display != "" {
			at.name = display
			candidates = w.byName[at]
		}
		for _, d := range candidates {
			if hasLabels(d.labels, labels) {
				found = append(found, d)
			}
		}
	case name != "":
		if kind == "MeshService" && section == "" {
			if ports := w.findByOldName(at, name); len(ports) > 0 {
				return ports
			}
		}
		at.name = name
		for _, d := range w.byName[at] {
			if isNamedBy(d.labels, ref, policy) {
				found = append(found, d)
			}
		}
	}
	return filterByPort(found, section)
}

// selectsByLabels reports whether a reference selects by labels. Labels that are there but empty
// select all; in 2.14 they are as if not there.
func (w *meshIndex) selectsByLabels(ref model.Body) bool {
	labels := ref.Field("labels")
	return labels.Len() > 0 || !w.dialect214 && labels.IsObject()
}

// isNamedBy compares the namespace and the zone that a name means.
func isNamedBy(labels map[string]string, ref model.Body, policy map[string]string) bool {
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

// filterByPort narrows to the ports of a name.
func filterByPort(found []*destination, section string) []destinationPort {
	var out []destinationPort
	for _, d := range found {
		if section == "" {
			out = append(out, destinationPort{d, -1})
			continue
		}
		if i := slices.IndexFunc(d.ports, func(p port) bool { return p.portName() == section }); i >= 0 {
			out = append(out, destinationPort{d, i})
		}
	}
	return out
}

// findByOldName resolves NAME_NAMESPACE_svc_PORT: the port of all services of that name, of
// whatever zone.
func (w *meshIndex) findByOldName(at indexKey, text string) []destinationPort {
	words := strings.Split(text, "_")
	if len(words) != 4 || words[2] != "svc" {
		return nil
	}
	if _, err := strconv.Atoi(words[3]); err != nil {
		return nil
	}
	at.name = words[0]
	var out []destinationPort
	for _, d := range w.byName[at] {
		if d.labels[namespaceLabel] != words[1] {
			continue
		}
		if i := slices.IndexFunc(d.ports, func(p port) bool { return p.number == words[3] }); i >= 0 {
			out = append(out, destinationPort{d, i})
		}
	}
	return out
}

// findRoutes are the routes that a reference means.
func (w *meshIndex) findRoutes(ref model.Body, policy map[string]string) []*model.Object {
	var out []*model.Object
	labels, name := ref.Field("labels"), ref.Field("name").Text()
	for _, r := range w.routes {
		switch {
		case r.labels[meshLabel] != policy[meshLabel]:
		case w.selectsByLabels(ref) && hasLabels(r.labels, labels),
			!w.selectsByLabels(ref) && name != "" && displayName(r.labels, r.object) == name &&
				isNamedBy(r.labels, ref, policy):
			out = append(out, r.object)
		}
	}
	return out
}

// unfoundProblems says that an item leads nowhere.
func (w *meshIndex) unfoundProblems(p *policy.Policy, ref model.Body, n int) []model.Problem {
	if n > 0 {
		return nil
	}
	kind := ref.Field("kind").Text()
	problem := model.Problem{Severity: model.Warning, Code: model.TargetNotFound,
		Message: fmt.Sprintf("%s: no %s of mesh %s is what its targetRef asks for: the item is ignored", p.Part, kind,
			p.Label(meshLabel))}
	switch kind {
	case "MeshService", "MeshExternalService", "MeshMultiZoneService", "MeshHTTPRoute":
	default:
		problem.Code, problem.Message = model.NotEvaluated, fmt.Sprintf(
			"%s: a destination of kind %s is not evaluated", p.Part, kind)
	}
	return []model.Problem{problem.At(p.Object)}
}
