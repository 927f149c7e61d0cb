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
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
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

// NewTargetName is the name of any object of a kind, zero for any route, in a namespace, "" for those
// that the flags select.
func NewTargetName(kind model.GroupKind, namespace string) TargetName {
	return TargetName{Kind: kind, objectName: objectName{namespace: namespace}}
}

// TargetName is one way to read a target that was typed.
type TargetName struct {
	Kind    model.GroupKind // zero: any route
	anyKind bool            // with no Kind: any target
	objectName
}

func (w TargetName) kindNoun() string {
	if w.Kind.Kind == "" {
		return "route"
	}
	return strings.ToLower(w.Kind.Kind)
}

// parseTarget returns the ways to read [KIND/][NAMESPACE/]NAME[/SECTION], the likeliest first. The
// first word is a kind if it names a known one; if there is no such object, it may be a namespace.
func (s *Session) parseTarget(text string) ([]TargetName, error) {
	words := strings.Split(text, "/")
	var out []TargetName
	add := func(kind model.GroupKind, words []string) {
		for _, n := range listReadings(words) {
			if !strings.Contains(n.section, "/") {
				out = append(out, TargetName{Kind: kind, objectName: n})
			}
		}
	}
	gk, known := s.FindKind(words[0])
	if known && len(words) > 1 {
		add(gk, words[1:])
	}
	add(model.GroupKind{}, words)
	if known && len(words) > 1 {
		out = slices.DeleteFunc(out, func(w TargetName) bool { return w.Kind.Kind == "" && w.namespace == "" })
	}
	if len(out) > 0 {
		return out, nil
	}
	if err := s.policyForTarget(text); err != nil {
		return nil, err
	}
	return nil, failure.Usage("write [KIND/][NAMESPACE/]NAME[/SECTION], for example httproute/shop/cart/rule-1",
		"%q is not a target", text)
}

func unknownKindError(word string) error {
	hint := "known kinds: httproute, grpcroute, tlsroute, tcproute, udproute, gateway, gatewayclass, service, namespace"
	if near := form.Nearest(word, listKindWords()); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return failure.Usage(hint, "unknown kind or namespace %q", word)
}

// FindTarget finds the one target that a text names.
func (s *Session) FindTarget(text string) (model.Ref, []topology.NodeID, error) {
	readings, err := s.parseTarget(text)
	if err != nil {
		return model.Ref{}, nil, err
	}
	found, withoutSection := s.findReadings(readings)
	if len(found)+len(withoutSection) == 0 && readings[0].Kind.Kind == "" { // no route: then anything else
		others := slices.Clone(readings)
		for i := range others {
			others[i].anyKind = true
		}
		found, withoutSection = s.findReadings(others)
	}
	switch {
	case len(found) == 1:
		return found[0], s.Graph.Lookup(found[0]), nil
	case len(found) > 1:
		return model.Ref{}, nil, failure.Usage("name one of: "+FormatRefs(found), "%q is ambiguous: %d %s have this name",
			text, len(found), nounOf(found))
	case len(withoutSection) == 0:
		return model.Ref{}, nil, s.targetNotFound(readings, text)
	}
	if err := s.policyForTarget(text); err != nil {
		return model.Ref{}, nil, err
	}
	return withoutSection[0], nil, s.explainMissingSection(withoutSection[0])
}

// findReadings returns the targets that are meant by one of the readings, and those of which only the
// object is there.
func (s *Session) findReadings(readings []TargetName) (found, withoutSection []model.Ref) {
	for _, w := range readings {
		if w.Kind.Kind == "" && readings[0].Kind.Kind != "" && len(found)+len(withoutSection) > 0 {
			break // the first word is a kind
		}
		for _, ref := range s.ListCandidates(w) {
			switch {
			case ref.Name != w.name:
			case len(s.Graph.Lookup(ref.WithSection(w.section))) > 0:
				found = append(found, ref.WithSection(w.section))
			default:
				withoutSection = append(withoutSection, ref.WithSection(w.section))
			}
		}
	}
	return found, withoutSection
}

