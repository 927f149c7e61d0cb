package behavior

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Endpoint is what one side of a comparison across proxies is: the proxy of Ingresses, or Gateways.
type Endpoint struct {
	Proxy   *ingress.Proxy  // nil: Gateways
	Gateway topology.NodeID // topology.None: every one
}

// maxClasses is how many classes of requests are compared; beyond it, the comparison is not complete.
const maxClasses = 200_000

// acrossComparer compares what requests get at two proxies that different objects configure.
type acrossComparer struct {
	query     *Query
	sides     [2]answerer
	inputs    [2]view.Input
	out       *BehaviorDiff
	changes   []acrossChange
	index     map[string]int // the position of a change, by what changes
	undecided map[string]*prove.Undecided
	hosts     []HostCoverage
	problems  [2][]model.Problem // of the proxies

	collectors   [2]*collect.Collector // of what else is wrong with the inputs
	ingressHosts []string              // that Ingresses name
	asksService  bool                  // an authentication service decides about a request
	plainHosts   []string              // that have a certificate on the second side alone
}

// acrossChange is a difference with the requests for which it is the same.
type acrossChange struct {
	change        BehaviorChange
	before, after *sideAnswer
	smallest      request.Request
	lastClass     string // that was counted
}

// CompareAcross compares what every request gets at the proxies of two sides of which at least one is
// configured by Ingresses.
func CompareAcross(before, after view.Input, ends [2]Endpoint, q Query) (*BehaviorDiff, error) {
	c := &acrossComparer{query: &q, inputs: [2]view.Input{before, after}, index: map[string]int{},
		undecided: map[string]*prove.Undecided{},
		out: &BehaviorDiff{Items: []BehaviorChange{}, Undecided: []prove.Undecided{}, LeftOut: []string{},
			Protects: []string{}}}
	for i, in := range c.inputs {
		g := newGatewayAnswerer(in, q.Kinds, ends[i].Gateway)
		c.sides[i], c.collectors[i] = g, g.writer.Collector
		if p := ends[i].Proxy; p != nil {
			c.sides[i], c.problems[i] = proxyAnswerer{p}, slices.Clone(p.Problems)
			c.ingressHosts = append(c.ingressHosts, p.Hosts...)
		}
	}
	for _, h := range splitHosts(append(c.sides[0].listHosts(), c.sides[1].listHosts()...)) {
		if err := c.compareHost(h); err != nil {
			return nil, err
		}
	}
	for i := range q.Requests {
		if err := c.compareRequest(q.Requests[i]); err != nil {
			return nil, err
		}
	}
	c.buildResult()
	return c.out, nil
}

// compareHost compares the requests to a class of hosts.
func (c *acrossComparer) compareHost(h hostClass) error {
	if c.query.IngressHostsOnly && !slices.ContainsFunc(c.ingressHosts,
		func(name string) bool { return gatewayapi.CoversHostname(name, h.host) }) {
		if hasNamedHost(h) {
			c.hosts = append(c.hosts, HostCoverage{Host: h.host, After: true})
		}
		return nil
	}
	was, is := c.sides[0].findTests(h.host), c.sides[1].findTests(h.host)
	paths, ok := space.SplitTexts(request.AspectPath, "", append(slices.Clone(was.Paths), is.Paths...))
	if !ok {
		c.addUndecided("the regular expressions on paths tell apart more than can be followed", hostRequest(h.host))
		return nil
	}
	fields, ok := splitFields(append(slices.Clone(was.Fields), is.Fields...))
	if !ok {
		c.addUndecided("the matches on headers and query parameters tell apart more than can be followed",
			hostRequest(h.host))
		return nil
	}
	schemes := []bool{false}
	switch {
	case was.TLS:
		schemes = append(schemes, true)
	case is.TLS:
		c.plainHosts = append(c.plainHosts, h.host)
	}
	served := HostCoverage{Host: h.host}
	for _, secure := range schemes {
		for _, path := range paths {
			for _, method := range listMethods(was, is) {
				for _, f := range fields {
					r := newProbe(h.host, secure, method, path.Text, f.request)
					words := append([]string{h.words, path.Words}, f.words...)
					if err := c.compareProbe(probe{r, words}, was, is, &served); err != nil {
						return err
					}
				}
			}
		}
	}
	if hasNamedHost(h) {
		c.hosts = append(c.hosts, served)
	}
	return nil
}

// hostRequest returns the plainest request to a host.
func hostRequest(host string) *request.Request {
	r := newProbe(host, false, "GET", "/", request.Request{})
	r.Complete()
	return &r
}

// newProbe returns a request to a host.
func newProbe(host string, secure bool, method, path string, fields request.Request) request.Request {
	r := request.Request{Protocol: request.HTTP, Secure: secure, Address: host, Port: defaultPort(secure), Host: host,
		HostText: host, SNI: host, Method: method, Path: path, Headers: fields.Headers, Query: fields.Query}
	r.Given = true
	return r
}

// compareRequest compares a request that was asked about.
func (c *acrossComparer) compareRequest(r request.Request) error {
	before, after, err := c.answerBoth(&r)
	if err != nil {
		return err
	}
	changes := map[int]bool{}
	out := ComparedRequest{Request: requests.NewRequestText(&r), Before: c.describeSide(0, before),
		After: c.describeSide(1, after), Verdict: Equivalent}
	known := len(c.changes)
	at, why := c.countAnswers(probe{r, []string{r.Text}}, before, after)
	switch {
	case why != "":
		out.Verdict = NotProved
		c.addUndecided(why, &r)
	case at >= 0:
		out.change, out.hasChange, changes[at] = at, true, true
		if !c.changes[at].change.Beyond {
			out.Verdict = Different
		}
	}
	if len(c.changes) > known { // none of the classes shows it
		c.out.Classes++
		c.countClass(changes)
	}
	c.out.Requests = append(c.out.Requests, out)
	return nil
}
