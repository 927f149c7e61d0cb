package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayxv1alpha1 "sigs.k8s.io/gateway-api/apisx/v1alpha1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// GatewayGroup is the API group of the Gateway API.
const GatewayGroup = gatewayv1.GroupName

// TargetKind is a kind that can be named as a target, with its spellings.
type TargetKind struct {
	Gk     model.GroupKind
	Plural string
	Short  []string
}

// TargetKinds are the kinds of the Gateway API and its surroundings, the routes first.
func TargetKinds() []TargetKind {
	gw := func(kind, plural string, short ...string) TargetKind {
		return TargetKind{model.GroupKind{Group: GatewayGroup, Kind: kind}, plural, short}
	}
	core := func(kind, plural string, short ...string) TargetKind {
		return TargetKind{model.GroupKind{Kind: kind}, plural, short}
	}
	apps := func(kind, plural string, short ...string) TargetKind {
		return TargetKind{model.GroupKind{Group: "apps", Kind: kind}, plural, short}
	}
	return []TargetKind{gw("HTTPRoute", "httproutes"), gw("GRPCRoute", "grpcroutes"), gw("TLSRoute", "tlsroutes"),
		gw("TCPRoute", "tcproutes"),
		gw("UDPRoute", "udproutes"), gw("Gateway", "gateways", "gtw", "gw"), gw("GatewayClass", "gatewayclasses", "gc"),
		gw("ListenerSet", "listenersets", "lset"),
		{model.GroupKind{Group: gatewayxv1alpha1.GroupName, Kind: "XListenerSet"}, "xlistenersets",
			nil}, core("Service", "services", "svc"), core("Namespace", "namespaces", "ns"),
		core("Pod", "pods", "po"), apps("Deployment", "deployments", "deploy"), apps("StatefulSet", "statefulsets",
			"sts"), apps("DaemonSet", "daemonsets", "ds"),
		apps("ReplicaSet", "replicasets", "rs")}
}

func isRouteKind(gk model.GroupKind) bool {
	return gk.Group == GatewayGroup && strings.HasSuffix(gk.Kind, "Route")
}

// FindKind reads a word as a target kind; kinds that are only in the input are known by their kind
// and English plural.
func (s *Session) FindKind(word string) (model.GroupKind, bool) {
	word = strings.ToLower(word)
	for _, k := range TargetKinds() {
		if slices.Contains(SpellKind(k.Gk, k.Plural, k.Short), word) {
			return k.Gk, true
		}
	}
	for _, gk := range s.Snapshot.Kinds() {
		if slices.Contains(SpellKind(gk, descriptor.PluralOf(gk.Kind), nil), word) || s.isServedAs(gk, word) {
			return gk, true
		}
	}
	for id := range s.Graph.Len() { // kinds of which the input has names only
		n := s.Graph.Node(topology.NodeID(id))
		if gk := n.Ref.GroupKind(); n.Object == nil &&
			slices.Contains(SpellKind(gk, descriptor.PluralOf(gk.Kind), nil), word) {
			return gk, true
		}
	}
	return s.findDefinedKind(word)
}

// isServedAs reports whether the cluster that the input is from has this name for a kind.
func (s *Session) isServedAs(gk model.GroupKind, word string) bool {
	k := s.Snapshot.Cluster.FindKind(gk)
	return k != nil && (word == k.Singular || slices.Contains(SpellKind(gk, k.Plural, k.ShortNames), word))
}

// TargetName is a target as it was typed.
type TargetName struct {
	Kind          model.GroupKind // zero: any route
	name, section string
}

func (w TargetName) kindNoun() string {
	if w.Kind.Kind == "" {
		return "route"
	}
	return strings.ToLower(w.Kind.Kind)
}