// nounOf is what several objects that may be meant have in common.
func nounOf(found []model.Ref) string {
	for _, ref := range found {
		if ref.WithoutSection() == found[0].WithoutSection() || ref.Section != found[0].Section {
			return "targets"
		}
	}
	return "objects"
}

// explainMissingSection is the error for a section that an object does not have, or for an object
// that is no target.
func (s *Session) explainMissingSection(ref model.Ref) error {
	if ref.Section == "" || len(s.Graph.Lookup(ref.WithoutSection())) == 0 {
		return failure.Usage("policies are shown for gateways, listeners, routes, rules and their backends",
			"%s is not part of the traffic graph", ref.WithoutSection())
	}
	noun := view.SectionNoun(ref.Kind)
	sections := s.Graph.Sections(ref.WithoutSection())
	if len(sections) == 0 {
		return failure.Usage("name the object alone", "%s has no %ss", ref.WithoutSection(), noun)
	}
	hint := "it has: " + strings.Join(LimitNames(sections), ", ")
	if near := form.Nearest(ref.Section, sections); len(near) > 0 && len(sections) > 3 {
		hint = "did you mean " + near[0] + "? " + hint
	}
	return failure.Usage(hint, "%s has no %s %q", ref.WithoutSection(), noun, ref.Section)
}

// ListCandidates returns the objects among which a name is looked for, those that are only named by
// others included.
func (s *Session) ListCandidates(w TargetName) []model.Ref {
	fits := func(ref model.Ref) bool {
		gk := ref.GroupKind()
		return w.isInNamespace(ref.Namespace, s.Flags) && (gk == w.Kind || w.Kind.Kind == "" && isRouteKind(gk) ||
			w.anyKind && len(s.Graph.Lookup(ref)) > 0)
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
	return objectName{}.isInNamespace(ref.Namespace, s.Flags)
}

// targetNotFound is the error for a target that is not in the input, with what may be meant.
func (s *Session) targetNotFound(readings []TargetName, text string) error {
	if err := s.policyForTarget(text); err != nil {
		return err
	}
	w, where := readings[0], s.DescribeScope()
	if w.Kind.Kind == "" && strings.Count(text, "/") > 1 && !slices.Contains(ListNamespaces(s, nil, ""), w.namespace) {
		return unknownKindError(w.namespace)
	}
	for _, r := range readings {
		if r.namespace != "" && slices.Contains(ListNamespaces(s, nil, ""), r.namespace) {
			w, where = r, "in namespace "+r.namespace
			break
		}
	}
	if w.namespace == "" {
		if err := s.CheckNamespace(); err != nil {
			return err
		}
	}
	var names []string
	all := s.ListCandidates(w)
	for _, ref := range all {
		names = append(names, ref.Name)
	}
	hint := ""
	kinds := form.Nearest(w.name, listKindWords())
	switch near := form.Nearest(w.name, names); {
	case len(near) > 0:
		hint = "did you mean " + all[slices.Index(names, near[0])].String() + "?"
	case w.Kind.Kind == "" && w.section != "" && len(kinds) > 0:
		hint = "did you mean " + kinds[0] + "/" + w.section + "?"
	case len(all) > 0:
		hint = "there are: " + FormatRefs(all)
	}
	return s.NotFoundError(cmp.Or(s.hintRefused(w.name), hint), "no %s %q %s", w.kindNoun(), w.name, where)
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
		if r.Name != "" {
			out = append(out, r.String())
		}
	}
	return strings.Join(LimitNames(out), ", ")
}

// FormatTypedRef names an object as the command line takes it, "" for none.
func FormatTypedRef(ref model.Ref) string {
	if ref.Name == "" {
		return ""
	}
	return ref.String()
}
