package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// strangers finds the objects of unknown kinds that name parts of the graph.
func (f *blindFinder) strangers() {
	for _, gk := range f.in.Kinds() {
		if everyones(gk.Group) || f.known.Knows(gk) || f.isRead(gk) {
			continue
		}
		if f.kinds == nil {
			f.kinds = map[string]model.GroupKind{}
			for _, gk := range topology.Kinds() {
				f.kinds[strings.ToLower(gk.Kind)] = gk
			}
		}
		for _, o := range f.in.Of(gk) {
			f.stranger(o)
		}
	}
}

// isRead reports whether objects of a kind are read, policies or not.
func (f *blindFinder) isRead(gk model.GroupKind) bool {
	return slices.ContainsFunc(f.res.Kinds, func(k *Kind) bool {
		return k.GroupKind == gk || slices.Contains(k.Reads, gk) || slices.Contains(k.Members, gk)
	}) ||
		slices.Contains(topology.Kinds(), gk) || slices.Contains(topology.WorkloadKinds(), gk)
}

// everyones reports whether a group is one of Kubernetes' own, whose kinds say nothing about Gateways and routes.
func everyones(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") && group != gatewayKind.Group
}

// mention is a part of the graph that an object names.
type mention struct {
	field string // where, as spec.parentRefs
	name  string // what, for people
	at    []topology.NodeID
}

// stranger notes what an object of an unknown kind names: parts of the road of traffic anywhere in its spec, what is a backend only as a target
// or a parent. Of what hangs on the road itself, or is a backend, the Services count that it sends to.
func (f *blindFinder) stranger(o *model.Object) {
	s := BlindSpot{Object: o, Gates: true, name: o.Ref.FullName(), hint: "describe the kind with --policy-kinds if it is one of policies",
		alike: "objects of " + o.Ref.GroupKind().String() + " name parts of what is asked about, but the kind is not read: their effect there and below is unknown"}
	var sends []mention
	var named model.Tally
	f.mentions(o, o.Body.Field("spec"), "spec", func(m mention) {
		last := m.field[strings.LastIndexByte(m.field, '.')+1:]
		road, backends := f.onTrafficPath(m.at), f.backends(m.at)
		switch {
		case road, backends && targets(last), targets(last) && f.graph.Node(m.at[0]).Role == topology.Namespace:
			s.At = append(s.At, m.at...)
			named.Add(m.name + " in " + m.field)
			if hangs(last) {
				s.Hangs = append(s.Hangs, m.at...)
			}
		case backends:
			sends = append(sends, m)
		}
	})
	backend := f.graph.Lookup(o.Ref)
	if s.Hangs != nil {
		s.Hosts, s.hint = hostnamesOf(o), "add the routes that its controller makes of it"
	}
	if named.N == 0 && len(backend) > 0 && len(sends) > 0 { // a backend that hands on to others
		s.hint = ""
		for _, m := range sends {
			named.Add(m.name + " in " + m.field)
		}
		for _, id := range backend {
			s.At = append(append(s.At, id), f.graph.Parents(topology.All, id)...)
		}
	}
	if s.At != nil && (s.Hangs != nil || len(backend) > 0) {
		for _, m := range sends {
			s.Sends = append(s.Sends, m.at...)
		}
	}
	s.message = fmt.Sprintf("%s names %s, but kind %s is not read: its effect there and below is unknown", o.Ref, named.String(), o.Ref.GroupKind())
	f.add(s, "spec")
}

// hostnamesOf are the hostnames that an object says it is for; nil if it says none that can be read.
func hostnamesOf(o *model.Object) []string {
	var out []string
	for _, h := range o.Body.At("spec", "hostnames").Items {
		if !h.IsText() || h.Text() == "" {
			return nil
		}
		out = append(out, strings.ToLower(h.Text()))
	}
	return out
}

