package prove

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/normalize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// FindBypassOfRequest finds that a request is another spelling of one that policies keep out, and
// gets to the same backend without them. listener is the name of the only one that is asked about,
// if any.
func FindBypassOfRequest(r *resolve.Resolution, m *request.Matcher, a *request.Answer, listener string,
	judges view.Judges) ([]model.Problem, error) {
	if a.Request.Protocol != request.HTTP || a.Request.From != "" || a.Gateway == topology.None ||
		a.Rule == topology.None || !requests.IsSentToBackend(a) {
		return nil, nil
	}
	meant := listPlainSpellings(&a.Request)
	kinds, keeping := protection.FindProtectiveKinds(r)
	if len(meant) == 0 || !keeping {
		return nil, nil
	}
	where := request.Destination{Gateway: a.Gateway, Listener: listener}
	q := Query{Scope: space.Scope{Destination: where}, Kinds: kinds, Holds: checkProtection}
	s := newSpellingFinder(r, m, &q, judges)
	s.asksProtection = true
	for i := range meant {
		plain, err := m.FindRule(meant[i].Request, where)
		if err != nil {
			return nil, err
		}
		c := &space.Class{Entry: request.Entry{Gateway: a.Gateway, Port: plain.Request.Port,
			Secure: plain.Request.Secure}, Request: plain.Request, Answer: plain}
		if plain.Rule == topology.None || requests.FindDoubt(c) != "" || !s.isFulfilled(c) {
			continue
		}
		if e, around := s.findBypass(c, a); around {
			e.Command, e.Spells, e.By = a.Request.Text, plain.Request.Text, meant[i].by
			return []model.Problem{e.toProblem(r, nil)}, nil
		}
	}
	return nil, nil
}

// plainSpelling is a request as it should be spelled, and how the one in question differs from it.
type plainSpelling struct {
	request.Request
	by string
}

// listPlainSpellings returns the requests that one may be a spelling of, the most alike first; none
// if it is spelled as it should be.
func listPlainSpellings(r *request.Request) []plainSpelling {
	var out []plainSpelling
	last := *r
	add := func(by string, change func(*request.Request)) {
		before := last
		if change(&last); last.Host != before.Host || last.Path != before.Path {
			out = append(out, plainSpelling{last, by})
		}
	}
	add("a path that is not normalised", func(one *request.Request) { one.Path = normalize.TidyPath(one.Path) })
	add("a dot at the end of the host", removeHostDot)
	add("a parameter of the path", func(one *request.Request) { one.Path = removeParameters(one.Path) })
	add("upper case", func(one *request.Request) { one.Path = strings.ToLower(one.Path) })
	return out
}

func removeHostDot(r *request.Request) {
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

// removeParameters returns a path without what follows a semicolon in its elements.
func removeParameters(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i], _, _ = strings.Cut(parts[i], ";")
	}
	return strings.Join(parts, "/")
}
