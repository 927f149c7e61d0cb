package vectortest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/matrix"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestWithheld takes the objects of every vector for a whole cluster, withholds kinds and
// namespaces, and holds the answers of a user who may not read them against those of one who may
// read everything: what is not marked as unsure has to be right, and an answer that differs must
// not say that it is complete.
func TestWithheld(t *testing.T) {
	eachVector(t, func(t *testing.T, o load.Options, settings []string) {
		if why := takenToBe[strings.TrimPrefix(t.Name(), "TestWithheld/")]; why != "" {
			t.Skip(why)
		}
		if settings == nil {
			settings = []string{oneDialect}
		}
		withheld(t, o, settings, users)
	})
	for dialect, demo := range map[string]string{"rfc": "../../testdata/demo-rfc0009",
		"operator": "../../testdata/demo"} {
		t.Run("demo/"+dialect, func(t *testing.T) {
			withheld(t, load.Options{Paths: []string{demo}}, []string{"kuadrant.profile=" + dialect}, moreUsers)
		})
		t.Run("references/"+dialect, func(t *testing.T) {
			withheld(t, load.Options{Paths: []string{"testdata/withheld.yaml"}},
				[]string{"kuadrant.profile=" + dialect}, moreUsers)
		})
	}
}

// takenToBe has the vectors about what is taken to be so, and is not marked, where it may not be read: most
// users may read no Secrets and nothing of the controller's own configuration.
var takenToBe = map[string]string{
	"envoygateway/listener-certificates": "certificates that may not be read are taken to be good",
	"envoygateway/merged-gateways":       "Gateways whose EnvoyProxy may not be read are taken not to be merged",
}

// oneDialect keeps definitions that may not be read from changing how policies are read.
const oneDialect = "kuadrant.profile=operator"

// user is what somebody may read.
type user struct {
	name string
	may  func(gk model.GroupKind, namespace string) bool
}

func withheld(t *testing.T, o load.Options, settings []string, users func(*model.Snapshot) []user) {
	t.Helper()
	in, catalog := loaded(t, o, settings)
	whole := answersTo(t, in, func(model.GroupKind, string) bool { return true }, catalog)
	for _, u := range users(in) {
		got := answersTo(t, in, u.may, catalog)
		if wrong := compare(whole, got); len(wrong) > 0 {
			t.Errorf("%s:\n%s", u.name, strings.Join(wrong, "\n"))
		}
	}
}

// spaceOf is the namespace that an object counts as being in.
func spaceOf(ref model.Ref) string {
	if ref.Kind == "Namespace" && ref.Group == "" {
		return ref.Name
	}
	return ref.Namespace
}

// users are those who may read all but one kind, one namespace only, or all but one, and who may
// read nothing.
func users(in *model.Snapshot) []user {
	var out []user
	add := func(name string, may func(gk model.GroupKind, namespace string) bool) {
		out = append(out, user{name, may})
	}
	for _, kind := range append(in.Kinds(), model.GroupKind{Group: "gateway.networking.k8s.io",
		Kind: "ReferenceGrant"}) {
		if kind.Kind != "CustomResourceDefinition" {
			add("without "+kind.String(), func(gk model.GroupKind, _ string) bool { return gk != kind })
		}
	}
	for _, ns := range spaces(in) {
		add("with namespace "+ns+" only", func(_ model.GroupKind, in string) bool { return in == ns })
		add("with namespace "+ns+" and what has none", func(_ model.GroupKind, in string) bool {
			return in == ns ||
				in == ""
		})
		add("without namespace "+ns, func(_ model.GroupKind, in string) bool { return in != ns })
	}
	add("without anything", func(model.GroupKind, string) bool { return false })
	return out
}

// moreUsers are also those who may read a kind in one namespace only, or in all but one.
func moreUsers(in *model.Snapshot) []user {
	out := users(in)
	for _, kind := range in.Kinds() {
		if kind.Kind == "CustomResourceDefinition" {
			continue
		}
		for _, ns := range spaces(in) {
			out = append(out, user{"without " + kind.String() + " in " + ns,
				func(gk model.GroupKind, in string) bool { return gk != kind || in != ns && in != "" }},
				user{"with " + kind.String() + " in " + ns + " only",
					func(gk model.GroupKind, in string) bool { return gk != kind || in == ns }})
		}
	}
	return out
}

