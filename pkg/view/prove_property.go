package view

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The names of ready-made properties of requests.
const (
	meetsPolicy     = "meets-policy"
	oneNamespace    = "one-namespace-per-host"
	httpRedirects   = "plain-http-only-redirects"
	onlyListed      = "only-listed-exposed"
	noneShadowed    = "no-rule-shadowed"
	noHeaderChooses = "no-namespace-by-header"
)

// ReadyProperty is a property of requests that has a name.
type ReadyProperty struct {
	Name string
	Text string // one line: what has to hold
}

// ReadyProperties are those that can be asked for by name.
func ReadyProperties() []ReadyProperty {
	return []ReadyProperty{
		{meetsPolicy, "every request that reaches a backend meets a policy of the kind that is required"},
		{oneNamespace, "all requests to one host that reach a backend are taken by routes of one namespace"},
		{httpRedirects, "every request over plain HTTP is redirected, or reaches no backend"},
		{onlyListed, "no request reaches a backend but to the hosts and paths that are allowed"},
		{noneShadowed, "every route rule takes a request"},
		{noHeaderChooses, "no header decides of which namespace the route is that takes a request"},
	}
}

// Wrong says what is missing in a question, or may not be in it; "" if nothing is wrong.
func (q *ProofQuery) Wrong() string {
	s := &q.Scope
	narrow := len(s.Hosts)+len(s.Paths)+len(s.Methods)+len(s.Headers) > 0
	known := slices.ContainsFunc(ReadyProperties(), func(p ReadyProperty) bool { return p.Name == q.Property })
	switch {
	case q.Property != "" && !known:
		return "there is no property " + q.Property
	case q.Holds != nil && (q.Property != "" || len(q.Require)+len(q.Properties) > 0), q.Property != "" && q.Property != meetsPolicy && len(q.Require)+len(q.Properties) > 0:
		return "give one of the three: --require, an expression, or a ready-made property"
	case len(q.Require) > 0 && len(q.Properties) > 0:
		return "a property says what policies do, and a kind only that there are some: ask for the two one after the other"
	case q.Holds == nil && (q.Property == "" || q.Property == meetsPolicy) && len(q.Require)+len(q.Properties) == 0:
		return "say what has to hold"
	case q.Property == onlyListed && len(q.Allow) == 0:
		return "property " + onlyListed + " needs a list of what is allowed"
	case q.Property != onlyListed && len(q.Allow) > 0:
		return "only property " + onlyListed + " has a list of what is allowed"
	case q.Property == noneShadowed && narrow:
		return "property " + noneShadowed + " is about all requests that come to a Gateway or a listener, not about some hosts, paths, methods or headers"
	}
	return ""
}

// kinds are the policy kinds that matter; nil: all.
func (q *ProofQuery) kinds() []model.GroupKind {
	switch {
	case q.Holds != nil:
		return q.Kinds
	case q.Property != "" && q.Property != meetsPolicy:
		return []model.GroupKind{}
	case len(q.Properties) > 0:
		return nil
	}
	return q.Require
}

// prepare has the requests told apart as the property needs it.
func (q *ProofQuery) prepare(m *request.Matcher) {
	for _, entry := range q.Allow {
		host, path := allowed(entry)
		q.Scope.ApartHosts, q.Scope.ApartPaths = append(q.Scope.ApartHosts, host), append(q.Scope.ApartPaths, path)
	}
	if q.Property == oneNamespace { // a host is the same at all entries
		all := request.Competition{Matcher: m}
		for _, e := range all.Entries(q.Scope.Where) {
			q.Scope.ApartHosts = append(q.Scope.ApartHosts, all.Names(e)...)
		}
	}
}

// allowed splits what is allowed into a host and a path; without one, all of the host.
func allowed(entry string) (host, path string) {
	host, rest, found := strings.Cut(entry, "/")
	if !found {
		return host, "/**"
	}
	return host, "/" + rest
}

// CheckAllowed says what is wrong with an entry of the list of what is allowed.
func CheckAllowed(entry string) *space.AskedError {
	host, path := allowed(entry)
	if err := space.CheckHost(host); err != nil {
		return err
	}
	return space.CheckPath(path)
}

