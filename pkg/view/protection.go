package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Protection says of every property whether it holds for all requests that a route rule takes on a path. It is shared, and not to be changed.
type Protection struct {
	Authentication    protect.Result `json:"authentication"`    // every request showed a credential that was verified
	Authorization     protect.Result `json:"authorization"`     // was put to a decision that can refuse
	ClientCertificate protect.Result `json:"clientCertificate"` // came over a connection with a verified client certificate
	RateLimit         protect.Result `json:"rateLimit"`         // was counted against a limit
	IPList            protect.Result `json:"ipList"`            // came from a listed address
	CORS              protect.Result `json:"cors"`              // has an origin of a list
	WAF               protect.Result `json:"waf"`               // passed a rule engine that blocks
	TLSIn             protect.Result `json:"tlsIn"`             // arrived over TLS
	HTTPSRedirect     protect.Result `json:"httpsRedirect"`     // is redirected to https without TLS
	TLSBackend        protect.Result `json:"tlsBackend"`        // goes on over verified TLS
	RequestSize       protect.Result `json:"requestSize"`       // has an upper bound of its size
	Timeout           protect.Result `json:"timeout"`           // has an upper bound of its time
	Retry             protect.Result `json:"retry"`             // is retried

	asked  []protect.Result // of the properties that were asked about by name
	number int
}