// onTrafficPath reports whether any of the nodes is on the road of traffic above backends.
func (f *blindFinder) onTrafficPath(ids []topology.NodeID) bool {
	return slices.ContainsFunc(ids, func(id topology.NodeID) bool {
		switch f.graph.Node(id).Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener, topology.Route, topology.Rule:
			return true
		}
		return false
	})
}

// backends reports whether nodes are those of a backend.
func (f *blindFinder) backends(ids []topology.NodeID) bool {
	role := f.graph.Node(ids[0]).Role
	return role == topology.Backend || role == topology.Port || role == topology.Frontend
}

// hangs reports whether an object hangs on what it names in a field.
func hangs(field string) bool {
	field = strings.ToLower(field)
	return strings.Contains(field, "parent") || strings.HasPrefix(field, "gateway")
}

// targets reports whether an object is for what it names in a field.
func targets(field string) bool {
	field = strings.ToLower(field)
	return strings.Contains(field, "target") || strings.Contains(field, "parent") || strings.HasPrefix(field, "attach")
}

// mentions calls see for every reference in a part of an object that names something in the graph. Whole objects in there are others.
func (f *blindFinder) mentions(o *model.Object, in model.Body, field string, see func(mention)) {
	if in.IsText() {
		if m, ok := f.textMention(o, in.Text(), field); ok {
			see(m)
		}
		return
	}
	if in.IsList() {
		for _, entry := range in.Items {
			f.mentions(o, entry, field, see)
		}
		return
	}
	if !in.IsObject() || in.Has("metadata") && in.Has("apiVersion") && in.Has("kind") {
		return
	}
	if m, ok := f.mention(o, in, field); ok {
		see(m)
	}
	for key, inner := range in.Fields {
		f.mentions(o, inner, field+"."+key, see)
	}
}

// mention reads a reference: a name with a kind, or in a field that tells the kind.
func (f *blindFinder) mention(o *model.Object, ref model.Body, field string) (mention, bool) {
	last := field[strings.LastIndexByte(field, '.')+1:]
	gk, ok := f.kindOf(ref, last)
	if !ok && ref.Text("kind") == "" && ref.Text("name") != "" && anyTarget(last) {
		return f.anyOf(o, ref.Text("group"), ref.Text("namespace"), ref.Text("name"), field)
	}
	if !ok {
		return mention{}, false
	}
	m := mention{field: field}
	name, namespace := ref.Text("name"), cmp.Or(ref.Text("namespace"), o.Ref.Namespace)
	if name == "" {
		if ref.Text("kind") == "" || !targets(last) {
			return mention{}, false
		}
		return f.every(gk, namespace, ref, m)
	}
	to := model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: namespace, Name: name}
	m.name = to.String()
	if namespace == "" && !clusterScoped(gk) {
		for _, each := range f.everywhere(gk, name) {
			m.at = append(m.at, f.graph.Lookup(each.Ref)...)
		}
		return m, len(m.at) > 0
	}
	for _, section := range sectionsOf(ref) {
		if found := f.graph.Lookup(to.In(section)); len(found) > 0 {
			m.at = append(m.at, found...)
			m.name += " " + section
		}
	}
	if len(m.at) == 0 {
		m.at = f.graph.Lookup(to)
	}
	return m, len(m.at) > 0
}

// sectionsOf are the sections that a reference names.
func sectionsOf(ref model.Body) []string {
	var out []string
	if s := ref.Text("sectionName"); s != "" {
		out = append(out, s)
	}
	for _, s := range ref.Field("sectionNames").Items {
		if s.Text() != "" {
			out = append(out, s.Text())
		}
	}
	return out
}

// fewEnough is how many objects a selection without a name is tried on.
const fewEnough = 64

