package behavior

import (
	"errors"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// setPlace sets where a request is answered at Gateways, as far as it gets.
func (s *BehaviorSide) setPlace(r *resolve.Resolution, a *request.Answer) {
	if a.Gateway != topology.None {
		s.Gateway = r.Node(a.Gateway).Ref.FullName()
	}
	if a.Listener != topology.None {
		s.Listener = r.Node(a.Listener).Ref.Section
	}
	if a.Rule != topology.None {
		ref, index := r.Node(a.Rule).Ref, r.Node(a.Rule).Index
		s.Route, s.Rule = &ref, &index
	}
	s.Filters = a.Filters
}

// describeSide returns what a request gets on this side, with the reasons.
func (s *behaviorEvaluator) describeSide(c *space.Class, got *classBehavior) (BehaviorSide, error) {
	if c == nil {
		return BehaviorSide{Outcome: string(request.NoMatch), Backends: []requests.RequestBackend{},
			Protected: []string{}, Denied: []string{}, Why: []string{"no listener takes it"}}, nil
	}
	a, err := s.matcher.Find(c.Request, request.Destination{Gateway: c.Entry.Gateway})
	if err != nil {
		return BehaviorSide{}, err
	}
	if a.Rule != c.Answer.Rule {
		return BehaviorSide{}, errors.New("comparing " + a.Request.Text + ": two answers about it differ")
	}
	out := BehaviorSide{Outcome: string(a.Outcome), Assumed: string(a.Assumed), Status: a.Status,
		Failing:  a.Failing,
		Backends: []requests.RequestBackend{}, Protected: append([]string{},
			got.protected...), Denied: append([]string{}, got.denied...), Why: append([]string{}, a.Why...),
		filters: got.filters}
	out.setPlace(s.collector.Resolution, a)
	if a.Location != nil {
		out.Location = a.Location.URL
	}
	for _, b := range a.Backends {
		out.Backends = append(out.Backends, requests.RequestBackend{Ref: b.Ref, Weight: b.Weight})
	}
	return out, nil
}
