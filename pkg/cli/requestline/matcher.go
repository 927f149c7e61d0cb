package requestline

import (
	"errors"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Matcher answers the requests that are typed for an input.
type Matcher struct {
	session  *source.Session
	Requests *request.Matcher
	// Spent counts requests against limits, where those before a request matter; nil: none do.
	Spent *ingress.Spent
}

// NewMatcher makes the matcher of an input.
func NewMatcher(s *source.Session) Matcher { return Matcher{session: s, Requests: s.Matcher()} }

// findAnswers answers a request; if several Gateways could take it, for each of them.
func (m Matcher) findAnswers(q *Request) ([]*request.Answer, error) {
	if q.Flags.Client != "" {
		return m.findAnswersFrom(q)
	}
	r, err := q.ToRequest()
	if err != nil {
		return nil, err
	}
	where := request.Destination{Gateway: topology.None, Listener: q.Flags.Listener}
	if q.Flags.Gateway != "" && q.Flags.Options.From != "" {
		return nil, failure.Usage("drop one of the two",
			"--gateway and --from-namespace cannot be given together: a mesh request does not go through a Gateway")
	}
	if q.Flags.Gateway != "" {
		if where.Gateway, err = m.FindGateway(q.Flags.Gateway); err != nil {
			return nil, err
		}
	}
	return m.Requests.FindAll(r, where)
}

// ToRequest reads the request. Errors are of usage.
func (q *Request) ToRequest() (request.Request, error) {
	o := q.Flags.Options
	var err error
	if o.Circumstances, err = q.Flags.Circumstances.parseFlags(); err != nil {
		return request.Request{}, err
	}
	r, err := request.New(q.Method, q.URL, o)
	var wrong *request.UsageError
	if errors.As(err, &wrong) {
		err = failure.Usage(wrong.Hint, "%s", wrong.What)
	}
	return r, err
}

// findAnswersFrom answers a request of a Pod: to the Service that its host names, else through a
// Gateway.
func (m Matcher) findAnswersFrom(q *Request) ([]*request.Answer, error) {
	client, err := FindWorkload(m.session, q.Flags.Client)
	switch {
	case err != nil:
		return nil, err
	case client.Object == nil:
		return nil, failure.Usage("name a pod or a workload", "--from of a request cannot be an address")
	case q.Flags.Options.From != "":
		return nil, failure.Usage("drop one of the two", "--from and --from-namespace cannot be given together")
	}
	through := *q
	through.Flags.Client = ""
	if q.Flags.Gateway == "" && q.Flags.Listener == "" {
		mesh := through
		mesh.Flags.Options.From = client.Object.Ref.Namespace
		answers, err := m.findAnswers(&mesh)
		if err == nil && len(answers) == 1 && m.session.Snapshot.Get(answers[0].Service) != nil {
			answers[0].Request.Client = client.Object.Ref
			return answers, nil
		}
	}
	answers, err := m.findAnswers(&through)
	for _, a := range answers {
		a.Request.Client = client.Object.Ref
	}
	return answers, err
}

// AddSpellingProblems notes where a request is another spelling of one that policies keep out.
func (m Matcher) AddSpellingProblems(q *Request, answers []requests.ExpectedAnswer) error {
	for _, one := range answers {
		if one.Proxy != nil {
			continue
		}
		found, err := m.session.SpellingsAround(one.Answer, q.Flags.Listener)
		if err != nil {
			return err
		}
		one.Answer.Problems = model.SortProblems(append(one.Answer.Problems, found...))
	}
	return nil
}

// FindGateway finds the Gateway that [KIND/][NAMESPACE/]NAME means.
func (m Matcher) FindGateway(name string) (topology.NodeID, error) {
	if word, rest, ok := strings.Cut(name, "/"); ok {
		if kind, known := m.session.FindKind(word); known && kind.Kind == "Gateway" {
			name = rest
		}
	}
	var found, all, bare []string
	id := topology.None
	for _, o := range m.session.Snapshot.OfKind(model.GroupKind{Group: source.GatewayGroup, Kind: "Gateway"}) {
		all, bare = append(all, o.Ref.FullName()), append(bare, o.Ref.Name)
		if o.Ref.FullName() == name || o.Ref.Name == name && m.session.IsInNamespace(o.Ref) {
			found = append(found, o.Ref.FullName())
			id = m.session.Graph.Lookup(o.Ref)[0]
		}
	}
	switch {
	case len(found) == 1:
		return id, nil
	case len(found) > 1:
		return id, failure.Usage("name one of: "+strings.Join(found, ", "),
			"%q is ambiguous: %d Gateways have this name", name, len(found))
	}
	hint := ""
	ref := model.Ref{Group: source.GatewayGroup, Kind: "Gateway", Namespace: m.session.Flags.Namespace, Name: name}
	if namespace, bare, found := strings.Cut(name, "/"); found {
		ref.Namespace, ref.Name = namespace, bare
	}
	if len(m.session.Graph.Lookup(ref)) > 0 && m.session.Snapshot.Cluster.IsUnreadRef(ref) {
		if err := m.session.PrintUnread(); err != nil {
			return id, err
		}
		return id, failure.NoAnswer("cannot tell: "+ref.String()+" is forbidden", "")
	}
	if near := form.Nearest(name, append(bare, all...)); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	} else if len(all) > 0 {
		hint = "there are: " + strings.Join(source.LimitNames(all), ", ")
	}
	return id, m.session.NotFoundError(hint, "no gateway %q %s", name, m.session.DescribeScope())
}

// AnswerText answers a request that is written in one text. The listener is the one that the text
// names, if it does.
func (m Matcher) AnswerText(text string) (answer *request.Answer, listener string, err error) {
	q, err := Parse(text)
	if err != nil {
		return nil, "", err
	}
	if len(q.Flags.Expect) > 0 {
		return nil, "", failure.Usage("use the request command", "--expect is not for this command")
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
		return nil, "", failure.Usage("name one with --gateway: "+strings.Join(source.LimitNames(names), ", "),
			"%d Gateways have a listener for this request", len(answers))
	}
	return answers[0], q.Flags.Listener, nil
}
