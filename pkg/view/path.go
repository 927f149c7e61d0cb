package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Path is one way traffic (or a binding) reaches a target.
type Path struct {
	GatewayClass  string   `json:"gatewayClass,omitempty"`  // its name
	Gateway       string   `json:"gateway,omitempty"`       // namespace/name
	ListenerSet   string   `json:"listenerSet,omitempty"`   // namespace/name; only for a listener of that set
	Listener      string   `json:"listener,omitempty"`      // its name
	DelegatedFrom []string `json:"delegatedFrom,omitempty"` // the routes that delegate, root first
	// of a path through a Service: producer or consumer; elsewhere the part of the traffic, as its
	// kind calls it
	Direction      string   `json:"direction,omitempty"`
	Mesh           string   `json:"mesh,omitempty"`           // its name
	Dataplane      string   `json:"dataplane,omitempty"`      // namespace/name of a proxy of a mesh
	Destination    string   `json:"destination,omitempty"`    // of what a proxy sends: where to
	Hostname       string   `json:"hostname,omitempty"`       // for which alone it holds
	DelegatedRules []string `json:"delegatedRules,omitempty"` // the rules that delegate, beside DelegatedFrom
	Binding        string   `json:"binding,omitempty"`        // of a policy that a binding brings: the binding
	// Kind namespace/name of the route, with its rule if that matters, where what holds at a
	// backend depends on it
	Route string `json:"route,omitempty"`

	IngressPath string `json:"path,omitempty"` // of an Ingress, beside Hostname: the path that holds there
}

// ViaCell says how traffic gets to a target, "-" where the target's name says it.
func ViaCell(paths []Path, target model.Ref, o TableOptions) string {
	return OrDash(strings.TrimPrefix(ViaText(paths, target, o), "gateway/"))
}

// PathsVia says how traffic comes to a target on some paths: "gateway/infra/external (http,
// https)". It is "" where the paths say nothing that the target's own name does not.
func PathsVia(paths []Path, target model.Ref) string {
	seen := make([]Path, len(paths))
	for i, p := range paths {
		seen[i] = p.WithoutTarget(target)
	}
	return ViaText(SortPaths(seen), target.WithoutSection(), TableOptions{})
}

// The directions of paths through a Service (gatewayapi G49): the producer's routes are for every
// client, a consumer's for the clients in its own namespace.
const (
	DirectionProducer = "producer"
	DirectionConsumer = "consumer"
)

// serviceText says how a path through a Service of the mesh reads: "service/shop/cart (mesh)". It
// is "" for any other path.
func (p Path) serviceText() string {
	switch {
	case p.Destination == "" || p.Mesh != "" || p.Dataplane != "" || p.Gateway != "":
		return ""
	case p.Direction == DirectionConsumer:
		return spellObject(p.Destination) + " (mesh, consumer)"
	}
	return spellObject(p.Destination) + " (mesh)"
}

// SortPaths sorts paths and removes duplicates.
func SortPaths(paths []Path) []Path {
	if !slices.IsSortedFunc(paths, ComparePaths) { // they mostly are
		slices.SortFunc(paths, ComparePaths)
	}
	return slices.CompactFunc(paths, func(x, y Path) bool { return ComparePaths(x, y) == 0 })
}

// ComparePaths orders paths by their fields, from the Gateway down.
func ComparePaths(a, b Path) int {
	return cmp.Or(cmp.Compare(a.Gateway, b.Gateway), cmp.Compare(a.ListenerSet, b.ListenerSet),
		cmp.Compare(a.Listener, b.Listener),
		cmp.Compare(a.GatewayClass, b.GatewayClass), cmp.Compare(a.Destination,
			b.Destination), cmp.Compare(a.Direction, b.Direction),
		slices.Compare(a.DelegatedFrom, b.DelegatedFrom), slices.Compare(a.DelegatedRules, b.DelegatedRules),
		cmp.Compare(a.Mesh, b.Mesh), cmp.Compare(a.Dataplane, b.Dataplane), cmp.Compare(a.Hostname,
			b.Hostname), cmp.Compare(a.Binding, b.Binding), cmp.Compare(a.Route, b.Route),
		cmp.Compare(a.IngressPath, b.IngressPath))
}