// every reads a reference that selects objects of a kind. Where these are many it is taken to be about all of the namespace.
func (f *blindFinder) every(gk model.GroupKind, namespace string, ref model.Body, m mention) (mention, bool) {
	all := f.in.Of(gk)
	labels := ref.Field("matchLabels")
	for _, at := range []string{"selector", "labelSelector"} {
		if inner := ref.At(at, "matchLabels"); inner.IsObject() {
			labels = inner
		}
	}
	m.name = "every " + gk.Kind
	if namespace != "" {
		m.name += " of " + namespace
	}
	if len(all) > fewEnough && namespace != "" {
		m.at = f.graph.Lookup(model.Ref{Kind: "Namespace", Name: namespace})
		return m, len(m.at) > 0
	}
	for _, o := range all {
		if namespace != "" && !clusterScoped(gk) && o.Ref.Namespace != namespace {
			continue
		}
		fits := true
		for key, value := range labels.Fields {
			fits = fits && o.Labels[key] == value.Text()
		}
		if fits {
			m.at = append(m.at, f.graph.Lookup(o.Ref)...)
		}
	}
	return m, len(m.at) > 0
}

// kindOf is the kind that a reference means. Without a group a kind of the graph is meant; without a kind what the field is called after,
// and a parent is a Gateway.
func (f *blindFinder) kindOf(ref model.Body, field string) (model.GroupKind, bool) {
	kind := ref.Text("kind")
	if kind == "" {
		gk, ok := f.kinds[stemOf(field)]
		return gk, ok && (ref.Text("group") == "" || ref.Text("group") == gk.Group)
	}
	group, _, versioned := strings.Cut(ref.Text("apiVersion"), "/")
	if !versioned {
		group = ""
	}
	if g := ref.Text("group"); g != "" {
		group, _, _ = strings.Cut(g, "/")
	}
	if group != "" && group != "core" {
		return model.GroupKind{Group: group, Kind: kind}, true
	}
	gk, ok := f.kinds[strings.ToLower(kind)]
	return gk, ok && gk.Kind == kind
}

// stemOf is the kind in lower case that a field is called after: gateway of gatewayRefs.
func stemOf(field string) string {
	stem := strings.ToLower(field)
	for _, end := range []string{"s", "ref", "reference"} {
		stem = strings.TrimSuffix(stem, end)
	}
	switch stem {
	case "parent":
		return "gateway"
	case "backend":
		return "service"
	case "gatewayclas": // the "s" was its own
		return "gatewayclass"
	}
	return stem
}

// Named is as much of the spec of an object of an unknown kind as says where it matters: references, hostnames, and the names of the fields
// by which policies about connections are told. Nil: there is nothing of that.
func Named(o *model.Object) map[string]any {
	out, _ := named(o.Body.Field("spec"), "spec").(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	if hosts := hostnamesOf(o); hosts != nil {
		out["hostnames"] = o.Get("spec", "hostnames")
	}
	if filtersConnections(o) {
		for key := range o.Body.Field("spec").Fields {
			if out[key] == nil && shapesConnections(key) {
				out[key] = map[string]any{}
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// named is what is left of the value of a field if only references are, nil if nothing is.
func named(v model.Body, field string) any {
	if v.IsText() && toldByText(field) {
		return v.Text()
	}
	if v.IsList() {
		var out []any
		for _, entry := range v.Items {
			if kept := named(entry, field); kept != nil {
				out = append(out, kept)
			}
		}
		if out == nil {
			return nil
		}
		return out
	}
	out := map[string]any{}
	refers := v.Text("kind") != "" || v.Text("name") != "" && (hangs(field) || targets(field) || stemOf(field) == "service")
	for key, inner := range v.Fields {
		switch {
		case inner.IsObject() && key != "matchLabels", inner.IsList(), inner.IsText() && toldByText(key):
			if kept := named(inner, key); kept != nil {
				out[key] = kept
			}
		case refers && slices.Contains([]string{"group", "apiVersion", "kind", "namespace", "name", "sectionName", "matchLabels"}, key):
			out[key] = inner.Value()
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
