package unread

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// findParameters finds what GatewayClasses and Gateways are configured with and nobody reads.
func (f *unreadFinder) findParameters() {
	for _, id := range f.graph.Order(topology.Traffic) {
		n := f.graph.Node(id)
		var at []string
		switch {
		case n.Object == nil:
			continue
		case n.Role == topology.GatewayClass:
			at = []string{"spec", "parametersRef"}
		case n.Role == topology.Gateway:
			at = []string{"spec", "infrastructure", "parametersRef"}
		default:
			continue
		}
		ref := n.Object.Body.At(at...)
		if ref.Text("kind") == "" {
			continue
		}
		to := model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: cmp.Or(ref.Text("namespace"),
			n.Ref.Namespace), Name: ref.Text("name")}
		f.checkParameters(id, at, to)
	}
}

// checkParameters judges one reference to parameters.
func (f *unreadFinder) checkParameters(id topology.NodeID, at []string, to model.Ref) {
	n := f.graph.Node(id)
	gk := to.GroupKind()
	s := Input{Object: n.Object, Nodes: []topology.NodeID{id}, name: n.Ref.FullName()}
	switch {
	case !f.known.ReadsParameters(gk, f.controllerOf(id)) && (gk.Group == "" || !f.isRead(gk)):
		s.message = fmt.Sprintf(
			"%s is configured by %s, but kind %s is not read: its effect there and below is unknown", n.Ref, to, gk)
		s.groupMessage = fmt.Sprintf(
			"%ss are configured by objects of %s, which is not read: their effect there and below is unknown",
			n.Ref.Kind, gk)
	case gk.Group != "" && f.in.Get(to) == nil && f.in.Get(withoutNamespace(to)) == nil:
		s.message = fmt.Sprintf(
			"%s is configured by %s, which is not in the input: its effect there and below is unknown", n.Ref, to)
		s.groupMessage = fmt.Sprintf(
			"%ss are configured by objects of %s that are not in the input: their effect there and below is unknown",
			n.Ref.Kind, gk)
		s.hint = "add its manifest"
	default:
		return
	}
	f.addUnread(s, at...)
}

// withoutNamespace returns ref as an object without a namespace.
func withoutNamespace(ref model.Ref) model.Ref { ref.Namespace = ""; return ref }

// controllerOf returns the controller of a GatewayClass or a Gateway, "" if it is not known.
func (f *unreadFinder) controllerOf(id topology.NodeID) string {
	n := f.graph.Node(id)
	if n.Role == topology.Gateway {
		for _, class := range f.graph.Parents(topology.Traffic, id) {
			n = f.graph.Node(class)
		}
	}
	if n.Role != topology.GatewayClass || n.Object == nil {
		return ""
	}
	return n.Object.Text("spec", "controllerName")
}

// findOnNodes finds annotations of the objects of the graph, and filters of rules, that nobody
// reads.
func (f *unreadFinder) findOnNodes() {
	rules, backends := map[model.GroupKind]bool{}, map[model.GroupKind]bool{}
	for _, k := range f.res.Kinds {
		if slices.Contains(k.Filters, topology.Rule) {
			rules[k.GroupKind] = true
		}
		if slices.Contains(k.Filters, topology.Backend) {
			backends[k.GroupKind] = true
		}
	}
	for id := range topology.NodeID(f.graph.Len()) {
		n := f.graph.Node(id)
		switch {
		case n.Object == nil || n.Hop > 0:
		case n.Role == topology.Rule:
			if !gatewayapi.IsHTTPRoute(n.Ref.GroupKind()) {
				continue
			}
			at := strconv.Itoa(n.Index)
			rule := n.Object.Body.At("spec", "rules", at)
			f.findFilters(id, rule, rules, "")
			for _, to := range rule.Field("backendRefs").Items {
				f.findFilters(id, to, backends, " for backend "+to.Text("name"))
			}
		case n.Ref.Section == "" && len(n.Object.Annotations) > 0 && f.known.HasUnread():
			f.findAnnotations(id, n)
		}
	}
}

// findAnnotations notes those of an object that change what happens to traffic.
func (f *unreadFinder) findAnnotations(id topology.NodeID, n *topology.Node) {
	found := map[*descriptor.UnreadAnnotation][]string{}
	var order []*descriptor.UnreadAnnotation
	for _, name := range slices.Sorted(maps.Keys(n.Object.Annotations)) {
		if a := f.known.FindUnread(n.Ref.Kind, name); a != nil {
			if found[a] == nil {
				order = append(order, a)
			}
			found[a] = append(found[a], name)
		}
	}
	for _, a := range order {
		var names model.Tally
		for _, name := range found[a] {
			names.Add(name)
		}
		gates := slices.ContainsFunc(found[a], func(name string) bool { return !slices.Contains(a.NoGates, name) })
		f.addUnread(Input{Object: n.Object, Nodes: f.graph.Lookup(n.Ref), MayDeny: gates, name: n.Ref.String(),
			message: fmt.Sprintf("%s has the annotation %s, which is not read: %s", n.Ref,
				names.String(), a.Effect),
			groupMessage: fmt.Sprintf("objects have annotations %s, which are not read: %s", annotationPattern(a.Name),
				a.Effect)}, "metadata", "annotations", found[a][0])
	}
}

// annotationPattern returns the name of an annotation, or what stands for all with a prefix.
func annotationPattern(name string) string {
	if name[len(name)-1] == '/' {
		return name + "*"
	}
	return name
}

// coreFilters returns the filters that the Gateway API defines, beside those that refer to
// something of an implementation.
func coreFilters() []string {
	return []string{"RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "RequestRedirect",
		"URLRewrite", "CORS", "ExternalAuth"}
}

// findFilters notes the filters of a rule, or of one of its backends, that nobody reads.
func (f *unreadFinder) findFilters(id topology.NodeID, of model.Body, described map[model.GroupKind]bool,
	where string) {
	n := f.graph.Node(id)
	for _, filter := range of.Field("filters").Items {
		kind := filter.Text("type")
		if kind == "" || slices.Contains(coreFilters(), kind) {
			continue
		}
		s := Input{Object: n.Object, Nodes: f.graph.Lookup(n.Ref), MayDeny: true, name: n.Ref.String()}
		ref := filter.Field("extensionRef")
		gk := model.GroupKind{Group: ref.Text("group"), Kind: ref.Text("kind")}
		switch {
		case kind != "ExtensionRef":
			s.message = fmt.Sprintf("filter %s of %s%s is not known: what it does to requests is not evaluated",
				kind, n.Ref, where)
			s.groupMessage = fmt.Sprintf(
				"rules have a filter %s, which is not known: what it does to requests is not evaluated", kind)
		case gk.Kind == "":
			s.message = fmt.Sprintf(
				"a filter of %s%s does not say what it refers to: what it does to requests is not evaluated", n.Ref,
				where)
			s.groupMessage = "rules have filters that do not say what they refer to: what they do to requests is not evaluated"
		case described[gk] || f.known.IsKnown(gk):
			continue
		default:
			to := model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: n.Ref.Namespace, Name: ref.Text("name")}
			s.message = fmt.Sprintf(
				"a filter of %s%s names %s, but kind %s is not read: what it does to requests is not evaluated", n.Ref,
				where, to, gk)
			s.groupMessage = fmt.Sprintf(
				"rules have filters of kind %s, which is not read: what they do to requests is not evaluated", gk)
		}
		f.addUnread(s, "spec", "rules", strconv.Itoa(n.Index), "filters")
	}
}
