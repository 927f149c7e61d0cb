package requests

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// PathPoint is a place on the way of a request where policies let it go on or end it.
type PathPoint struct {
	Point    string         `json:"point"`              // edge, client, egress, ingress, waypoint, workload
	Kind     string         `json:"kind"`               // who enforces there, as Gateway, waypoint, sidecar
	Object   model.Ref      `json:"object"`             // the Gateway, the waypoint, or the workload that is judged
	Policies []model.Ref    `json:"policies"`           // that may refuse the request there; of a bypassed point those in force for other traffic
	Verdict  string         `json:"verdict"`            // allowed, denied, depends, bypassed
	Because  string         `json:"because"`            // what decided, what it depends on, or why the point is bypassed
	Identity *string        `json:"identity,omitempty"` // of the source as it is seen there, "" for none
	Port     int            `json:"port,omitempty"`     // the destination port as it is seen there
	By       []DecidingRule `json:"by,omitempty"`       // the rules that decided
	Backend  *model.Ref     `json:"backend,omitempty"`  // of several ways: to which backend
}

// newPathPoints writes points in the shape of the contract.
func newPathPoints(points []point.Point) []PathPoint {
	out := make([]PathPoint, len(points))
	for i := range points {
		p := &points[i]
		out[i] = PathPoint{Point: string(p.Name), Kind: p.Kind, Object: p.Object, Policies: append([]model.Ref{}, p.Policies...),
			Verdict: string(p.Verdict), Because: p.Because, Identity: p.Identity, Port: p.Port}
		if p.Decision != nil && p.Verdict != point.Bypassed {
			out[i].By = newDecidingRules(p.Decision.By)
		}
		if p.Backend.Name != "" {
			out[i].Backend = &p.Backend
		}
	}
	return out
}

// Walker returns the walker of an input, which is made once.
func Walker(r *resolve.Resolution, judges view.Judges) *point.Walker {
	type key struct{}
	return resolve.Memoize(r, key{}, func() *point.Walker { return point.NewWalker(r, judges.Points) })
}

// WalkAnswer walks a request behind its Gateway, or from its client in the mesh.
func WalkAnswer(w *point.Walker, r *resolve.Resolution, a *request.Answer) *point.Path {
	var edge *point.Point
	if a.Gateway != topology.None {
		edge = &point.Point{Name: point.Edge, Kind: point.KindGateway, Object: r.Node(a.Gateway).Ref, Verdict: point.Allowed}
	}
	out := w.WalkRequest(a, edge, w.FindClients(a))
	return &out
}

// addPath adds the points that the request passes, and their verdict.
func (w *Writer) addPath(a *request.Answer, out *RequestResult) {
	if a.Gateway == topology.None && a.Service.Name == "" {
		return
	}
	walker := Walker(w.Collector.Resolution, w.Judges)
	var edge *point.Point
	if a.Gateway != topology.None {
		edge = w.judgeEdge(a, out)
	}
	path := walker.WalkRequest(a, edge, walker.FindClients(a))
	if path.Verdict == "" {
		return
	}
	out.Verdict, out.Path, out.points = string(path.Verdict), newPathPoints(path.Points), path.Points
	w.Collector.AddProblems(out.pathProblems()...)
}

// pathProblems are the problems of the points, and what is not known of those behind the Gateway.
func (a *RequestResult) pathProblems() []model.Problem {
	var out []model.Problem
	for i := range a.points {
		p := &a.points[i]
		out = append(out, p.Problems...)
		if p.Verdict == point.Depends && p.Name != point.Edge {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
				Message: a.Path[i].FormatLine()})
		}
	}
	return out
}

// FindPoints returns the points that a request passes, or passes by, with what is not known of them.
// There are none if only the Gateway could have a say.
func FindPoints(r *resolve.Resolution, a *request.Answer, judges view.Judges) ([]point.Point, []model.Problem) {
	if !Walker(r, judges).HasLayers() {
		return nil, nil
	}
	w := Writer{Collector: collect.NewForRequests(r, nil), Judges: judges}
	out := w.BuildResult(a)
	if !out.hasPoints() {
		return nil, nil
	}
	return out.points, out.pathProblems()
}

// FindPath returns the points that a request passes, or passes by, as the contract has them, and what
// they say together. There are none if only the Gateway could have a say.
func (w *Writer) FindPath(a *request.Answer) (verdict string, path []PathPoint) {
	if !Walker(w.Collector.Resolution, w.Judges).HasLayers() {
		return "", nil
	}
	if out := w.BuildResult(a); out.hasPoints() {
		return out.Verdict, out.Path
	}
	return "", nil
}

// judgeEdge is what the Gateway itself says: by the decisions of kinds that judge requests, and by
// the gates of all others. Whether credentials suffice is not judged.
func (w *Writer) judgeEdge(a *request.Answer, out *RequestResult) *point.Point {
	r := w.Collector.Resolution
	p := &point.Point{Name: point.Edge, Kind: point.KindGateway, Object: r.Node(a.Gateway).Ref,
		Policies: w.listRefusing(out), Verdict: point.Allowed, Because: "no policy there refuses it"}
	for i := range out.Decisions {
		d := &out.Decisions[i]
		switch {
		case d.Outcome == string(request.Denied):
			p.Verdict, p.Because = point.Denied, d.KindName()+": "+d.FormatSentence()
		case d.Outcome == string(request.NotEvaluated) && p.Verdict == point.Allowed:
			p.Verdict, p.Because = point.Depends, d.KindName()+": "+d.FormatSentence()
		}
	}
	if out.gates == nil || p.Verdict != point.Allowed {
		return p
	}
	switch o := out.gates.Outcome(); {
	case o.Certain:
		p.Verdict, p.Because = point.Denied, "refused: "+answersText(o.By)
	case out.deniesAll():
		p.Verdict, p.Because = point.Denied, "a policy lets nobody through"
	case o.Access:
		p.Verdict, p.Because = point.Depends, "not judged: "+answersText(o.By)
	case len(o.By) > 0:
		p.Because = "not judged: " + answersText(o.By)
	}
	return p
}

