package protection

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Protection says of every property whether it holds for all requests that a route rule takes on a
// path. It is shared, and not to be changed.
type Protection struct {
	Authentication protect.Result `json:"authentication"` // every request showed a credential that was verified
	Authorization  protect.Result `json:"authorization"`  // was put to a decision that can refuse
	// came over a connection with a verified client certificate
	ClientCertificate protect.Result `json:"clientCertificate"`
	RateLimit         protect.Result `json:"rateLimit"`     // was counted against a limit
	IPList            protect.Result `json:"ipList"`        // came from a listed address
	CORS              protect.Result `json:"cors"`          // has an origin of a list
	WAF               protect.Result `json:"waf"`           // passed a rule engine that blocks
	TLSIn             protect.Result `json:"tlsIn"`         // arrived over TLS
	HTTPSRedirect     protect.Result `json:"httpsRedirect"` // is redirected to https without TLS
	TLSBackend        protect.Result `json:"tlsBackend"`    // goes on over verified TLS
	RequestSize       protect.Result `json:"requestSize"`   // has an upper bound of its size
	Timeout           protect.Result `json:"timeout"`       // has an upper bound of its time
	Retry             protect.Result `json:"retry"`         // is retried

	askedResults []protect.Result // of the properties that were asked about by name
	number       int
}

// ResultOf returns what is said of one property.
func (p *Protection) ResultOf(property gate.Property) *protect.Result {
	switch property {
	case gate.Authentication:
		return &p.Authentication
	case gate.Authorization:
		return &p.Authorization
	case gate.ClientCertificate:
		return &p.ClientCertificate
	case gate.RateLimit:
		return &p.RateLimit
	case gate.IPList:
		return &p.IPList
	case gate.CORS:
		return &p.CORS
	case gate.WAF:
		return &p.WAF
	case gate.TLSIn:
		return &p.TLSIn
	case gate.HTTPSRedirect:
		return &p.HTTPSRedirect
	case gate.TLSBackend:
		return &p.TLSBackend
	case gate.RequestSize:
		return &p.RequestSize
	case gate.Timeout:
		return &p.Timeout
	}
	return &p.Retry
}

// Protector tells what route rules are protected by.
type Protector struct {
	Judge    *protect.Judge
	asked    []requests.Property // beside the properties themselves
	matcher  *request.Matcher
	walker   *point.Walker
	res      *resolve.Resolution
	paths    *collect.TrafficPaths
	tests    map[topology.NodeID][]request.Test
	gates    map[protect.RulePath]*protect.Gates // by path, of a plain request that takes the path
	byGates  map[*protect.Gates]*Protection      // of paths on which all requests are treated alike
	classes  map[protect.RulePath]*Protection    // of paths on which requests are treated differently
	shared   map[string]*Protection              // by what they say
	notAsked *Protection                         // not nil: protection is not asked about
}

// NewProtector returns what judges the rules of an input. asked are properties with methods that
// are judged beside those of the vocabulary.
func NewProtector(r *resolve.Resolution, m *request.Matcher, judges view.Judges, asked []requests.Property) *Protector {
	return &Protector{Judge: judges.NewJudge(r), asked: asked, matcher: m, res: r,
		walker: requests.Walker(r, judges),
		tests:  map[topology.NodeID][]request.Test{}, gates: map[protect.RulePath]*protect.Gates{},
		byGates: map[*protect.Gates]*Protection{}, shared: map[string]*Protection{}, paths: collect.NewTrafficPaths(r)}
}