// parseTarget reads [KIND/]NAME[/SECTION] or KIND NAME; the first segment is a kind only if it
// names a known one.
func (s *Session) parseTarget(args []string) (TargetName, error) {
	text := args[0]
	if len(args) == 2 {
		text += "/" + args[1]
	}
	parts := strings.Split(text, "/")
	var w TargetName
	if gk, ok := s.FindKind(parts[0]); ok && len(parts) > 1 {
		w.Kind, parts = gk, parts[1:]
	} else if len(args) == 2 || len(parts) > 2 {
		if err := s.policyForTarget(text); err != nil {
			return w, err
		}
		return w, unknownKindError(parts[0])
	}
	if len(parts) > 2 || slices.Contains(parts, "") {
		return w, failure.Usage("write [KIND/]NAME[/SECTION], for example httproute/shop/rule-1",
			"%q is not a target", text)
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
	return failure.Usage(hint, "unknown kind %q", word)
}

// FindTarget finds the one target that the arguments name.
func (s *Session) FindTarget(args []string) (model.Ref, []topology.NodeID, error) {
	w, err := s.parseTarget(args)
	if err != nil {
		return model.Ref{}, nil, err
	}
	var found []model.Ref
	for _, ref := range s.ListCandidates(w) {
		if ref.Name == w.name {
			found = append(found, ref)
		}
	}
	switch len(found) {
	case 0:
		return model.Ref{}, nil, s.targetNotFound(w, strings.Join(args, "/"))
	case 1:
	default:
		return model.Ref{}, nil, failure.Usage("name one of: "+FormatRefs(found),
			"%q is ambiguous: %d objects have this name", w.name, len(found))
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
		return ref, nil, failure.Usage(hint, "%s has no section %q", ref, w.section)
	}
	if len(ids) == 0 {
		return ref, nil, failure.Usage("policies are shown for gateways, listeners, routes, rules and their backends",
			"%s is not part of the traffic graph", ref)
	}
	return ref.WithSection(w.section), ids, nil
}

// ListCandidates returns the objects among which a name is looked for, those that are only named by
// others included.
func (s *Session) ListCandidates(w TargetName) []model.Ref {
	fits := func(ref model.Ref) bool {
		gk := ref.GroupKind()
		return s.IsInNamespace(ref) && (gk == w.Kind || w.Kind.Kind == "" && isRouteKind(gk))
	}
	var out []model.Ref
	for _, o := range s.Snapshot.Objects {
		if fits(o.Ref) {
			out = append(out, o.Ref)
		}
	}
	for id := range s.Graph.Len() {
		n := s.Graph.Node(topology.NodeID(id))
		// once, also if it has several nodes
		if n.Object == nil && n.Ref.Section == "" && fits(n.Ref) && s.Graph.Lookup(n.Ref)[0] == topology.NodeID(id) {
			out = append(out, n.Ref)
		}
	}
	return out
}

// IsInNamespace reports whether the flags select the namespace of ref: with files and without -n
// every namespace is selected.
func (s *Session) IsInNamespace(ref model.Ref) bool {
	return s.Flags.Namespace == "" || s.Flags.AllNamespaces || ref.Namespace == "" || ref.Namespace == s.Flags.Namespace
}

func (s *Session) targetNotFound(w TargetName, text string) error {
	if err := s.CheckNamespace(); err != nil {
		return err
	}
	if err := s.policyForTarget(text); err != nil {
		return err
	}
	var near []string
	var all []model.Ref
	for _, ref := range s.ListCandidates(w) {
		near = append(near, ref.Name)
		all = append(all, ref)
	}
	hint := ""
	kinds := form.Nearest(w.name, listKindWords())
	switch near = form.Nearest(w.name, near); {
	case len(near) > 0:
		ref := all[slices.IndexFunc(all, func(r model.Ref) bool { return r.Name == near[0] })]
		hint = "did you mean " + LowerKind(ref) + "/" + ref.Name + "?"
	case w.Kind.Kind == "" && w.section != "" && len(kinds) > 0:
		hint = "did you mean " + kinds[0] + "/" + w.section + "?"
	case len(all) > 0:
		hint = "there are: " + FormatRefs(all)
	}
	return s.NotFoundError(cmp.Or(s.hintRefused(w.name), hint), "no %s %q %s", w.kindNoun(), w.name, s.DescribeScope())
}

// hintRefused says that the API server refuses an object of a name; "" if the input has none such.
func (s *Session) hintRefused(name string) string {
	for _, ref := range s.Snapshot.Refused() {
		if ref.Name == name {
			return "the input has " + ref.String() + ", but the API server refuses it: kubectl dopolicy check " +
				s.Flags.Args()
		}
	}
	return ""
}

// DescribeScope says in which part of the input names are looked for.
func (s *Session) DescribeScope() string {
	if s.Flags.Namespace != "" && !s.Flags.AllNamespaces {
		return "in namespace " + s.Flags.Namespace
	}
	return "in the input"
}

// listKindWords returns the words for kinds that a target may start with.
func listKindWords() []string {
	var out []string
	for _, k := range TargetKinds() {
		out = append(out, strings.ToLower(k.Gk.Kind), k.Plural)
	}
	return out
}

// LimitNames shortens a long list of names.
func LimitNames(names []string) []string {
	const most = 8
	if len(names) > most {
		return append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return names
}

// FormatRefs lists objects as hints do.
func FormatRefs(refs []model.Ref) string {
	var out []string
	for _, r := range refs {
		name := LowerKind(r) + "/" + r.Name
		if r.Namespace != "" {
			name += " in namespace " + r.Namespace
		}
		if r.Name != "" {
			out = append(out, name)
		}
	}
	return strings.Join(LimitNames(out), ", ")
}

// LowerKind is the kind of an object in lower case, as it is typed.
func LowerKind(ref model.Ref) string { return strings.ToLower(ref.Kind) }

// FormatTypedRef names an object as the command line takes it.
func FormatTypedRef(ref model.Ref) string {
	if ref.Name == "" {
		return ""
	}
	s := LowerKind(ref) + "/" + ref.Name
	if ref.Section != "" {
		s += "/" + ref.Section
	}
	return s
}
