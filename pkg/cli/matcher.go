package cli

import (
	"errors"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// matcher answers the requests that are typed for an input.
type matcher struct {
	session  *session
	requests *request.Matcher
}

// newMatcher makes the matcher of an input.
func newMatcher(s *session) matcher { return matcher{s, s.Matcher()} }

// findAnswers answers a request; if several Gateways could take it, for each of them.
func (m matcher) findAnswers(q *typedRequest) ([]*request.Answer, error) {
	r, err := request.New(q.method, q.url, q.flags.options)
	var wrong *request.UsageError
	if errors.As(err, &wrong) {
		return nil, newUsageError(wrong.Hint, "%s", wrong.What)
	}
	where := request.Destination{Gateway: topology.None, Listener: q.flags.listener}
	if q.flags.gateway != "" && q.flags.options.From != "" {
		return nil, newUsageError("drop one of the two", "--gateway and --from-namespace cannot be given together: a mesh request does not go through a Gateway")
	}
	if q.flags.gateway != "" {
		if where.Gateway, err = m.findGateway(q.flags.gateway); err != nil {
			return nil, err
		}
	}
	return m.requests.FindAll(r, where)
}

// addSpellingProblems notes where a request is another spelling of one that policies keep out.
func (m matcher) addSpellingProblems(q *typedRequest, answers []view.ExpectedAnswer) error {
	for _, one := range answers {
		found, err := m.session.SpellingsAround(one.Answer, q.flags.listener)
		if err != nil {
			return err
		}
		one.Answer.Problems = model.SortProblems(append(one.Answer.Problems, found...))
	}
	return nil
}

// findGateway finds the Gateway that [NAMESPACE/]NAME means.
func (m matcher) findGateway(name string) (topology.NodeID, error) {
	var found, all, bare []string
	id := topology.None
	for _, o := range m.session.Snapshot.OfKind(model.GroupKind{Group: gatewayGroup, Kind: "Gateway"}) {
		all, bare = append(all, o.Ref.FullName()), append(bare, o.Ref.Name)
		if o.Ref.FullName() == name || o.Ref.Name == name && m.session.isInNamespace(o.Ref) {
			found = append(found, o.Ref.FullName())
			id = m.session.Graph.Lookup(o.Ref)[0]
		}
	}
	switch {
	case len(found) == 1:
		return id, nil
	case len(found) > 1:
		return id, newUsageError("name one of: "+strings.Join(found, ", "), "%q is ambiguous: %d Gateways have this name", name, len(found))
	}
	hint := ""
	if near := form.Nearest(name, append(bare, all...)); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	} else if len(all) > 0 {
		hint = "there are: " + strings.Join(limitNames(all), ", ")
	}
	return id, m.session.notFoundError(hint, "no gateway %q %s", name, m.session.describeScope())
}

// answerText answers a request that is written in one text. The listener is the one that the text
// names, if it does.
func (m matcher) answerText(text string) (answer *request.Answer, listener string, err error) {
	q, err := parseRequest(text)
	if err != nil {
		return nil, "", err
	}
	if len(q.flags.expect) > 0 {
		return nil, "", newUsageError("use the request command", "--expect is not for this command")
	}
	answers, err := m.findAnswers(&q)
	if err != nil {
		return nil, "", err
	}
	if len(answers) > 1 {
		var names []string
		for _, a := range answers {
			names = append(names, m.session.Node(a.Gateway).Ref.FullName())
		}
		return nil, "", newUsageError("name one with --gateway: "+strings.Join(limitNames(names), ", "), "%d Gateways have a listener for this request", len(answers))
	}
	return answers[0], q.flags.listener, nil
}

// effectiveForRequest returns what is in force on the path of a request.
func effectiveForRequest(s *session, text string, kinds []model.GroupKind) (render.View, *view.Envelope, error) {
	answer, _, err := newMatcher(s).answerText(text)
	if err != nil {
		return nil, nil, err
	}
	out := s.EffectiveForRequest(answer, kinds)
	return out, &out.Envelope, nil
}