// answers are those that are compared.
type answers struct {
	effective  *effective.EffectivePolicyList
	overridden *overridden.OverriddenRuleList
	status     *status.StatusList
	reach      []*reach.PolicyReach
	explained  *explain.Explanation
	matrix     *matrix.PolicyMatrix
}

// resolutionFor resolves a cluster with these objects for a user who may read some of them.
func resolutionFor(in *model.Snapshot, may func(model.GroupKind, string) bool,
	catalog *descriptor.Catalog) *resolve.Resolution {
	cluster := &model.Cluster{Context: "test"}
	kinds := append(in.Kinds(), gatewayapi.Kinds()...)
	for _, k := range catalog.Kinds() {
		kinds = append(kinds, k.GroupKind)
	}
	slices.SortFunc(kinds, model.GroupKind.Compare)
	var problems []model.Problem
	for _, gk := range slices.Compact(kinds) {
		namespaced := gk.Kind != "GatewayClass" && gk.Kind != "Namespace" && gk.Kind != "ClusterIssuer"
		cluster.Kinds = append(cluster.Kinds, model.ServedKind{GroupKind: gk, Plural: strings.ToLower(gk.Kind) + "s",
			Namespaced: namespaced})
		refused := slices.ContainsFunc(append(spaces(in), ""), func(ns string) bool { return !may(gk, ns) })
		if !refused || gk.Kind == "CustomResourceDefinition" {
			continue
		}
		gap := model.UnreadObjects{Kind: gk}
		for _, ns := range spaces(in) {
			if may(gk, ns) && (namespaced || gk.Kind == "Namespace") {
				gap.Except = append(gap.Except, ns)
			}
		}
		cluster.Unread = append(cluster.Unread, gap)
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.Forbidden,
			Ref: &model.Ref{Group: gk.Group, Kind: gk.Kind, Name: "*"}, Message: "cannot list"})
	}
	var objects []*model.Object
	for _, o := range in.Objects {
		if !cluster.IsUnread(o.Ref.GroupKind(), spaceOf(o.Ref)) {
			objects = append(objects, o)
		}
	}
	s := model.NewSnapshot(objects, problems)
	s.Cluster = cluster
	return resolve.Run(s, build.Graph(s, catalog.Settings(), catalog.Links()...), catalog)
}

// answersTo answers for a cluster with these objects and a user who may read some of them.
func answersTo(t testing.TB, in *model.Snapshot, may func(model.GroupKind, string) bool,
	catalog *descriptor.Catalog) answers {
	r := resolutionFor(in, may, catalog)
	out := answers{effective: effective.List(r, view.Query{ShowNone: true}), overridden: overridden.List(r,
		view.Query{}, nil, ""),
		status: status.Predict(r, status.Query{Objects: true}, plugin.StatusFunctions(plugins.All()))}
	out.explained = explain.Explain(r, view.Query{}, "")
	out.matrix = matrixOf(t, r, view.Query{Kinds: policyKinds(in, r)})
	for _, k := range r.Kinds {
		for _, p := range k.Policies {
			out.reach = append(out.reach, reach.Find(r, k, p, ""))
		}
	}
	return out
}

func spaces(in *model.Snapshot) []string {
	var out []string
	for _, o := range in.Objects {
		if ns := spaceOf(o.Ref); ns != "" && !slices.Contains(out, ns) {
			out = append(out, ns)
		}
	}
	slices.Sort(out)
	return out
}

