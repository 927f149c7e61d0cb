package cli

import (
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayxv1alpha1 "sigs.k8s.io/gateway-api/apisx/v1alpha1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// gatewayGroup is the API group of the Gateway API.
const gatewayGroup = gatewayv1.GroupName

// targetKind is a kind that can be named as a target, with its spellings.
type targetKind struct {
	gk     model.GroupKind
	plural string
	short  []string
}

// targetKinds are the kinds of the Gateway API and its surroundings, the routes first.
func targetKinds() []targetKind {
	gw := func(kind, plural string, short ...string) targetKind {
		return targetKind{model.GroupKind{Group: gatewayGroup, Kind: kind}, plural, short}
	}
	core := func(kind, plural string, short ...string) targetKind {
		return targetKind{model.GroupKind{Kind: kind}, plural, short}
	}
	apps := func(kind, plural string, short ...string) targetKind {
		return targetKind{model.GroupKind{Group: "apps", Kind: kind}, plural, short}
	}
	return []targetKind{gw("HTTPRoute", "httproutes"), gw("GRPCRoute", "grpcroutes"), gw("TLSRoute", "tlsroutes"), gw("TCPRoute", "tcproutes"),
		gw("UDPRoute", "udproutes"), gw("Gateway", "gateways", "gtw", "gw"), gw("GatewayClass", "gatewayclasses", "gc"),
		gw("ListenerSet", "listenersets", "lset"),
		{model.GroupKind{Group: gatewayxv1alpha1.GroupName, Kind: "XListenerSet"}, "xlistenersets", nil}, core("Service", "services", "svc"), core("Namespace", "namespaces", "ns"),
		core("Pod", "pods", "po"), apps("Deployment", "deployments", "deploy"), apps("StatefulSet", "statefulsets", "sts"), apps("DaemonSet", "daemonsets", "ds"),
		apps("ReplicaSet", "replicasets", "rs")}
}

func isRouteKind(gk model.GroupKind) bool {
	return gk.Group == gatewayGroup && strings.HasSuffix(gk.Kind, "Route")
}

// findKind reads a word as a target kind; kinds that are only in the input are known by their kind and English plural.
func (s *session) findKind(word string) (model.GroupKind, bool) {
	word = strings.ToLower(word)
	for _, k := range targetKinds() {
		if slices.Contains(spellKind(k.gk, k.plural, k.short), word) {
			return k.gk, true
		}
	}
	for _, gk := range s.Snapshot.Kinds() {
		if slices.Contains(spellKind(gk, descriptor.PluralOf(gk.Kind), nil), word) || s.isServedAs(gk, word) {
			return gk, true
		}
	}
	for id := range s.Graph.Len() { // kinds of which the input has names only
		n := s.Graph.Node(topology.NodeID(id))
		if gk := n.Ref.GroupKind(); n.Object == nil && slices.Contains(spellKind(gk, descriptor.PluralOf(gk.Kind), nil), word) {
			return gk, true
		}
	}
	return s.findDefinedKind(word)
}

// isServedAs reports whether the cluster that the input is from has this name for a kind.
func (s *session) isServedAs(gk model.GroupKind, word string) bool {
	k := s.Snapshot.Cluster.FindKind(gk)
	return k != nil && (word == k.Singular || slices.Contains(spellKind(gk, k.Plural, k.ShortNames), word))
}

// targetName is a target as it was typed.
type targetName struct {
	kind          model.GroupKind // zero: any route
	name, section string
}

func (w targetName) kindNoun() string {
	if w.kind.Kind == "" {
		return "route"
	}
	return strings.ToLower(w.kind.Kind)
}

// parseTarget reads [KIND/]NAME[/SECTION] or KIND NAME; the first segment is a kind only if it names a known one.
func (s *session) parseTarget(args []string) (targetName, error) {
	text := args[0]
	if len(args) == 2 {
		text += "/" + args[1]
	}
	parts := strings.Split(text, "/")
	var w targetName
	if gk, ok := s.findKind(parts[0]); ok && len(parts) > 1 {
		w.kind, parts = gk, parts[1:]
	} else if len(args) == 2 || len(parts) > 2 {
		if err := s.policyForTarget(text); err != nil {
			return w, err
		}
		return w, unknownKindError(parts[0])
	}
	if len(parts) > 2 || slices.Contains(parts, "") {
		return w, newUsageError("write [KIND/]NAME[/SECTION], for example httproute/shop/rule-1", "%q is not a target", text)
	}
	w.name = parts[0]
	if len(parts) == 2 {
		w.section = parts[1]
	}
	return w, nil
}

func unknownKindError(word string) error {
	hint := "known kinds: httproute, grpcroute, tlsroute, tcproute, udproute, gateway, gatewayclass, service, namespace"
	if near := form.Nearest(word, listKindWords()); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return newUsageError(hint, "unknown kind %q", word)
}

// findTarget finds the one target that the arguments name.
func (s *session) findTarget(args []string) (model.Ref, []topology.NodeID, error) {
	w, err := s.parseTarget(args)
	if err != nil {
		return model.Ref{}, nil, err
	}
	var found []model.Ref
	for _, ref := range s.listCandidates(w) {
		if ref.Name == w.name {
			found = append(found, ref)
		}
	}
	switch len(found) {
	case 0:
		return model.Ref{}, nil, s.targetNotFound(w, strings.Join(args, "/"))
	case 1:
	default:
		return model.Ref{}, nil, newUsageError("name one of: "+formatRefs(found), "%q is ambiguous: %d objects have this name", w.name, len(found))
	}
	ref := found[0]
	ids := s.Graph.Lookup(ref.WithSection(w.section))
	if len(ids) == 0 {
		if err := s.policyForTarget(strings.Join(args, "/")); err != nil {
			return ref, nil, err
		}
	}
	if len(ids) == 0 && w.section != "" {
		sections := s.Graph.Sections(ref)
		hint := "it has: " + strings.Join(sections, ", ")
		if near := form.Nearest(w.section, sections); len(near) > 0 {
			hint = "did you mean " + near[0] + "?"
		}
		return ref, nil, newUsageError(hint, "%s has no section %q", ref, w.section)
	}
	if len(ids) == 0 {
		return ref, nil, newUsageError("policies are shown for gateways, listeners, routes, rules and their backends", "%s is not part of the traffic graph", ref)
	}
	return ref.WithSection(w.section), ids, nil
}

// listCandidates returns the objects among which a name is looked for, those that are only named by
// others included.
func (s *session) listCandidates(w targetName) []model.Ref {
	fits := func(ref model.Ref) bool {
		gk := ref.GroupKind()
		return s.isInNamespace(ref) && (gk == w.kind || w.kind.Kind == "" && isRouteKind(gk))
	}
	var out []model.Ref
	for _, o := range s.Snapshot.Objects {
		if fits(o.Ref) {
			out = append(out, o.Ref)
		}
	}
	for id := range s.Graph.Len() {
		n := s.Graph.Node(topology.NodeID(id))
		if n.Object == nil && n.Ref.Section == "" && fits(n.Ref) && s.Graph.Lookup(n.Ref)[0] == topology.NodeID(id) { // once, also if it has several nodes
			out = append(out, n.Ref)
		}
	}
	return out
}

// isInNamespace reports whether the flags select the namespace of ref: with files and without -n
// every namespace is selected.
func (s *session) isInNamespace(ref model.Ref) bool {
	return s.flags.namespace == "" || s.flags.allNamespaces || ref.Namespace == "" || ref.Namespace == s.flags.namespace
}

func (s *session) targetNotFound(w targetName, text string) error {
	if err := s.checkNamespace(); err != nil {
		return err
	}
	if err := s.policyForTarget(text); err != nil {
		return err
	}
	var near []string
	var all []model.Ref
	for _, ref := range s.listCandidates(w) {
		near = append(near, ref.Name)
		all = append(all, ref)
	}
	hint := ""
	kinds := form.Nearest(w.name, listKindWords())
	switch near = form.Nearest(w.name, near); {
	case len(near) > 0:
		ref := all[slices.IndexFunc(all, func(r model.Ref) bool { return r.Name == near[0] })]
		hint = "did you mean " + lowerKind(ref) + "/" + ref.Name + "?"
	case w.kind.Kind == "" && w.section != "" && len(kinds) > 0:
		hint = "did you mean " + kinds[0] + "/" + w.section + "?"
	case len(all) > 0:
		hint = "there are: " + formatRefs(all)
	}
	return s.notFoundError(hint, "no %s %q %s", w.kindNoun(), w.name, s.describeScope())
}

// describeScope says in which part of the input names are looked for.
func (s *session) describeScope() string {
	if s.flags.namespace != "" && !s.flags.allNamespaces {
		return "in namespace " + s.flags.namespace
	}
	return "in the input"
}

// listKindWords returns the words for kinds that a target may start with.
func listKindWords() []string {
	var out []string
	for _, k := range targetKinds() {
		out = append(out, strings.ToLower(k.gk.Kind), k.plural)
	}
	return out
}

// limitNames shortens a long list of names.
func limitNames(names []string) []string {
	const most = 8
	if len(names) > most {
		return append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return names
}

// formatRefs lists objects as hints do.
func formatRefs(refs []model.Ref) string {
	var out []string
	for _, r := range refs {
		name := lowerKind(r) + "/" + r.Name
		if r.Namespace != "" {
			name += " in namespace " + r.Namespace
		}
		if r.Name != "" {
			out = append(out, name)
		}
	}
	return strings.Join(limitNames(out), ", ")
}

// lowerKind is the kind of an object in lower case, as it is typed.
func lowerKind(ref model.Ref) string { return strings.ToLower(ref.Kind) }
