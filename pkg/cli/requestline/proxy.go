package requestline

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// chooseProxies returns the proxies of Ingresses that a request is sent to: the one that --ingress names,
// or all where the input has no Gateway and the request names none. nil: it is sent to Gateways, or
// stays in the mesh.
func (m Matcher) chooseProxies(q *Request) ([]*ingress.Proxy, error) {
	f := &q.Flags
	if f.Ingress == "" {
		if m.session.HasGateways() || f.Gateway != "" || f.Listener != "" || f.Options.From != "" || f.Client != "" {
			return nil, nil
		}
		return m.session.Proxies(), nil
	}
	if f.Gateway != "" || f.Listener != "" || f.Options.From != "" || f.Client != "" {
		return nil, failure.Usage("drop one of the two",
			"--ingress cannot be given with --gateway, --listener, --from or --from-namespace")
	}
	return FindProxies(m.session, f.Ingress)
}

// FindProxies returns the proxies of Ingresses of a class.
func FindProxies(s *source.Session, class string) ([]*ingress.Proxy, error) {
	var classes []string
	for _, p := range s.Proxies() {
		if p.Class == class {
			return []*ingress.Proxy{p}, nil
		}
		classes = append(classes, p.Class)
	}
	hint := "there is no Ingress of a class that this program reads"
	if len(classes) > 0 {
		hint = "there are: " + strings.Join(classes, ", ")
	}
	return nil, s.NotFoundError(hint, "no Ingress of class %q %s", class, s.DescribeScope())
}

// answerAtProxies answers a request at proxies of Ingresses.
func (m Matcher) answerAtProxies(q *Request, proxies []*ingress.Proxy) ([]requests.ExpectedAnswer, error) {
	r, err := q.ToRequest()
	if err != nil {
		return nil, err
	}
	if r.Protocol != request.HTTP {
		return nil, failure.Usage("ask about an HTTP request", "requests of %s are not followed through Ingresses",
			r.Protocol)
	}
	expect, err := ResolveExpectations(m.session, q.Flags.Expect, true)
	if err != nil {
		return nil, err
	}
	out := make([]requests.ExpectedAnswer, len(proxies))
	for i, p := range proxies {
		out[i] = requests.NewProxyAnswer(p, r, m.Spent)
		out[i].Expect = expect
	}
	return out, nil
}
