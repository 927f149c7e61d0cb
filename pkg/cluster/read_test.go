package cluster

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestNamespacesToTry: what objects say becomes part of a request's path, and must not lead
// anywhere else.
func TestNamespacesToTry(t *testing.T) {
	o, err := document.ReadServerObject([]byte(`{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a", "namespace": "shop"}, "spec": {"to": [
		{"namespace": "infra"}, {"namespace": "kube-system/secrets/db"}, {"namespace": "../namespaces/x/secrets/y"}, {"namespace": "A?b"}, {"namespace": ""}]}}`), document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	l := document.NewListReader(document.ListOptions{Cluster: "test", Limits: document.DefaultLimits()})
	l.AddObject(o)
	r := &reader{options: Options{Namespaces: []string{"home", "no/home"}}, results: []document.Result{l.Finish()}}
	if got, want := r.namespacesToTry(), []string{"home", "infra", "shop"}; !reflect.DeepEqual(got, want) {
		t.Errorf("namespaces %q, want %q", got, want)
	}
}

// Definitions are read where a kind that is served is read as its definition says, also if no other
// policies are asked about; without the permission, kinds of which there are objects are named.
func TestUndecidedKinds(t *testing.T) {
	tint, paint := model.GroupKind{Group: "policies.example.com", Kind: "TintPolicy"}, model.GroupKind{
		Group: "policies.example.com", Kind: "PaintPolicy"}
	served := []model.ServedKind{{GroupKind: model.DefinitionKind()}, {GroupKind: tint}, {GroupKind: paint}}
	r := &reader{options: Options{Kinds: []model.GroupKind{tint, paint}}, served: served,
		refusals: map[model.GroupKind]*refusedKind{}}
	if r.definitionJobs() != nil {
		t.Error("definitions are read that nobody needs")
	}
	r.options.UndecidedKinds = []model.GroupKind{tint}
	if k := r.definitionJobs(); len(k) != 1 || k[0].kind.GroupKind != model.DefinitionKind() {
		t.Errorf("definitions are not read: %v", k)
	}
	for gk, want := range map[model.GroupKind]bool{tint: true, paint: false} {
		crd := definitionOf(t, gk)
		if r.options.isNeededDefinition(crd) != want {
			t.Errorf("the definition of %s is kept: %v", gk, !want)
		}
	}
	if got := r.missingDefinitionProblems(); got != nil {
		t.Errorf("without objects: %+v", got)
	}
	r.results = []document.Result{{Objects: []*model.Object{{Ref: model.Ref{Group: tint.Group, Kind: tint.Kind,
		Name: "a"}}, {Ref: model.Ref{Group: paint.Group, Kind: paint.Kind, Name: "b"}}}}}
	got := r.missingDefinitionProblems()
	if len(got) != 1 || !got[0].IsIncomplete() || !strings.Contains(got[0].Message, tint.String()) ||
		strings.Contains(got[0].Message, paint.String()) {
		t.Errorf("with objects: %+v", got)
	}
}

func definitionOf(t *testing.T, gk model.GroupKind) *model.Object {
	t.Helper()
	in, err := load.Files(t.Context(), load.Options{Paths: []string{"-"},
		Stdin: strings.NewReader(
			"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec: {group: " + gk.Group + ", names: {kind: " + gk.Kind + "}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	return in.Objects[0]
}

// Definitions are asked for by name where few can matter: those of kinds that are not known. All
// are listed where objects are judged by them, where they are watched, and where many can matter.
func TestDefinitionsByName(t *testing.T) {
	served := []model.ServedKind{{GroupKind: model.DefinitionKind()},
		{GroupKind: model.GroupKind{Group: "a.example.com", Kind: "Known"}, Plural: "knowns"},
		{GroupKind: model.GroupKind{Group: "b.example.com", Kind: "Other"},
			Plural: "others"}, {GroupKind: model.GroupKind{Group: "apps", Kind: "Deployment"}}}
	few := Options{Kinds: []model.GroupKind{served[1].GroupKind},
		IsPolicyKind: func(*model.Object) bool { return true }}
	schemas, watched := few, few
	schemas.AllDefinitions, watched.Cache = true, &Cache{}
	many := served
	for i := range maxNamedDefinitions {
		many = append(many, model.ServedKind{GroupKind: model.GroupKind{Group: "c.example.com",
			Kind: "Kind" + strconv.Itoa(i)}, Plural: "kinds" + strconv.Itoa(i)})
	}
	for name, tc := range map[string]struct {
		o      Options
		served []model.ServedKind
		want   string
	}{
		"few": {few, served, "metadata.name=others.b.example.com"}, "schemas": {schemas, served,
			""}, "watched": {watched, served, ""}, "many": {few, many, ""},
	} {
		jobs := (&reader{options: tc.o, served: tc.served}).definitionJobs()
		if len(jobs) != 1 || jobs[0].fieldSelector != tc.want || !jobs[0].fromCache || jobs[0].isKept == nil {
			t.Errorf("%s: %+v", name, jobs)
		}
	}
	if jobs := (&reader{options: few, served: many[:len(many)-1]}).definitionJobs(); len(jobs) != maxNamedDefinitions {
		t.Errorf("%d requests for the definitions of %d kinds", len(jobs), maxNamedDefinitions)
	}
}
