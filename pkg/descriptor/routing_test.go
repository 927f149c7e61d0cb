package descriptor

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// readRoutingOf reads a Vendor document with profiles, and returns what is wrong with it.
func readRoutingOf(t *testing.T, profiles string) ([]RoutingProfile, string) {
	t.Helper()
	text := "apiVersion: dopolicy.dev/v1alpha1\nkind: Vendor\nname: acme\ncontrollers: [acme.example.com/c]\nrouting:\n" +
		profiles
	c, err := NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(text)}}, nil, Functions{})
	if err != nil {
		return nil, err.Error()
	}
	return c.RoutingProfiles(), ""
}

func TestRoutingProfile(t *testing.T) {
	found, wrong := readRoutingOf(t, `
- {name: Acme, source: docs, hosts: shadow, listeners: [dropped, inObject], order: [pathType, rule], regex: {rank: beforePrefix, among: longer}, ignored: method}
- {name: Mesh, source: docs, mesh: [acme.example.com/mesh], meshOnly: true}
`)
	if wrong != "" || len(found) != 2 {
		t.Fatalf("%d profiles: %s", len(found), wrong)
	}
	p := found[0]
	want := routing.Listeners{Share: routing.SharePlain, Drop: routing.DropCovered, InObject: true}
	if p.Hosts != routing.Shadow || p.Listeners != want || !p.Regex.Longer || !p.Ignores(routing.IgnoredMethod) ||
		p.SNI != routing.SNI421 || p.Regex.HeaderTied != routing.TiedUnknown ||
		!slices.Equal(p.Controllers, []string{"acme.example.com/c"}) {
		t.Errorf("%+v", p)
	}
	if !slices.Equal(p.TieBreaks(), []routing.Criterion{routing.Rule}) {
		t.Errorf("tie breaks: %v", p.TieBreaks())
	}
	if found[1].Controllers != nil {
		t.Errorf("a profile of a mesh alone has controllers: %v", found[1].Controllers)
	}
}

func TestRoutingMistakes(t *testing.T) {
	for _, c := range []struct{ profile, says string }{
		{"{name: A, source: b, hosts: shade}", `kinds.yaml:6: "shade" is not one of fallThrough, shadow`},
		{"{name: A, source: b, order: [pathType, size]}", `"size" is not one of exactHost`},
		{"{name: A, source: b, statuses: {zeroWeights: no}}", "a status of HTTP is expected here"},
		{"{name: A, source: b, meshOnly: true}", `"meshOnly" needs "mesh"`},
		{"{name: A}", `needs "name" and "source"`},
		{"{name: A, source: b, host: shadow}", `"host"`},
	} {
		if _, wrong := readRoutingOf(t, "- "+c.profile+"\n"); !strings.Contains(wrong, c.says) {
			t.Errorf("%s: %q does not say %q", c.profile, wrong, c.says)
		}
	}
}
