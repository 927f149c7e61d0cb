package unread

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// findUnknownObjects finds the objects of unknown kinds that name parts of the graph.
func (f *unreadFinder) findUnknownObjects() {
	for _, gk := range f.in.Kinds() {
		if isKubernetesGroup(gk.Group) || f.known.IsKnown(gk) || f.isRead(gk) {
			continue
		}
		if f.kinds == nil {
			f.kinds = map[string]model.GroupKind{}
			for _, gk := range gatewayapi.Kinds() {
				f.kinds[strings.ToLower(gk.Kind)] = gk
			}
		}
		for _, o := range f.in.OfKind(gk) {
			f.addUnknownObject(o)
		}
	}
}

// isRead reports whether objects of a kind are read, policies or not.
func (f *unreadFinder) isRead(gk model.GroupKind) bool {
	return slices.ContainsFunc(f.res.Kinds, func(k *resolve.Kind) bool {
		return k.GroupKind == gk || slices.Contains(k.Reads, gk) || slices.Contains(k.Members, gk)
	}) ||
		slices.Contains(gatewayapi.Kinds(), gk) || slices.Contains(workload.Kinds(), gk)
}

// isKubernetesGroup reports whether a group is one of Kubernetes' own, whose kinds say nothing
// about Gateways and routes.
func isKubernetesGroup(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") && group != attach.GatewayKind.Group
}

// mention is a part of the graph that an object names.
type mention struct {
	field string // where, as spec.parentRefs
	name  string // what, for people
	nodes []topology.NodeID
}

// addUnknownObject notes what an object of an unknown kind names: nodes on the path of traffic
// anywhere in its spec, backends only as a target or a parent. Of an object that is attached to the
// path itself, or is a backend, the Services count that it sends to.
func (f *unreadFinder) addUnknownObject(o *model.Object) {
	s := Input{Object: o, MayDeny: true, name: o.Ref.FullName(),
		hint: "describe the kind with --policy-kinds if it is one of policies",
		groupMessage: "objects of " + o.Ref.GroupKind().String() +
			" name parts of what is asked about, but the kind is not read: their effect there and below is unknown"}
	var sends []mention
	var named model.Tally
	f.eachMention(o, o.Body.Field("spec"), "spec", func(m mention) {
		last := m.field[strings.LastIndexByte(m.field, '.')+1:]
		road, backends := f.hasTrafficNode(m.nodes), f.isBackend(m.nodes)
		switch {
		case road, backends && isTargetField(last), isTargetField(last) &&
			f.graph.Node(m.nodes[0]).Role == topology.Namespace:
			s.Nodes = append(s.Nodes, m.nodes...)
			named.Add(m.name + " in " + m.field)
			if isParentField(last) {
				s.AttachedTo = append(s.AttachedTo, m.nodes...)
			}
		case backends:
			sends = append(sends, m)
		}
	})
	backend := f.graph.Lookup(o.Ref)
	if s.AttachedTo != nil {
		s.Hostnames, s.hint = hostnamesOf(o), "add the routes that its controller makes of it"
	}
	if named.Count == 0 && len(backend) > 0 && len(sends) > 0 { // a backend that sends on to others
		s.hint = ""
		for _, m := range sends {
			named.Add(m.name + " in " + m.field)
		}
		for _, id := range backend {
			s.Nodes = append(append(s.Nodes, id), f.graph.Parents(topology.All, id)...)
		}
	}
	if s.Nodes != nil && (s.AttachedTo != nil || len(backend) > 0) {
		for _, m := range sends {
			s.SendsTo = append(s.SendsTo, m.nodes...)
		}
	}
	s.message = fmt.Sprintf("%s names %s, but kind %s is not read: its effect there and below is unknown", o.Ref,
		named.String(), o.Ref.GroupKind())
	f.addUnread(s, "spec")
}

// hostnamesOf returns the hostnames that an object says it is for; nil if it says none that can be
// read.
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

// hasTrafficNode reports whether any of the nodes is on the path of traffic above backends.
func (f *unreadFinder) hasTrafficNode(ids []topology.NodeID) bool {
	return slices.ContainsFunc(ids, func(id topology.NodeID) bool {
		switch f.graph.Node(id).Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener, topology.Route,
			topology.Rule:
			return true
		}
		return false
	})
}

// isBackend reports whether nodes are those of a backend.
func (f *unreadFinder) isBackend(ids []topology.NodeID) bool {
	role := f.graph.Node(ids[0]).Role
	return role == topology.Backend || role == topology.Port || role == topology.Frontend
}

// isParentField reports whether an object is attached to what it names in a field.
func isParentField(field string) bool {
	field = strings.ToLower(field)
	return strings.Contains(field, "parent") || strings.HasPrefix(field, "gateway")
}

// isTargetField reports whether an object is for what it names in a field.
func isTargetField(field string) bool {
	field = strings.ToLower(field)
	return strings.Contains(field, "target") || strings.Contains(field, "parent") || strings.HasPrefix(field, "attach")
}

// eachMention calls see for every reference in a part of an object that names something in the
// graph. Whole objects in there are others.
func (f *unreadFinder) eachMention(o *model.Object, in model.Body, field string, see func(mention)) {
	if in.IsText() {
		if m, ok := f.readTextMention(o, in.Text(), field); ok {
			see(m)
		}
		return
	}
	if in.IsList() {
		for _, entry := range in.Items {
			f.eachMention(o, entry, field, see)
		}
		return
	}
	if !in.IsObject() || in.Has("metadata") && in.Has("apiVersion") && in.Has("kind") {
		return
	}
	if m, ok := f.readMention(o, in, field); ok {
		see(m)
	}
	for key, inner := range in.Fields {
		f.eachMention(o, inner, field+"."+key, see)
	}
}

