package vectortest

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// protection is what a vector says of one property of the requests that a route rule takes on a path.
type protection struct {
	Target   map[string]string `yaml:"target"`
	Via      map[string]any    `yaml:"via"`
	Property string            `yaml:"property"`
	Verdict  string            `yaml:"verdict"`
	Methods  []string          `yaml:"methods"`
	By       []string          `yaml:"by"`
	Because  []string          `yaml:"because"`
}

// checkProtection holds a vector against the matrix: every row of the rule on these paths has the verdict, these methods, gates and reasons.
func (v vector) checkProtection(t *testing.T, r *report, file string, manifests []byte) {
	t.Helper()
	var matrix view.PolicyMatrix
	v.ask(t, file, manifests, &matrix, "matrix", "-A")
	for _, p := range v.Protection {
		found := 0
		for i := range matrix.Items {
			row := &matrix.Items[i]
			if !sameTarget(p.Target, row.Target) || !slices.ContainsFunc(row.Paths, func(path view.Path) bool { return onVia(p.Via, path) }) {
				continue
			}
			found++
			p.check(r, row.Protection.Of(gate.Property(p.Property)))
		}
		if found == 0 {
			r.Errorf("%v via %v: no such row", p.Target, p.Via)
		}
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
	return want["kind"] == got.Kind && want["namespace"] == got.Namespace && want["name"] == got.Name && want["section"] == got.Section
}

func onVia(want map[string]any, p view.Path) bool {
	return (want["gateway"] == nil || want["gateway"] == p.Gateway) && (want["listener"] == nil || want["listener"] == p.Listener)
}
