package descriptor

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const acme = `
apiVersion: dopolicy.dev/v1alpha1
kind: Vendor
name: acme
known: [Dashboard.acme.example, DryWall.acme.example]
parameters:
- {kind: ConfigMap, controllers: [acme.example/controller]}
- {kind: Tuning.acme.example}
annotations:
- {name: acme.example/, except: [acme.example/owner], noGates: [acme.example/strip], on: [HTTPRoute], does: Acme takes limits from them}
- {name: acme.example/owner-limit, does: Acme limits the owner}
connections: ["*Wall.acme.example", Fence]
reads:
- {kind: Door.acme.example, with: [ConfigMap, Hinge.acme.example]}
- {kind: Lock.acme.example}
`

func TestKnowledge(t *testing.T) {
	c, err := NewCatalog(nil, []form.Source{{Name: "acme.yaml", Text: []byte(acme)}}, nil, Functions{})
	if err != nil {
		t.Fatal(err)
	}
	k := c.Knowledge()
	kind := model.ParseGroupKind
	for what, got := range map[string]bool{
		"a known kind":                                 k.IsKnown(kind("Dashboard.acme.example")),
		"another group's":                              !k.IsKnown(kind("Dashboard.other.example")),
		"parameters of the controller":                 k.ReadsParameters(kind("ConfigMap"), "acme.example/controller"),
		"parameters where the controller is not known": k.ReadsParameters(kind("ConfigMap"), ""),
		"not those of another controller": !k.ReadsParameters(kind("ConfigMap"),
			"other.example/controller"),
		"parameters of any controller": k.ReadsParameters(kind("Tuning.acme.example"),
			"other.example/controller"),
		"a known kind as parameters":  k.ReadsParameters(kind("Dashboard.acme.example"), "x"),
		"an annotation by its prefix": k.FindUnread("HTTPRoute", "acme.example/limit") != nil,
		"but not those left out":      k.FindUnread("HTTPRoute", "acme.example/owner") == nil,
		"those that are no gates by their names": slices.Contains(k.FindUnread("HTTPRoute",
			"acme.example/strip").NoGates, "acme.example/strip"),
		"nor on other kinds":                      k.FindUnread("Service", "acme.example/limit") == nil,
		"one by its name, on every kind":          k.FindUnread("Service", "acme.example/owner-limit") != nil,
		"a name is whole":                         k.FindUnread("Service", "acme.example/owner-limits") == nil,
		"judges by a pattern":                     k.JudgesConnections(kind("FireWall.acme.example")),
		"of that group alone":                     !k.JudgesConnections(kind("FireWall.other.example")),
		"but not what is known to change nothing": !k.JudgesConnections(kind("DryWall.acme.example")),
		"without a group in every one":            k.JudgesConnections(kind("Fence.other.example")),
		"the whole name counts":                   !k.JudgesConnections(kind("Fences.other.example")),
	} {
		if !got {
			t.Errorf("%s: it is not so", what)
		}
	}
	reads := []VendorRead{{kind("Door.acme.example"), []model.GroupKind{{Kind: "ConfigMap"}, kind("Hinge.acme.example")}},
		{Kind: kind("Lock.acme.example")}}
	if !reflect.DeepEqual(k.Reads(), reads) {
		t.Errorf("what is read besides: %v, want %v", k.Reads(), reads)
	}
}

func TestKnowledgeMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"annotations: [{name: a.b/}]":               `an annotation needs "name" and "does"`,
		"parameters: [{controllers: [a.b/c]}]":      `field "kind" is missing`,
		`connections: ["[.a.b"]`:                    "is no pattern for kinds",
		"annotations: [{name: a, does: b, at: []}]": `unknown field "at"`,
	} {
		_, err := NewCatalog(nil,
			[]form.Source{{Name: "acme.yaml",
				Text: []byte("apiVersion: dopolicy.dev/v1alpha1\nkind: Vendor\nname: acme\n" + text)}},
			nil, Functions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