// compare lists what is wrong with an answer that knows less.
func compare(whole, got answers) []string {
	var out []string
	wrong := func(format string, args ...any) { out = append(out, "  "+fmt.Sprintf(format, args...)) }
	for _, item := range got.effective.Items {
		if len(item.Unread) > 0 {
			continue
		}
		same := slices.ContainsFunc(whole.effective.Items, func(w view.EffectivePolicy) bool {
			return w.PolicyKind == item.PolicyKind && w.Target == item.Target && w.ID == item.ID &&
				reflect.DeepEqual(w.Paths, item.Paths) &&
				reflect.DeepEqual(w.Lost, item.Lost) && reflect.DeepEqual(w.Rules, item.Rules) &&
				reflect.DeepEqual(w.Policies, item.Policies)
		})
		if !same {
			wrong("effective: unmarked: %s at %s via %v: %v", item.PolicyKind, item.Target, item.Paths, item.Spec)
		}
	}
	for _, item := range got.overridden.Items {
		if len(item.Unread) == 0 && !slices.ContainsFunc(whole.overridden.Items,
			func(w overridden.OverriddenRule) bool { return reflect.DeepEqual(w, item) }) {
			wrong("overridden: unmarked: %s %s of %s at %s: %s everywhere %v", item.PolicyKind, item.Rule,
				item.Source.Policy, item.Target, item.Message, item.Everywhere)
		}
	}
	for _, item := range got.explained.Items {
		if len(item.Unread) == 0 && !slices.ContainsFunc(whole.explained.Items, func(w explain.ExplainedPolicy) bool {
			return w.Target == item.Target && reflect.DeepEqual(w.Steps, item.Steps)
		}) {
			wrong("explain: unmarked: %s at %s via %v", item.PolicyKind, item.Target, item.Paths)
		}
	}
	for _, r := range got.reach {
		i := slices.IndexFunc(whole.reach, func(w *reach.PolicyReach) bool { return w.Policy == r.Policy })
		for _, item := range r.Items {
			if len(item.Unread) == 0 && !slices.ContainsFunc(whole.reach[i].Items,
				func(w reach.ReachItem) bool { return reflect.DeepEqual(w, item) }) {
				wrong("reach %s: unmarked: %s at %s via %v: %s", r.Policy, item.State, item.Target,
					item.Paths, item.Reason)
			}
		}
		if r.Complete && !reflect.DeepEqual(r.Items, whole.reach[i].Items) {
			wrong("reach %s: complete", r.Policy)
		}
	}
	for _, item := range got.status.Items {
		i := slices.IndexFunc(whole.status.Items, func(w status.ObjectStatus) bool { return w.Object == item.Object })
		if i < 0 {
			wrong("status: %s is not in the whole answer", item.Object)
			continue
		}
		compareStatus(whole.status.Items[i], item, wrong)
	}
	compareMatrix(whole.matrix, got.matrix, wrong)
	if got.effective.Complete && !reflect.DeepEqual(got.effective.Items, whole.effective.Items) {
		wrong("effective: complete")
	}
	return out
}

func compareStatus(whole, got status.ObjectStatus, wrong func(string, ...any)) {
	if got.AttachedRoutes != nil && *got.AttachedRoutes != *whole.AttachedRoutes {
		wrong("status of %s: attachedRoutes %d, not %d", got.Object, *got.AttachedRoutes, *whole.AttachedRoutes)
	}
	for _, a := range got.Ancestors {
		var have []status.Condition
		for _, w := range whole.Ancestors {
			if reflect.DeepEqual(a.AncestorRef, w.AncestorRef) && (a.ControllerName == w.ControllerName ||
				a.ControllerName == "") {
				have = append(have, w.Conditions...)
			}
		}
		for _, c := range a.Conditions {
			if c.Status != "Unknown" &&
				!slices.ContainsFunc(have, func(w status.Condition) bool { return sameCondition(w, c) }) {
				wrong("status of %s towards %v: %v, not %v", got.Object, a.AncestorRef, c, have)
			}
		}
	}
}

// sameCondition compares conditions. The words of an acceptance are the vendor profile's, and say
// whether traffic comes at all, which may not be known.
func sameCondition(whole, got status.Condition) bool {
	if got.Type == "Accepted" && got.Status == "True" {
		whole.Message, got.Message = "", ""
	}
	return whole == got
}
