package prove

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
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

// Check says what is missing in a question, or may not be in it; "" if nothing is wrong.
func (q *Query) Check() string {
	s := &q.Scope
	narrow := len(s.Hosts)+len(s.Paths)+len(s.Methods)+len(s.Headers) > 0
	known := slices.ContainsFunc(ReadyProperties(), func(p ReadyProperty) bool { return p.Name == q.Property })
	switch {
	case q.Property != "" && !known:
		return "there is no property " + q.Property
	case q.Holds != nil && (q.Property != "" || len(q.Require)+len(q.Properties) > 0), q.Property != "" &&
		q.Property != meetsPolicy && len(q.Require)+len(q.Properties) > 0:
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
		return "property " + noneShadowed +
			" is about all requests that come to a Gateway or a listener, not about some hosts, paths, methods or headers"
	}
	return ""
}

// relevantKinds returns the policy kinds that matter; nil: all.
func (q *Query) relevantKinds() []model.GroupKind {
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

// splitScope has requests told apart as the property needs it.
func (q *Query) splitScope(m *request.Matcher) {
	for _, entry := range q.Allow {
		host, path := splitAllowed(entry)
		q.Scope.ExtraHosts, q.Scope.ExtraPaths = append(q.Scope.ExtraHosts, host), append(q.Scope.ExtraPaths, path)
	}
	if q.Property == oneNamespace { // a host is the same at all entries
		all := request.Competition{Matcher: m}
		for _, e := range all.Entries(q.Scope.Destination) {
			q.Scope.ExtraHosts = append(q.Scope.ExtraHosts, all.Hostnames(e)...)
		}
	}
}

// splitAllowed splits an entry of what is allowed into a host and a path. Without a path it is all
// of the host.
func splitAllowed(entry string) (host, path string) {
	host, rest, found := strings.Cut(entry, "/")
	if !found {
		return host, "/**"
	}
	return host, "/" + rest
}

// CheckAllowed says what is wrong with an entry of the list of what is allowed.
func CheckAllowed(entry string) *space.SelectionError {
	host, path := splitAllowed(entry)
	if err := space.CheckHost(host); err != nil {
		return err
	}
	return space.CheckPath(path)
}

// formatSentence says the property in words.
func (q *Query) formatSentence() string {
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
		return "every request" + q.Asked + " that reaches a backend fulfils " +
			strings.Join(strings.Fields(q.Expression), " ")
	case len(q.Properties) > 0:
		return "every request" + q.Asked + " that reaches a backend " + requests.FormatProperties(q.Properties)
	}
	return "every request" + q.Asked + " that reaches a backend meets " + formatKinds(q.Require) +
		" (its presence, not what it does)"
}

// judgeProperty says whether the property holds for a request that a backend gets.
func (p *prover) judgeProperty(a *request.Answer, c *space.Class) judgement {
	switch p.q.Property {
	case oneNamespace, noneShadowed, noHeaderChooses: // they are judged in the end
		return judgement{truth: truthHolds}
	case httpRedirects:
		return judgement{truth: truthFails}
	case onlyListed:
		return p.q.judgeListed(a, c)
	}
	switch {
	case p.q.Holds != nil:
		return p.judgeExpression(a)
	case p.protector != nil:
		return p.judgeProtection(a)
	case p.hasPolicy(a):
		return judgement{truth: truthHolds}
	}
	switch met, doubt := p.meetsPolicyBehind(a); {
	case met:
		return judgement{truth: truthHolds}
	case doubt != "":
		return judgement{truth: truthUnknown, why: doubt}
	}
	return judgement{truth: truthFails}
}

// meetsPolicyBehind reports whether a request meets a policy at a point behind its Gateway; doubt says
// why that is not known.
func (p *prover) meetsPolicyBehind(a *request.Answer) (met bool, doubt string) {
	if !p.walker.HasLayers() {
		return false, ""
	}
	path := requests.WalkAnswer(p.walker, p.collector.Resolution, a)
	return path.FindCover(func(ref model.Ref) bool { return slices.Contains(p.q.Require, ref.GroupKind()) })
}

func (q *Query) judgeListed(a *request.Answer, c *space.Class) judgement {
	out := judgement{truth: truthFails}
	for _, entry := range q.Allow {
		host, path := splitAllowed(entry)
		switch {
		case c.IsWithin(host, path):
			return judgement{truth: truthHolds}
		case space.IsRequestOn(&a.Request, host, path):
			out = judgement{truth: truthUnknown, why: "only some of its requests are allowed"}
		}
	}
	return out
}

// crossClassCheck judges what only all classes together tell.
type crossClassCheck interface {
	// addClass is called with every class that a rule may take, and what may become of it. Where it
	// is certain, that is one answer.
	addClass(p *prover, c *space.Class, all []*request.Answer)
	// addUnknown is called with a class of which not even that is known.
	addUnknown(c *space.Class)
	// finishCheck counts the classes for which the property does not hold, or that are open.
	finishCheck(p *prover) error
}

func (q *Query) newCrossClassCheck() crossClassCheck {
	switch q.Property {
	case oneNamespace:
		return &hostOwnerCheck{hosts: map[string]*ownedHost{}}
	case noneShadowed:
		return &shadowCheck{sure: map[topology.NodeID]bool{}, maybe: map[topology.NodeID]bool{}}
	case noHeaderChooses:
		return &headerCheck{reported: map[*space.Class]bool{}}
	}
	return nil
}

// moveToFailed moves a class that was counted already to those for which the property does not
// hold.
func (p *prover) moveToFailed(c *space.Class, because string) {
	p.uncountClass(c)
	p.addFailure(c, because)
}

// moveToUndecided moves a class that was counted already to those that are not decided.
func (p *prover) moveToUndecided(c *space.Class, why string) {
	p.uncountClass(c)
	p.addUndecidedClass(c, why)
}

func (p *prover) uncountClass(c *space.Class) {
	if requests.IsSentToBackend(c.Answer) {
		p.out.Protected--
	} else {
		p.out.Unreached--
	}
}

// addFailure notes a class for which the property does not hold.
func (p *prover) addFailure(c *space.Class, because string, reasons ...protect.Reason) {
	p.out.unprotected++
	p.noteTakingRule(c.Answer)
	p.failures.add(c, because, reasons...)
}

// judgeExpression says whether the expression holds for a request.
func (p *prover) judgeExpression(a *request.Answer) judgement {
	key := requests.RulePathOf(a)
	if known, ok := p.judged[key]; ok {
		return known
	}
	out := judgement{truth: truthHolds}
	for _, w := range p.buildBackendPaths(a) {
		held, unknown := p.q.Holds(&w)
		switch {
		case unknown != "" && out.truth == truthHolds:
			out = judgement{truth: truthUnknown, why: unknown}
		case unknown == "" && !held:
			out = judgement{truth: truthFails}
		}
	}
	p.judged[key] = out
	return out
}

// BackendPath is the path of requests to one backend, as requirements see it: the rule that takes
// them, and what is in force on the whole path.
type BackendPath struct {
	collect.EffectiveTarget
	Backend model.Ref // its section is the port
}
