package behavior

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// applyPoints adds what the points behind the Gateway say about a request.
func (s *behaviorEvaluator) applyPoints(a *request.Answer, out *classBehavior) {
	if !s.walker.HasLayers() {
		return
	}
	path := requests.WalkAnswer(s.walker, s.collector.Resolution, a)
	var said []string
	out.passes, out.bypasses = nil, map[string]string{}
	for i := range path.Points {
		p := &path.Points[i]
		if p.Name == point.Edge {
			continue
		}
		kinds := kindsAt(p)
		text := string(p.Name) + " " + p.Kind + " " + string(p.Verdict) + " " + strings.Join(kinds, ",")
		said = append(said, text)
		switch {
		case p.Verdict == point.Bypassed:
			for _, kind := range kinds {
				out.bypasses[string(p.Name)+" "+kind] = p.Because
			}
			continue
		case p.Verdict == point.Denied && path.Verdict == point.Denied:
			out.denied = append(out.denied, kinds...)
			out.unexplainedDenials = append(out.unexplainedDenials, kinds...)
		case p.Verdict == point.Depends:
			out.unjudged = append(out.unjudged, kinds...)
		}
		for _, kind := range kinds {
			out.passes = append(out.passes, string(p.Name)+" "+kind)
			if s.protectingKinds != nil && slices.Contains(s.protectingKinds, model.ParseGroupKind(kind)) {
				out.protected = append(out.protected, kind)
			}
		}
	}
	slices.Sort(out.protected)
	out.protected = slices.Compact(out.protected)
	out.decisions += "\x00" + strings.Join(said, "\x00")
}

// kindsAt are the kinds of the policies at a point, each once.
func kindsAt(p *point.Point) []string {
	var out []string
	for _, ref := range p.Policies {
		if kind := ref.GroupKind().String(); !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return out
}

// findBypass says which policies requests met before that they pass by after; "": none.
func findBypass(before, after *classBehavior) string {
	for _, at := range before.passes {
		because, bypassed := after.bypasses[at]
		if bypassed && !slices.Contains(after.passes, at) {
			name, kind, _ := strings.Cut(at, " ")
			return formatKindNames([]string{kind}) + " at " + name + " is bypassed: " + because
		}
	}
	return ""
}