// Of is what is said of one property.
func (p *Protection) Of(property gate.Property) *protect.Result {
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

// RequestProperty is a property that is asked about: of authentication, if methods are given, with one of them in any case.
type RequestProperty struct {
	Property gate.Property
	Methods  []string
}

// String is the property as it is asked for: authentication=jwt|oidc.
func (p RequestProperty) String() string {
	if len(p.Methods) == 0 {
		return string(p.Property)
	}
	return string(p.Property) + "=" + strings.Join(p.Methods, "|")
}

// stateOfVerdict is what a matrix counts of a verdict.
func stateOfVerdict(v gate.Verdict) string {
	switch v {
	case gate.Fails:
		return CellNone
	case gate.Depends:
		return CellUnknown
	case gate.NotApplicable:
		return CellNotApplicable
	}
	return CellInForce
}

// protector tells what route rules are protected by.
type protector struct {
	judge   *protect.Judge
	asked   []RequestProperty // beside the properties themselves
	matcher *request.Matcher
	res     *resolve.Resolution
	ways    EffectiveTargets
	tests   map[topology.NodeID][]request.Test
	gates   map[protect.Place]*protect.Gates // of a request that takes a way to a rule, and has nothing that is not needed for that
	made    map[*protect.Gates]*Protection   // of ways on which no request makes a difference
	classes map[protect.Place]*Protection    // of ways on which requests do
	shared  map[string]*Protection           // by what they say
	none    *Protection                      // not nil: nothing is asked
}

func newProtector(r *resolve.Resolution, m *request.Matcher, judges Judges) *protector {
	return &protector{judge: judges.protection(r), matcher: m, res: r, tests: map[topology.NodeID][]request.Test{}, gates: map[protect.Place]*protect.Gates{}, made: map[*protect.Gates]*Protection{}, shared: map[string]*Protection{},
		ways: EffectiveTargets{collector: collector{res: r}, paths: map[topology.NodeID][]resolve.Path{}}}
}

// apart are the tests by which gates tell apart the requests that a rule takes.
func (p *protector) apart(rule topology.NodeID) []request.Test {
	if known, ok := p.tests[rule]; ok {
		return known
	}
	var out []request.Test
	for _, way := range p.ways.traffic(rule) {
		a := p.sample(rule, way)
		p.gates[placeOf(a)] = p.judge.On(a)
		for _, t := range p.judge.Tests(a) {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	p.tests[rule] = out
	return out
}

// sample is an answer about a request that takes a way to a rule, and has nothing that is not needed for that.
func (p *protector) sample(rule topology.NodeID, way resolve.Path) *request.Answer {
	at := p.place(rule, way)
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
	for _, b := range p.res.Graph.Backends(rule) {
		if b.Reason == "" && b.Weight > 0 {
			a.Backends = append(a.Backends, b)
		}
	}
	return a
}

// place is where a way leads.
func (p *protector) place(rule topology.NodeID, way resolve.Path) protect.Place {
	at := protect.Place{Gateway: topology.None, Listener: topology.None, Route: topology.None, Rule: rule}
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

func placeOf(a *request.Answer) protect.Place {
	return protect.Place{Gateway: a.Gateway, Listener: a.Listener, Route: a.Route, Rule: a.Rule}
}

// split answers about all classes of requests that gates of some rules tell apart.
func (p *protector) split(rules []topology.NodeID) error {
	p.classes = map[protect.Place]*Protection{}
	return p.eachClass(rules, func(a *request.Answer, sure bool) { p.add(p.judge.On(a), sure) })
}

// eachClass calls see with what becomes of each class of requests that gates of some rules tell apart, and whether that is known.
func (p *protector) eachClass(rules []topology.NodeID, see func(a *request.Answer, sure bool)) error {
	asked := map[topology.NodeID]bool{}
	for _, rule := range rules {
		if len(p.apart(rule)) > 0 {
			asked[rule] = true
		}
	}
	if len(asked) == 0 || p.matcher == nil {
		return nil
	}
	apart := func(rule topology.NodeID) []request.Test {
		if asked[rule] {
			return p.apart(rule)
		}
		return nil
	}
	return space.Walk(p.matcher, space.Scope{Where: space.Everywhere(), Apart: apart, Passing: true}, func(c *space.Class) bool {
		answers, sure := c.Possible, false
		if doubtAbout(c) == "" {
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

// add puts what is said of one class to what is said of the others on its way.
func (p *protector) add(g *protect.Gates, sure bool) {
	known := p.classes[g.Place]
	if known == nil {
		known = &Protection{asked: make([]protect.Result, len(p.asked))}
		p.classes[g.Place] = known
	}
	worsen := func(r *protect.Result, one protect.Result) {
		if !sure {
			one = one.Doubted("which rule takes the request is not known")
		}
		*r = protect.Worst(*r, one)
	}
	for _, property := range gate.Properties() {
		worsen(known.Of(property), g.Of(property))
	}
	for i, q := range p.asked {
		worsen(&known.asked[i], g.Of(q.Property, q.Methods...))
	}
}

// of is what a rule is protected by on a way.
func (p *protector) of(rule topology.NodeID, way resolve.Path) *Protection {
	if p.none != nil {
		return p.none
	}
	at := p.place(rule, way)
	if classes := p.classes[at]; classes != nil {
		return p.share(classes)
	}
	g := p.gates[at]
	if g == nil {
		g = p.judge.On(p.sample(rule, way))
	}
	if made := p.made[g]; made != nil {
		return made
	}
	out := &Protection{}
	for _, property := range gate.Properties() {
		*out.Of(property) = g.Of(property)
	}
	for _, q := range p.asked {
		out.asked = append(out.asked, g.Of(q.Property, q.Methods...))
	}
	out = p.share(out)
	p.made[g] = out
	return out
}

// open is what is said of a rule of which it is not known how requests come to it.
func (p *protector) open(rule model.Ref, way *openWay) *Protection {
	if p.none != nil {
		return p.none
	}
	open := protect.Result{Verdict: gate.Depends, Because: []protect.Reason{{Code: gate.MissingObject, Object: &rule, Message: way.why}}}
	if way.forbidden {
		open.Because = []protect.Reason{protect.Forbidden(way.parent)}
	}
	out := &Protection{}
	for _, property := range gate.Properties() {
		*out.Of(property) = open
	}
	for range p.asked {
		out.asked = append(out.asked, open)
	}
	return p.share(out)
}

// share finds what says the same, so that rows on which it is the same can be told.
func (p *protector) share(one *Protection) *Protection {
	var key []byte
	for _, property := range gate.Properties() {
		key = one.Of(property).AppendKey(key)
	}
	for i := range one.asked {
		key = one.asked[i].AppendKey(key)
	}
	known := p.shared[string(key)]
	if known == nil {
		known = one
		known.number = len(p.shared) + 1
		p.shared[string(key)] = known
	}
	return known
}
