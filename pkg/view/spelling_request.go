package view

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// SpelledAround finds that a request is another spelling of one that policies keep out, and gets to the same backend without them. listener is the name
// of the only one that is asked about, if any.
func SpelledAround(r *resolve.Resolution, m *request.Matcher, a *request.Answer, listener string, judges Judges) ([]model.Problem, error) {
	if a.Request.Protocol != request.HTTP || a.Request.From != "" || a.Gateway == topology.None || a.Rule == topology.None || !reaches(a) {
		return nil, nil
	}
	meant := plainly(&a.Request)
	kinds, keeping := guards(r)
	if len(meant) == 0 || !keeping {
		return nil, nil
	}
	where := request.Where{Gateway: a.Gateway, Listener: listener}
	q := ProofQuery{Scope: space.Scope{Where: where}, Kinds: kinds, Holds: guarded}
	s := newSpeller(r, m, &q, judges)
	s.guarding = true
	for i := range meant {
		plain, err := m.Take(meant[i].Request, where)
		if err != nil {
			return nil, err
		}
		c := &space.Class{Entry: request.Entry{Gateway: a.Gateway, Port: plain.Request.Port, Secure: plain.Request.Secure}, Request: plain.Request, Answer: plain}
		if plain.Rule == topology.None || doubtAbout(c) != "" || !s.protected(c) {
			continue
		}
		if e, around := s.around(c, a); around {
			e.Command, e.Spells, e.By = a.Request.Text, plain.Request.Text, meant[i].by
			return []model.Problem{e.problem(r, nil)}, nil
		}
	}
	return nil, nil
}

// plainRequest is a request, and how another one of the same meaning is spelled that is not.
type plainRequest struct {
	request.Request
	by string
}

// plainly are the requests that one may be a spelling of, the most alike first; none, if it is spelled as it should be.
func plainly(r *request.Request) []plainRequest {
	var out []plainRequest
	last := *r
	add := func(by string, change func(*request.Request)) {
		before := last
		if change(&last); last.Host != before.Host || last.Path != before.Path {
			out = append(out, plainRequest{last, by})
		}
	}
	add("a path that is not normalised", func(one *request.Request) { one.Path = request.Plain(one.Path) })
	add("a dot at the end of the host", withoutHostDot)
	add("a parameter of the path", func(one *request.Request) { one.Path = withoutParameters(one.Path) })
	add("upper case", func(one *request.Request) { one.Path = strings.ToLower(one.Path) })
	return out
}

func withoutHostDot(r *request.Request) {
	host, dotted := strings.CutSuffix(r.Host, ".")
	if !dotted || host == "" {
		return
	}
	for _, name := range []*string{&r.SNI, &r.Address} {
		if *name == r.Host {
			*name = host
		}
	}
	r.Host = host
}

// withoutParameters is a path without what follows a semicolon in its elements.
func withoutParameters(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i], _, _ = strings.Cut(parts[i], ";")
	}
	return strings.Join(parts, "/")
}