// FindTests returns the tests by which gates tell apart the requests that a rule takes.
func (p *Protector) FindTests(rule topology.NodeID) []request.Test {
	if known, ok := p.tests[rule]; ok {
		return known
	}
	var out []request.Test
	for _, way := range p.paths.To(rule) {
		a := p.buildSampleAnswer(rule, way)
		p.gates[answerRulePath(a)] = p.Judge.FindGates(a)
		for _, t := range p.Judge.FindTests(a) {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	p.tests[rule] = out
	return out
}

// FindPathTests returns the tests by which gates, and points behind the Gateway, tell apart the requests
// that a rule takes.
func (p *Protector) FindPathTests(rule topology.NodeID) []request.Test {
	out := p.FindTests(rule)
	if !p.walker.HasLayers() {
		return out
	}
	for _, way := range p.paths.To(rule) {
		a := p.buildSampleAnswer(rule, way)
		for _, t := range requests.WalkAnswer(p.walker, p.res, a).FindTests() {
			if !slices.Contains(out, t) {
				out = append(slices.Clip(out), t)
			}
		}
	}
	return out
}

// buildSampleAnswer makes an answer about a request that comes to a rule on a path and has nothing
// that is not needed for that.
func (p *Protector) buildSampleAnswer(rule topology.NodeID, way resolve.Path) *request.Answer {
	at := p.findRulePath(rule, way)
	a := &request.Answer{Gateway: at.Gateway, Listener: at.Listener, Route: at.Route, Rule: rule}
	for _, id := range way {
		if p.res.Node(id).Role == topology.Frontend {
			a.Service = p.res.Node(id).Ref
		}
	}
	a.Request = request.Request{Protocol: request.HTTP, Method: "GET", Path: "/"}
	if a.Listener != topology.None {
		facts := p.res.Graph.Listener(a.Listener)
		a.Request.Secure, a.Request.Port = facts.Protocol == "HTTPS" || facts.Protocol == "TLS", facts.Port
	}
	n := p.res.Node(rule)
	if n.Object == nil || n.Role != topology.Rule {
		return a
	}
	body := n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index))
	for _, m := range body.Field("matches").Items {
		if path := m.Text("path", "value"); path != "" && m.Text("path", "type") != "RegularExpression" {
			a.Request.Path = path
		}
		break
	}
	for _, f := range body.Field("filters").Items {
		if f.Text("type") == "RequestRedirect" {
			a.Location, a.Outcome = &request.Location{}, request.Redirect
		}
	}
	if a.Location != nil {
		return a
	}
	for _, b := range p.res.Graph.BackendRefs(rule) {
		if b.Reason == "" && b.Weight > 0 {
			a.Backends = append(a.Backends, b)
		}
	}
	return a
}

// findRulePath returns the gateway, listener and route through which a path leads to a rule.
func (p *Protector) findRulePath(rule topology.NodeID, way resolve.Path) protect.RulePath {
	at := protect.RulePath{Gateway: topology.None, Listener: topology.None, Route: topology.None, Rule: rule}
	for _, id := range way {
		switch p.res.Node(id).Role {
		case topology.Gateway:
			at.Gateway = id
		case topology.Listener:
			at.Listener = id
		case topology.Route:
			at.Route = id
		}
	}
	return at
}

func answerRulePath(a *request.Answer) protect.RulePath {
	return protect.RulePath{Gateway: a.Gateway, Listener: a.Listener, Route: a.Route, Rule: a.Rule}
}

// JudgeClasses judges all classes of requests that gates of some rules tell apart.
func (p *Protector) JudgeClasses(rules []topology.NodeID) error {
	p.classes = map[protect.RulePath]*Protection{}
	return p.eachClass(rules, func(a *request.Answer, sure bool) { p.addClass(p.Judge.FindGates(a), sure) })
}

// eachClass calls see with what becomes of each class of requests that gates of some rules tell
// apart, and whether that is known.
func (p *Protector) eachClass(rules []topology.NodeID, see func(a *request.Answer, sure bool)) error {
	asked := map[topology.NodeID]bool{}
	for _, rule := range rules {
		if len(p.FindTests(rule)) > 0 {
			asked[rule] = true
		}
	}
	if len(asked) == 0 || p.matcher == nil {
		return nil
	}
	apart := func(rule topology.NodeID) []request.Test {
		if asked[rule] {
			return p.FindTests(rule)
		}
		return nil
	}
	return space.Walk(p.matcher, space.Scope{Destination: space.AnyDestination(), ExtraTests: apart, ReuseClass: true},
		func(c *space.Class) bool {
			answers, sure := c.Possible, false
			if requests.FindDoubt(c) == "" {
				answers, sure = []*request.Answer{c.Answer}, true
			}
			for _, a := range answers {
				if a.Rule == topology.None || !asked[a.Rule] {
					continue
				}
				one := *a
				one.Request = c.Request
				see(&one, sure)
			}
			return true
		})
}

// addClass merges what is said of one class into what is said of the others on its path.
func (p *Protector) addClass(g *protect.Gates, sure bool) {
	known := p.classes[g.RulePath]
	if known == nil {
		known = &Protection{askedResults: make([]protect.Result, len(p.asked))}
		p.classes[g.RulePath] = known
	}
	worsen := func(r *protect.Result, one protect.Result) {
		if !sure {
			one = one.DoubtFailure("cannot tell which rule takes the request")
		}
		*r = protect.WorstOf(*r, one)
	}
	for _, property := range gate.Properties() {
		worsen(known.ResultOf(property), g.JudgeProperty(property))
	}
	for i, q := range p.asked {
		worsen(&known.askedResults[i], g.JudgeProperty(q.Property, q.Methods...))
	}
}

