package resolve

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// checked resolves manifests with Paint.x.io described by the given lines and a check that finds
// fault with every policy called bad.
func checked(t *testing.T, lines string, manifests ...string) *Resolution {
	t.Helper()
	var in input
	in.add(t, manifests...)
	check := func(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
		if p.Ref().Name != "bad" {
			return "", nil
		}
		return "it is bad", []model.Problem{model.Problem{Severity: model.Info, Code: model.NotEvaluated,
			Message: "presumably"}.At(p.Object)}
	}
	text := "apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Paint.x.io\nfold: bottomUp\nchecks: [{func: x.Bad}]\n" + lines
	c, err := descriptor.NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(text)}}, nil,
		descriptor.Functions{Judging: descriptor.Judging{Checks: map[string]policy.Check{"x.Bad": check}}})
	if err != nil {
		t.Fatal(err)
	}
	s := model.NewSnapshot(in.objects, nil)
	return Run(s, build.Graph(s, c.Settings()), c)
}

func TestPoliciesInError(t *testing.T) {
	world := []string{gateway("east", "a"), route("shop", "east", "svc"), service("svc")}
	for _, c := range []struct{ name, invalid, high, low, want string }{
		{"dropped below", "drop", paint("infra/g", "Gateway/east", "wall: red"), paint("app/bad", "HTTPRoute/shop",
			"wall: blue"),
			"wall=red(g)"},
		{"claims the place below", "claim", paint("infra/g", "Gateway/east", "wall: red"),
			paint("app/bad", "HTTPRoute/shop", "wall: blue"),
			"-wall(bad) Invalid> -wall(g) AtomicReplaced>bad"},
		{"claims no place above", "claim", paint("infra/bad", "Gateway/east", "wall: red"),
			paint("app/p", "HTTPRoute/shop", "roof: blue"),
			"roof=blue(p) -wall(bad) Invalid>"},
		{"overrides in error beat nothing", "claim", paint("infra/bad", "Gateway/east", "overrides: {wall: red}"),
			paint("app/p", "HTTPRoute/shop", "wall: blue"),
			"wall=blue(p) -wall(bad) Invalid>"},
		{"overrides above a claimed place", "claim", paint("infra/g", "Gateway/east", "overrides: {wall: red}"),
			paint("app/bad", "HTTPRoute/shop", "wall: blue"),
			"wall=red(g) -wall(bad) Invalid>"},
		{"what it deactivates stays", "drop", paint("infra/g", "Gateway/east", "wall: red"),
			paint("app/bad", "HTTPRoute/shop", "unset: [wall]"),
			"wall=red(g)"},
	} {
		r := checked(t, "invalid: "+c.invalid+"\ncontent: {unset: [unset]}\nrules: fields\n",
			slices.Concat(world, []string{c.high, c.low})...)
		if got := r.results(t, "app:HTTPRoute/shop/r1"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if codes := r.codes(); !slices.Contains(codes, "NotEvaluated bad") {
			t.Errorf("%s: what the check says is missing: %v", c.name, codes)
		}
	}
}

// Nothing of a set is left behind, whatever its rules are; holding a place is no loss.
func TestClaimOfDeeperRules(t *testing.T) {
	r := checked(t, "invalid: claim\nrules: entries\n", gateway("east", "a"), route("shop", "east", "svc"),
		service("svc"),
		paint("infra/g", "Gateway/east", "walls: {north: red}"), paint("app/bad", "HTTPRoute/shop",
			"walls: {north: blue, south: blue}"))
	want := "-walls.north(bad) Invalid> -walls.north(g) AtomicReplaced>bad -walls.south(bad) Invalid>"
	if got := r.results(t, "app:HTTPRoute/shop/r1"); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// A policy whose target is missing is not judged: there is nothing that its fault could change.
func TestUnattachedPoliciesAreNotChecked(t *testing.T) {
	r := checked(t, "", gateway("east", "a"), paint("app/bad", "HTTPRoute/gone", "wall: red"))
	if codes := r.codes(); !slices.Equal(codes, []string{"TargetNotFound bad"}) {
		t.Error(codes)
	}
}