// listRefusing lists the policies in force before a backend is chosen that may refuse requests.
func (w *Writer) listRefusing(out *RequestResult) []model.Ref {
	var refs []model.Ref
	told := map[string][]model.Ref{} // by kind
	for i := range out.Decisions {
		if d := &out.Decisions[i]; d.refusing != nil {
			told[d.PolicyKind] = d.refusing
		}
	}
	for i := range out.Effective {
		item := &out.Effective[i]
		k := w.Collector.Resolution.Kind(model.ParseGroupKind(item.PolicyKind))
		if k == nil || len(k.Protects.Rules) == 0 && k.Evaluate == "" || item.Target.Kind == "Service" {
			continue
		}
		if some, ok := told[item.PolicyKind]; ok {
			refs = append(refs, some...)
			told[item.PolicyKind] = nil
			continue
		}
		for _, rule := range item.Rules {
			for _, s := range rule.Sources {
				if s.Policy != nil && !slices.Contains(refs, *s.Policy) {
					refs = append(refs, *s.Policy)
				}
			}
		}
	}
	return refs
}

// FormatPoint writes a point in one line.
func FormatPoint(p *point.Point) string {
	return newPathPoints([]point.Point{*p})[0].FormatLine()
}

// FormatLine writes a point in one line.
func (p *PathPoint) FormatLine() string {
	words := []string{p.Verdict, "at", p.Point}
	if p.Kind != point.KindGateway && p.Kind != p.Point {
		words = append(words, "("+p.Kind+")")
	}
	words = append(words, p.Object.String())
	text := strings.Join(words, " ")
	if p.Because != "" {
		text += ": " + p.Because
	}
	return text
}

// isDeniedLater reports whether a point behind the Gateway denies the request for certain.
func (a *RequestResult) isDeniedLater() bool {
	return a.Verdict == string(point.Denied) && a.findPoint(point.Denied) != nil
}

// findPoint is the first point behind the Gateway with a verdict; nil if there is none.
func (a *RequestResult) findPoint(v point.Verdict) *PathPoint {
	for i := range a.Path {
		if p := &a.Path[i]; p.Verdict == string(v) && p.Point != string(point.Edge) {
			return p
		}
	}
	return nil
}

// verdictLines say what becomes of the request at all points together; nothing where there is no point
// but the Gateway.
func (a *RequestResult) verdictLines() []string {
	if !a.hasPoints() {
		return nil
	}
	if a.Verdict == string(point.Depends) {
		return []string{"verdict: depends, the input does not tell"}
	}
	line := "verdict: " + a.Verdict
	if a.Verdict == string(point.Allowed) {
		var bypassed PathPoint
		for i := range a.Path {
			if a.Path[i].Verdict == string(point.Bypassed) {
				bypassed.Policies = append(bypassed.Policies, a.Path[i].Policies...)
			}
		}
		if len(bypassed.Policies) > 0 {
			line += ", and bypasses " + bypassed.policyText()
		}
	}
	return []string{line}
}

// hasPoints reports whether there is a point behind the Gateway.
func (a *RequestResult) hasPoints() bool {
	return slices.ContainsFunc(a.Path, func(p PathPoint) bool { return p.Point != string(point.Edge) })
}

// pointBlocks have a line for each point, in the order in which the request meets them.
func (a *RequestResult) pointBlocks() []view.Block {
	if !a.hasPoints() {
		return nil
	}
	b := view.Block{Columns: []view.Column{{Name: "POINT"}, {Name: "KIND", Rank: 5, MinWidth: 8}, {Name: "AT", Rank: 6, MinWidth: 16},
		{Name: "VERDICT"}, {Name: "WHY", Rank: 9, MinWidth: 24, Wrap: true}}}
	tones := map[string]view.Tone{string(point.Allowed): view.Good, string(point.Denied): view.Bad,
		string(point.Bypassed): view.Partly}
	for i := range a.Path {
		p := &a.Path[i]
		why := p.Because
		switch {
		case p.Verdict == string(point.Allowed) && len(p.Policies) == 0:
			why = "" // there is nothing that could say more
		case p.Verdict == string(point.Bypassed) && len(p.Policies) > 0:
			why = "not asked: " + p.policyText() + "; " + why
		}
		b.Rows = append(b.Rows, []view.Cell{{Text: p.Point}, {Text: p.Kind}, {Text: p.Object.String()},
			{Text: p.Verdict, Tone: tones[p.Verdict]}, {Text: why}})
	}
	return []view.Block{b}
}

// policyText names the policies at the point.
func (p *PathPoint) policyText() string {
	const most = 3
	var names []string
	for _, ref := range p.Policies[:min(len(p.Policies), most)] {
		names = append(names, ref.String())
	}
	if more := len(p.Policies) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