// FindProtection returns what protects the requests to a rule on a path.
func (p *Protector) FindProtection(rule topology.NodeID, way resolve.Path) *Protection {
	if p.notAsked != nil {
		return p.notAsked
	}
	at := p.findRulePath(rule, way)
	if classes := p.classes[at]; classes != nil {
		return p.shareProtection(classes)
	}
	g := p.gates[at]
	if g == nil {
		g = p.Judge.FindGates(p.buildSampleAnswer(rule, way))
	}
	if made := p.byGates[g]; made != nil {
		return made
	}
	out := &Protection{}
	for _, property := range gate.Properties() {
		*out.ResultOf(property) = g.JudgeProperty(property)
	}
	for _, q := range p.asked {
		out.askedResults = append(out.askedResults, g.JudgeProperty(q.Property, q.Methods...))
	}
	out = p.shareProtection(out)
	p.byGates[g] = out
	return out
}

// UncertainProtection returns what is said of a rule of which the reason says why it is not known
// what it is protected by.
func (p *Protector) UncertainProtection(reason protect.Reason) *Protection {
	if p.notAsked != nil {
		return p.notAsked
	}
	open := protect.Result{Verdict: gate.Depends, Because: []protect.Reason{reason}}
	out := &Protection{}
	for _, property := range gate.Properties() {
		*out.ResultOf(property) = open
	}
	for range p.asked {
		out.askedResults = append(out.askedResults, open)
	}
	return p.shareProtection(out)
}

// LeaveOut makes the protector say the same of every rule, and judge nothing.
func (p *Protector) LeaveOut() { p.notAsked = &Protection{} }

// Number returns a number that is the same for equal answers of one input only.
func (p *Protection) Number() int { return p.number }

// shareProtection returns the known protection that says the same, so that equal rows can be told
// by their pointers.
func (p *Protector) shareProtection(one *Protection) *Protection {
	var key []byte
	for _, property := range gate.Properties() {
		key = one.ResultOf(property).AppendKey(key)
	}
	for i := range one.askedResults {
		key = one.askedResults[i].AppendKey(key)
	}
	known := p.shared[string(key)]
	if known == nil {
		known = one
		known.number = len(p.shared) + 1
		p.shared[string(key)] = known
	}
	return known
}

// AccessProperties returns the properties that decide whether a request gets access.
func AccessProperties() []gate.Property {
	return slices.DeleteFunc(gate.Properties(), func(p gate.Property) bool { return !p.IsAccess() })
}

// ExplainsDecision reports whether a policy that decides is one of those that protect in a way that
// is known. Such a policy also keeps out requests with other credentials than the one that is
// decided about.
func (p *Protection) ExplainsDecision(d *requests.Decision) bool {
	for _, property := range AccessProperties() {
		r := p.ResultOf(property)
		if r.HasReason(gate.NotRead) {
			continue
		}
		for i := range d.By {
			ref := d.By[i].Policy
			if slices.ContainsFunc(r.By, func(u protect.Use) bool { return u.Object == ref }) ||
				slices.ContainsFunc(r.Because, func(b protect.Reason) bool {
					return b.Object != nil &&
						*b.Object == ref
				}) {
				return true
			}
		}
	}
	return false
}

// VerdictsKey returns a key for the verdicts about all properties, and nothing else; "" for no
// protection.
func (p *Protection) VerdictsKey() string {
	if p == nil {
		return ""
	}
	var out strings.Builder
	for _, property := range gate.Properties() {
		r := p.ResultOf(property)
		out.WriteString("\x00" + string(r.Verdict))
		if r.HasReason(gate.DeniesAll) {
			out.WriteString(" for nobody")
		}
	}
	return out.String()
}

// ProtectionOfAnswer returns what protects the requests of the class that an answer is about.
func (p *Protector) ProtectionOfAnswer(a *request.Answer) *Protection {
	g := p.Judge.FindGates(a)
	if made := p.byGates[g]; made != nil {
		return made
	}
	out := &Protection{}
	for _, property := range gate.Properties() {
		*out.ResultOf(property) = g.JudgeProperty(property)
	}
	out = p.shareProtection(out)
	if len(a.Request.Headers)+len(a.Request.Query) == 0 && len(p.FindTests(a.Rule)) == 0 {
		p.byGates[g] = out
	}
	return out
}