// sentence is the property in words.
func (q *ProofQuery) sentence() string {
	switch q.Property {
	case oneNamespace:
		return "all requests" + q.Asked + " that reach a backend are taken, host by host, by routes of one namespace"
	case httpRedirects:
		return "every request" + q.Asked + " over plain HTTP is redirected, or reaches no backend"
	case onlyListed:
		return "every request" + q.Asked + " that reaches a backend is to " + strings.Join(q.Allow, " or ")
	case noneShadowed:
		return "every route rule" + q.Asked + " takes a request"
	case noHeaderChooses:
		return "all requests" + q.Asked + " that differ in their headers alone are taken by routes of one namespace"
	}
	switch {
	case q.Holds != nil:
		return "every request" + q.Asked + " that reaches a backend fulfils " + strings.Join(strings.Fields(q.Expression), " ")
	case len(q.Properties) > 0:
		return "every request" + q.Asked + " that reaches a backend " + propertiesText(q.Properties)
	}
	return "every request" + q.Asked + " that reaches a backend meets " + kindsText(q.Require) + " (its presence, not what it does)"
}

// holds is what the property says of a request that a backend gets.
func (p *prover) holds(a *request.Answer, c *space.Class) judged {
	switch p.q.Property {
	case oneNamespace, noneShadowed, noHeaderChooses: // they are judged in the end
		return judged{truth: fulfils}
	case httpRedirects:
		return judged{truth: fails}
	case onlyListed:
		return p.q.listed(a, c)
	}
	switch {
	case p.q.Holds != nil:
		return p.fulfilled(a)
	case p.protector != nil:
		return p.isProtected(a)
	case p.inForce(a):
		return judged{truth: fulfils}
	}
	return judged{truth: fails}
}

func (q *ProofQuery) listed(a *request.Answer, c *space.Class) judged {
	out := judged{truth: fails}
	for _, entry := range q.Allow {
		host, path := allowed(entry)
		switch {
		case c.Within(host, path):
			return judged{truth: fulfils}
		case space.On(&a.Request, host, path):
			out = judged{truth: open, why: "only some of its requests are allowed"}
		}
	}
	return out
}

// whole judges what only all classes together tell.
type whole interface {
	// see is called with every class that a rule may take, and what may become of it. Where it is certain, that is one answer.
	see(p *prover, c *space.Class, all []*request.Answer)
	// blind is called with a class of which not even that is known.
	blind(c *space.Class)
	// finish counts the classes for which the property does not hold, or that are open.
	finish(p *prover) error
}

func (q *ProofQuery) whole() whole {
	switch q.Property {
	case oneNamespace:
		return &owners{hosts: map[string]*ownedHost{}}
	case noneShadowed:
		return &taking{sure: map[topology.NodeID]bool{}, maybe: map[topology.NodeID]bool{}}
	case noHeaderChooses:
		return &byHeaders{told: map[*space.Class]bool{}}
	}
	return nil
}

// failed moves a class that was counted already to those for which the property does not hold.
func (p *prover) failed(c *space.Class, because string) {
	p.uncount(c)
	p.fail(c, because)
}

// reopened moves a class that was counted already to those that are not decided.
func (p *prover) reopened(c *space.Class, why string) {
	p.uncount(c)
	p.undecided(c, why)
}

func (p *prover) uncount(c *space.Class) {
	if reaches(c.Answer) {
		p.out.Protected--
	} else {
		p.out.Unreached--
	}
}

// reaches reports whether a backend gets a request.
func reaches(a *request.Answer) bool {
	switch a.Outcome {
	case request.NoMatch, request.Misdirected, request.Redirect, request.BackendError:
		return false
	}
	return true
}

// fail notes a class for which the property does not hold.
func (p *prover) fail(c *space.Class, because string, reasons ...protect.Reason) {
	p.out.unprotected++
	p.takes(c.Answer)
	p.failures.add(c, because, reasons...)
}

// fulfilled holds a request against an expression.
func (p *prover) fulfilled(a *request.Answer) judged {
	key := wayOf(a)
	if known, ok := p.judged[key]; ok {
		return known
	}
	out := judged{truth: fulfils}
	for _, w := range p.ways(a) {
		held, unknown := p.q.Holds(&w)
		switch {
		case unknown != "" && out.truth == fulfils:
			out = judged{truth: open, why: unknown}
		case unknown == "" && !held:
			out = judged{truth: fails}
		}
	}
	p.judged[key] = out
	return out
}

// RequestWay is a way of requests to one backend, as requirements see it: the rule that takes them, and what is in force on the whole way.
type RequestWay struct {
	EffectiveTarget
	Backend model.Ref // its section is the port
}
