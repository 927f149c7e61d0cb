package resolve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// parameters finds what GatewayClasses and Gateways are configured with and nobody reads.
func (f *blindFinder) parameters() {
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
		to := model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: cmp.Or(ref.Text("namespace"), n.Ref.Namespace), Name: ref.Text("name")}
		f.parameter(id, at, to)
	}
}

// parameter judges one reference to parameters.
func (f *blindFinder) parameter(id topology.NodeID, at []string, to model.Ref) {
	n := f.graph.Node(id)
	gk := to.GroupKind()
	s := BlindSpot{Object: n.Object, At: []topology.NodeID{id}, name: n.Ref.FullName()}
	switch {
	case !f.known.Parameters(gk, f.controllerOf(id)) && (gk.Group == "" || !f.isRead(gk)):
		s.message = fmt.Sprintf("%s is configured by %s, but kind %s is not read: its effect there and below is unknown", n.Ref, to, gk)
		s.alike = fmt.Sprintf("%ss are configured by objects of %s, which is not read: their effect there and below is unknown", n.Ref.Kind, gk)
	case gk.Group != "" && f.in.Get(to) == nil && f.in.Get(clusterWide(to)) == nil:
		s.message = fmt.Sprintf("%s is configured by %s, which is not in the input: its effect there and below is unknown", n.Ref, to)
		s.alike = fmt.Sprintf("%ss are configured by objects of %s that are not in the input: their effect there and below is unknown", n.Ref.Kind, gk)
		s.hint = "add its manifest"
	default:
		return
	}
	f.add(s, at...)
}

// clusterWide is ref as an object without a namespace.
func clusterWide(ref model.Ref) model.Ref { ref.Namespace = ""; return ref }

// controllerOf is the controller of a GatewayClass or a Gateway, "" if it is not known.
func (f *blindFinder) controllerOf(id topology.NodeID) string {
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

// nodes finds annotations of the objects of the graph, and filters of rules, that nobody reads.
func (f *blindFinder) nodes() {
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
			if !topology.IsHTTPRoute(n.Ref.GroupKind()) {
				continue
			}
			at := strconv.Itoa(n.Index)
			rule := n.Object.Body.At("spec", "rules", at)
			f.filters(id, rule, rules, "")
			for _, to := range rule.Field("backendRefs").Items {
				f.filters(id, to, backends, " for backend "+to.Text("name"))
			}
		case n.Ref.Section == "" && len(n.Object.Annotations) > 0 && f.known.Annotated():
			f.annotations(id, n)
		}
	}
}

// annotations notes those of an object that change what happens to traffic.
func (f *blindFinder) annotations(id topology.NodeID, n *topology.Node) {
	found := map[*descriptor.Annotation][]string{}
	var order []*descriptor.Annotation
	for _, name := range slices.Sorted(maps.Keys(n.Object.Annotations)) {
		if a := f.known.Annotation(n.Ref.Kind, name); a != nil {
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
		f.add(BlindSpot{Object: n.Object, At: f.graph.Lookup(n.Ref), Gates: gates, name: n.Ref.String(),
			message: fmt.Sprintf("%s has the annotation %s, which is not read: %s", n.Ref, names.String(), a.Does),
			alike:   fmt.Sprintf("objects have annotations %s, which are not read: %s", starred(a.Name), a.Does)}, "metadata", "annotations", found[a][0])
	}
}

// starred is the name of an annotation, or what stands for all with a prefix.
func starred(name string) string {
	if name[len(name)-1] == '/' {
		return name + "*"
	}
	return name
}

// coreFilters are the filters that the Gateway API defines, beside those that refer to something of an implementation.
func coreFilters() []string {
	return []string{"RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "RequestRedirect", "URLRewrite", "CORS", "ExternalAuth"}
}

// filters notes the filters of a rule, or of one of its backends, that nobody reads.
func (f *blindFinder) filters(id topology.NodeID, of model.Body, described map[model.GroupKind]bool, where string) {
	n := f.graph.Node(id)
	for _, filter := range of.Field("filters").Items {
		kind := filter.Text("type")
		if kind == "" || slices.Contains(coreFilters(), kind) {
			continue
		}
		s := BlindSpot{Object: n.Object, At: f.graph.Lookup(n.Ref), Gates: true, name: n.Ref.String()}
		ref := filter.Field("extensionRef")
		gk := model.GroupKind{Group: ref.Text("group"), Kind: ref.Text("kind")}
		switch {
		case kind != "ExtensionRef":
			s.message = fmt.Sprintf("filter %s of %s%s is not known: what it does to requests is not evaluated", kind, n.Ref, where)
			s.alike = fmt.Sprintf("rules have a filter %s, which is not known: what it does to requests is not evaluated", kind)
		case gk.Kind == "":
			s.message = fmt.Sprintf("a filter of %s%s does not say what it refers to: what it does to requests is not evaluated", n.Ref, where)
			s.alike = "rules have filters that do not say what they refer to: what they do to requests is not evaluated"
		case described[gk] || f.known.Knows(gk):
			continue
		default:
			to := model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: n.Ref.Namespace, Name: ref.Text("name")}
			s.message = fmt.Sprintf("a filter of %s%s names %s, but kind %s is not read: what it does to requests is not evaluated", n.Ref, where, to, gk)
			s.alike = fmt.Sprintf("rules have filters of kind %s, which is not read: what they do to requests is not evaluated", gk)
		}
		f.add(s, "spec", "rules", strconv.Itoa(n.Index), "filters")
	}
}