// readMention reads a reference: a name with a kind, or in a field that tells the kind.
func (f *unreadFinder) readMention(o *model.Object, ref model.Body, field string) (mention, bool) {
	last := field[strings.LastIndexByte(field, '.')+1:]
	gk, ok := f.kindOf(ref, last)
	if !ok && ref.Text("kind") == "" && ref.Text("name") != "" && isAnyTargetField(last) {
		return f.mentionByName(o, ref.Text("group"), ref.Text("namespace"), ref.Text("name"), field)
	}
	if !ok {
		return mention{}, false
	}
	m := mention{field: field}
	name, namespace := ref.Text("name"), cmp.Or(ref.Text("namespace"), o.Ref.Namespace)
	if name == "" {
		if ref.Text("kind") == "" || !isTargetField(last) {
			return mention{}, false
		}
		return f.mentionAll(gk, namespace, ref, m)
	}
	to := model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: namespace, Name: name}
	m.name = to.String()
	if namespace == "" && !attach.IsClusterScoped(gk) {
		for _, each := range f.objectsNamed(gk, name) {
			m.nodes = append(m.nodes, f.graph.Lookup(each.Ref)...)
		}
		return m, len(m.nodes) > 0
	}
	for _, section := range sectionsOf(ref) {
		if found := f.graph.Lookup(to.WithSection(section)); len(found) > 0 {
			m.nodes = append(m.nodes, found...)
			m.name += " " + section
		}
	}
	if len(m.nodes) == 0 {
		m.nodes = f.graph.Lookup(to)
	}
	return m, len(m.nodes) > 0
}

// sectionsOf returns the sections that a reference names.
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

// maxTried is how many objects a selection without a name is tried on.
const maxTried = 64

// mentionAll reads a reference that selects objects of a kind. Where these are many it is taken to
// be about all of the namespace.
func (f *unreadFinder) mentionAll(gk model.GroupKind, namespace string, ref model.Body, m mention) (mention, bool) {
	all := f.in.OfKind(gk)
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
	if len(all) > maxTried && namespace != "" {
		m.nodes = f.graph.Lookup(model.Ref{Kind: "Namespace", Name: namespace})
		return m, len(m.nodes) > 0
	}
	for _, o := range all {
		if namespace != "" && !attach.IsClusterScoped(gk) && o.Ref.Namespace != namespace {
			continue
		}
		fits := true
		for key, value := range labels.Fields {
			fits = fits && o.Labels[key] == value.Text()
		}
		if fits {
			m.nodes = append(m.nodes, f.graph.Lookup(o.Ref)...)
		}
	}
	return m, len(m.nodes) > 0
}

// kindOf returns the kind that a reference means. Without a group a kind of the graph is meant;
// without a kind the one that the field is called after, and a parent is a Gateway.
func (f *unreadFinder) kindOf(ref model.Body, field string) (model.GroupKind, bool) {
	kind := ref.Text("kind")
	if kind == "" {
		gk, ok := f.kinds[reference.KindOfField(field)]
		return gk, ok && (ref.Text("group") == "" || ref.Text("group") == gk.Group)
	}
	group := model.NewGroupKind(ref.Text("apiVersion"), kind).Group
	if g := ref.Text("group"); g != "" {
		group, _, _ = strings.Cut(g, "/")
	}
	if group != "" && group != "core" {
		return model.GroupKind{Group: group, Kind: kind}, true
	}
	gk, ok := f.kinds[strings.ToLower(kind)]
	return gk, ok && gk.Kind == kind
}

// NamingFields returns as much of the spec of an object of an unknown kind as says where it
// matters: references, hostnames, and the names of the fields by which policies about connections
// are recognised. Nil: there is nothing of that.
func NamingFields(o *model.Object) map[string]any {
	out, _ := keepReferences(o.Body.Field("spec"), "spec").(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	if hosts := hostnamesOf(o); hosts != nil {
		out["hostnames"] = o.Get("spec", "hostnames")
	}
	if isConnectionPolicy(o) {
		for key := range o.Body.Field("spec").Fields {
			if out[key] == nil && isConnectionField(key) {
				out[key] = map[string]any{}
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// keepReferences returns what is left of the value of a field if only references are, nil if
// nothing is.
func keepReferences(v model.Body, field string) any {
	if v.IsText() && isTextReference(field) {
		return v.Text()
	}
	if v.IsList() {
		var out []any
		for _, entry := range v.Items {
			if kept := keepReferences(entry, field); kept != nil {
				out = append(out, kept)
			}
		}
		if out == nil {
			return nil
		}
		return out
	}
	out := map[string]any{}
	refers := v.Text("kind") != "" || v.Text("name") != "" && (isParentField(field) || isTargetField(field) ||
		reference.KindOfField(field) == "service")
	for key, inner := range v.Fields {
		switch {
		case inner.IsObject() && key != "matchLabels", inner.IsList(), inner.IsText() && isTextReference(key):
			if kept := keepReferences(inner, key); kept != nil {
				out[key] = kept
			}
		case refers && slices.Contains([]string{"group", "apiVersion", "kind", "namespace", "name", "sectionName",
			"matchLabels"}, key):
			out[key] = inner.Value()
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