// BindingName names an object that brings policies to targets, with the part of it that is meant:
// "infra/everywhere (set base)".
func BindingName(ref model.Ref) string {
	if ref.Section == "" {
		return ref.FullName()
	}
	return ref.FullName() + " (" + ref.Section + ")"
}

// Key tells paths apart; paths hold slices and cannot be compared.
func (p Path) Key() string {
	return strings.Join([]string{p.GatewayClass, p.Gateway, p.ListenerSet, p.Listener, strings.Join(p.DelegatedFrom,
		"\x01"), p.Direction, p.Mesh,
		p.Dataplane, p.Destination, p.Hostname, strings.Join(p.DelegatedRules, "\x01"), p.Binding, p.Route,
		p.IngressPath}, "\x00")
}

// ViaText says how traffic reaches a target, listeners grouped: "gateway/infra/external (http,
// https)". It is "" where the paths say nothing that the target's own name does not.
func ViaText(paths []Path, target model.Ref, o TableOptions) string {
	var roads []string
	entries := map[string][]string{}
	for _, p := range paths {
		road := p.formatWithoutListener(target)
		if road == "" {
			continue
		}
		if _, known := entries[road]; !known {
			roads = append(roads, road)
		}
		if entry := strings.TrimSpace(p.Listener + " " + p.Hostname); entry != "" &&
			!slices.Contains(entries[road], entry) {
			entries[road] = append(entries[road], entry)
		} else if entries[road] == nil {
			entries[road] = []string{}
		}
	}
	for i, road := range roads {
		if names := entries[road]; len(names) > 0 {
			roads[i] = road + " (" + JoinNames(names, o) + ")"
		}
	}
	return JoinNames(roads, o)
}

// formatWithoutListener says the path without its listener: what several listeners of one Gateway
// share.
func (p Path) formatWithoutListener(target model.Ref) string {
	if service := p.serviceText(); service != "" {
		return service
	}
	if p.IngressPath != "" {
		return p.IngressPath
	}
	var parts []string
	add := func(format, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("%s", p.Direction)
	switch {
	case target.Kind == "Gateway" && target.FullName() == p.Gateway:
		add("gatewayclass/%s", p.GatewayClass)
	case p.ListenerSet != "" && (target.FullName() != p.ListenerSet || !strings.HasSuffix(target.Kind, "ListenerSet")):
		add("gateway/%s", p.Gateway)
		add("listenerset/%s", p.ListenerSet)
	case p.Gateway == "":
		add("gatewayclass/%s", p.GatewayClass)
	default:
		add("gateway/%s", p.Gateway)
	}
	for i, route := range p.DelegatedFrom {
		if i < len(p.DelegatedRules) {
			route += "/" + p.DelegatedRules[i]
		}
		add("delegated by %s", route)
	}
	add("mesh/%s", p.Mesh)
	add("dataplane/%s", p.Dataplane)
	add("to %s", spellObject(p.Destination))
	add("binding %s", p.Binding)
	add("%s", spellObject(p.Route))
	return strings.Join(parts, " → ")
}

// WithoutTarget returns the path without what the target itself says: the listener, where that is
// the target.
func (p Path) WithoutTarget(target model.Ref) Path {
	if SectionNoun(target.Kind) == "listener" && p.Listener == target.Section {
		p.Listener = ""
	}
	return p
}

// FormatPathObject names an object as the contract's Path does: "Kind namespace/name section".
func FormatPathObject(ref model.Ref) string {
	s := ref.Kind + " " + ref.FullName()
	if ref.Section != "" {
		s += " " + ref.Section
	}
	return s
}

// spellObject writes what FormatPathObject wrote as model.Ref.String does.
func spellObject(contractName string) string {
	kind, name, ok := strings.Cut(contractName, " ")
	if !ok {
		return contractName
	}
	return strings.ToLower(kind) + "/" + strings.ReplaceAll(name, " ", "/")
}
