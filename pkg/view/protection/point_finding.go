package protection

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// PointFindings finds policies behind Gateways that requests do not meet, and rules of which every
// request is denied behind the Gateway.
func PointFindings(r *resolve.Resolution, m *request.Matcher, judges view.Judges) []model.Problem {
	s := surveyPoints(r, m, judges)
	return model.SortProblems(append(s.blocked, s.listBypassed()...))
}

// FindBypasses says for which requests a policy is not in force though it is at its place, a phrase
// each: those that come to the workloads around it.
func FindBypasses(r *resolve.Resolution, m *request.Matcher, judges view.Judges) func(policy model.Ref) []string {
	s := surveyPoints(r, m, judges)
	return func(policy model.Ref) []string {
		b := s.bypassed[policy]
		if b == nil {
			return nil
		}
		return b.ways
	}
}

// surveyPoints walks the requests of all rules, once for an input.
func surveyPoints(r *resolve.Resolution, m *request.Matcher, judges view.Judges) *pointSurvey {
	type key struct{}
	return resolve.Memoize(r, key{}, func() *pointSurvey {
		s := &pointSurvey{Protector: NewProtector(r, m, judges, nil), bypassed: map[model.Ref]*bypassedPolicy{}}
		if !s.walker.HasLayers() {
			return s
		}
		for _, id := range r.Graph.Order(topology.Traffic) {
			if n := r.Node(id); n.Role == topology.Rule && !n.Delegates && n.Object != nil {
				s.walkRule(id)
			}
		}
		return s
	})
}

// pointSurvey gathers what becomes of the requests of all rules behind their Gateways.
type pointSurvey struct {
	*Protector
	bypassed map[model.Ref]*bypassedPolicy
	order    []model.Ref
	blocked  []model.Problem
}

// bypassedPolicy is a policy that requests do not meet.
type bypassedPolicy struct {
	first point.Point
	ways  []string // from which Gateway to which Service, and why
}

// walkRule walks a request that the rule takes, on each way to it.
func (s *pointSurvey) walkRule(rule topology.NodeID) {
	var blocked *point.Point
	ways, denied := 0, 0
	for _, way := range s.paths.To(rule) {
		a := s.buildSampleAnswer(rule, way)
		if a.Gateway == topology.None || len(a.Backends) == 0 {
			continue
		}
		gateway := s.res.Node(a.Gateway).Ref
		path := requests.WalkAnswer(s.walker, s.res, a)
		for i, points := range path.Ways {
			ways++
			end := findDenial(points)
			if end != nil && end.IgnoresRequests {
				denied++
				if blocked == nil {
					blocked = end
				}
			}
			if end != nil { // what goes around is denied all the same
				continue
			}
			service := a.Backends[min(i, len(a.Backends)-1)].Ref.WithoutSection()
			for j := range points {
				if points[j].Verdict == point.Bypassed {
					s.addBypassed(&points[j], gateway, service)
				}
			}
		}
	}
	if ways > 0 && ways == denied {
		s.addBlocked(rule, blocked)
	}
}

// findDenial is the point that denies a request for certain; nil: none does.
func findDenial(points []point.Point) *point.Point {
	var out *point.Point
	for i := range points {
		if points[i].Verdict == point.Denied && (out == nil || points[i].IgnoresRequests && !out.IgnoresRequests) {
			out = &points[i]
		}
	}
	return out
}

func (s *pointSurvey) addBypassed(p *point.Point, gateway, service model.Ref) {
	for _, policy := range p.Policies {
		b := s.bypassed[policy]
		if b == nil {
			b = &bypassedPolicy{first: *p}
			s.bypassed[policy] = b
			s.order = append(s.order, policy)
		}
		way := fmt.Sprintf("requests through %s to %s: %s", gateway, service, p.Because)
		if !slices.Contains(b.ways, way) {
			b.ways = append(b.ways, way)
		}
	}
}

func (s *pointSurvey) listBypassed() []model.Problem {
	var out []model.Problem
	for _, policy := range s.order {
		b := s.bypassed[policy]
		message := fmt.Sprintf("it is in force at %s, but not for %s", b.first.Object, b.ways[0])
		if more := len(b.ways) - 1; more > 0 {
			message += fmt.Sprintf(" (and %s)", view.FormatCount(more, "further way|further ways"))
		}
		out = append(out, s.newProblem(model.PolicyBypassed, policy, message, b.first.Remedy))
	}
	return out
}

func (s *pointSurvey) addBlocked(rule topology.NodeID, p *point.Point) {
	n := s.res.Node(rule)
	s.blocked = append(s.blocked, s.newProblem(model.PathBlocked, n.Ref.WithoutSection(),
		fmt.Sprintf("every request that its rule %s takes is %s", n.Ref.Section, requests.FormatPoint(p)),
		"let the sender through there, or remove the rule"))
}

// newProblem is a warning about an object of the input.
func (s *pointSurvey) newProblem(code model.Code, ref model.Ref, message, hint string) model.Problem {
	p := model.Problem{Severity: model.Warning, Code: code, Message: message, Hint: hint}
	if o := s.res.Snapshot.Get(ref); o != nil {
		return p.At(o)
	}
	p.Ref = &ref
	return p
}
