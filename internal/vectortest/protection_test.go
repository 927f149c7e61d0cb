package vectortest

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/matrix"
)

// protection is what a vector says of one property of the requests that a route rule takes on a
// path, or that come to another place.
type protection struct {
	Target   map[string]string `yaml:"target"`
	Via      map[string]any    `yaml:"via"`
	Property string            `yaml:"property"`
	Verdict  string            `yaml:"verdict"`
	Methods  []string          `yaml:"methods"`
	By       []string          `yaml:"by"`
	Because  []string          `yaml:"because"`
}

// checkProtection holds a vector against the matrix, and against the protection that effective
// lists where the target is no route: every row of the place on these paths has the verdict, these
// methods, gates and reasons.
func (v vector) checkProtection(t *testing.T, r *report, file string, manifests []byte) {
	t.Helper()
	var matrix matrix.PolicyMatrix
	v.ask(t, file, manifests, &matrix, "matrix", "-A")
	checkProblems(r, "matrix", v.Problems, matrix.Problems)
	var effective effective.EffectivePolicyList
	if slices.ContainsFunc(v.Protection, func(p protection) bool { return !p.ofRoute() }) {
		v.ask(t, file, manifests, &effective, "effective", "-A")
	}
	for _, p := range v.Protection {
		if !p.ofRoute() {
			p.checkPlaces(r, effective.Protection)
			continue
		}
		found := 0
		for i := range matrix.Items {
			row := &matrix.Items[i]
			if !sameTarget(p.Target, row.Target) ||
				!slices.ContainsFunc(row.Paths, func(path view.Path) bool { return onVia(p.Via, path) }) {
				continue
			}
			found++
			p.check(r, row.Protection.ResultOf(gate.Property(p.Property)))
		}
		if found == 0 {
			r.Errorf("%v via %v: no such row", p.Target, p.Via)
		}
	}
}

// ofRoute reports whether the target is a rule of a route.
func (p *protection) ofRoute() bool { return strings.HasSuffix(p.Target["kind"], "Route") }

// checkPlaces holds an entry against what is said of places that are no route rules. Without a
// verdict the property is not listed there.
func (p *protection) checkPlaces(r *report, places []effective.PlaceProtection) {
	found := 0
	for i := range places {
		at := &places[i]
		if !sameTarget(p.Target, at.Target) || string(at.Property) != p.Property ||
			!slices.ContainsFunc(at.Paths, func(path view.Path) bool { return onVia(p.Via, path) }) {
			continue
		}
		found++
		if p.Verdict == "" {
			r.Errorf("%v %s: listed as %s", p.Target, p.Property, at.Verdict)
			continue
		}
		p.check(r, &protect.Result{Verdict: at.Verdict, Methods: at.Methods, By: at.By, Because: at.Because})
	}
	if found == 0 && p.Verdict != "" {
		r.Errorf("%v via %v: %s is not listed", p.Target, p.Via, p.Property)
	}
}

func (p *protection) check(r *report, got *protect.Result) {
	if string(got.Verdict) != p.Verdict {
		r.Errorf("%v %s: %s because %v, want %s", p.Target, p.Property, got.Verdict, got.Because, p.Verdict)
		return
	}
	if p.Methods != nil && !slices.Equal(got.Methods, p.Methods) {
		r.Errorf("%v %s: by %v, want %v", p.Target, p.Property, got.Methods, p.Methods)
	}
	var by, because []string
	for _, u := range got.By {
		by = append(by, strings.TrimSpace(u.Object.Kind+" "+u.Object.FullName()+" "+u.Field))
	}
	for _, b := range got.Because {
		because = append(because, string(b.Code))
	}
	if p.By != nil && !slices.Equal(by, p.By) {
		r.Errorf("%v %s: by %q, want %q", p.Target, p.Property, by, p.By)
	}
	if p.Because != nil && !slices.Equal(because, p.Because) {
		r.Errorf("%v %s: because %q, want %q", p.Target, p.Property, because, p.Because)
	}
}

func sameTarget(want map[string]string, got model.Ref) bool {
	return want["kind"] == got.Kind && want["namespace"] == got.Namespace && want["name"] == got.Name &&
		want["section"] == got.Section
}

func onVia(want map[string]any, p view.Path) bool {
	return (want["gateway"] == nil || want["gateway"] == p.Gateway) && (want["listener"] == nil ||
		want["listener"] == p.Listener) &&
		(want["direction"] == nil || want["direction"] == p.Direction) && (want["dataplane"] == nil ||
		want["dataplane"] == p.Dataplane)
}
