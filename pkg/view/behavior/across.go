package behavior

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
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

// compareProbe compares a request in all circumstances that make a difference to either side: who
// sends it, with which credentials, and of which size.
func (c *acrossComparer) compareProbe(p probe, was, is ingress.Tests, served *HostCoverage) error {
	before, after, err := c.answerBoth(&p.request)
	if err != nil {
		return err
	}
	served.Before = served.Before || before.Outcome != request.NoMatch
	served.After = served.After || after.Outcome != request.NoMatch
	dims := joinTests(was, is, before.decides, after.decides)
	for _, one := range c.listCircumstances(dims, len(before.NeedsAuth)+len(after.NeedsAuth) > 0, p.request.Secure) {
		r := p
		r.request.Circumstances = one.circumstances
		r.words = append(slices.Clone(p.words), one.words...)
		if err := c.compareClass(r); err != nil {
			return err
		}
	}
	return nil
}

// compareClass compares the requests of a class: one of them, and where an answer is made of its path or
// query, some more.
func (c *acrossComparer) compareClass(p probe) error {
	if c.out.Classes++; c.out.Classes > maxClasses {
		c.addUndecided("there are more classes of requests than are compared", &p.request)
		return nil
	}
	all := []request.Request{p.request}
	found := map[int]bool{}
	for i := 0; i < len(all); i++ {
		before, after, err := c.answerBoth(&all[i])
		if err != nil {
			return err
		}
		at, why := c.countAnswers(probe{all[i], p.words}, before, after)
		if why != "" {
			c.addUndecided(why, &all[i])
		}
		if at >= 0 {
			found[at] = true
		}
		if i == 0 && (before.isMadeOf(&p.request) || after.isMadeOf(&p.request)) {
			all = append(all, listVariants(p.request)...)
		}
	}
	c.countClass(found)
	return nil
}

// countClass counts a class for which something differs.
func (c *acrossComparer) countClass(changes map[int]bool) {
	var changed, opened, closed, gained bool
	for at := range changes {
		one := &c.changes[at].change
		changed = changed || !one.Beyond
		gained = gained || one.Difference == NewAccess
		opened = opened || one.Access == AccessOpened
		closed = closed || one.Access == AccessClosed
	}
	for n, is := range map[*int]bool{&c.out.Changed: changed, &c.out.Opened: opened, &c.out.Closed: closed,
		&c.out.gained: gained} {
		if is {
			*n++
		}
	}
}

// joinTests returns what any of several tells apart besides paths and fields.
func joinTests(all ...ingress.Tests) ingress.Tests {
	var out ingress.Tests
	for _, t := range all {
		out.Addresses = append(out.Addresses, t.Addresses...)
		out.Bodies = append(out.Bodies, t.Bodies...)
		out.Certificates = out.Certificates || t.Certificates
	}
	return out
}

// circumstanceClass is who sends a request and with what, and the same in words.
type circumstanceClass struct {
	circumstances request.Circumstances
	words         []string
}

// listCircumstances returns the circumstances that make a difference.
func (c *acrossComparer) listCircumstances(t ingress.Tests, credentials, secure bool) []circumstanceClass {
	all := []circumstanceClass{{circumstances: request.Circumstances{Given: true}}}
	cross := func(n int, set func(*request.Circumstances, int) string) {
		var next []circumstanceClass
		for _, one := range all {
			for i := range n {
				made := circumstanceClass{one.circumstances, slices.Clone(one.words)}
				if words := set(&made.circumstances, i); words != "" {
					made.words = append(made.words, words)
				}
				next = append(next, made)
			}
		}
		all = next
	}
	if len(t.Addresses) > 0 {
		addresses := listAddresses(t.Addresses)
		cross(len(addresses), func(to *request.Circumstances, i int) string {
			to.ClientAddress = addresses[i]
			return "from " + addresses[i].String()
		})
	}
	if t.Certificates && secure {
		cross(3, func(to *request.Circumstances, i int) string {
			to.Certificate = request.Certificate{Shown: i > 0, Trusted: i == 1, Subject: "CN=client"}
			return []string{"", "with a trusted certificate", "with another certificate"}[i]
		})
	}
	if credentials {
		cross(2, func(to *request.Circumstances, i int) string {
			if i == 1 {
				to.Assumed = request.Assumptions{Credentials: true, BasicAccepted: true, External: 200}
			}
			return []string{"", "with credentials"}[i]
		})
	}
	if len(t.Bodies) > 0 && slices.Contains(c.query.Also, "bodyLimit") {
		slices.Sort(t.Bodies)
		sizes := slices.Compact(t.Bodies)
		cross(len(sizes)+1, func(to *request.Circumstances, i int) string {
			if i == 0 {
				return ""
			}
			to.BodyBytes = sizes[i-1] + 1
			return "with a body of more than " + formatBytes(sizes[i-1])
		})
	}
	return all
}

// answerBoth returns what a request gets on both sides.
func (c *acrossComparer) answerBoth(r *request.Request) (before, after *sideAnswer, err error) {
	r.Complete()
	if before, err = c.sides[0].answerRequest(*r); err == nil {
		after, err = c.sides[1].answerRequest(*r)
	}
	return before, after, err
}

// isMadeOf reports whether the answer is made of the request's path: a redirect, or another path at the
// backend.
func (s *sideAnswer) isMadeOf(r *request.Request) bool {
	return s.Outcome == request.Redirect || s.Outcome == request.Matched && s.pathKey() != r.Target()
}

// countAnswers notes how two answers differ, and returns the position of the change, -1 for none, or
// why nothing can be said.
func (c *acrossComparer) countAnswers(p probe, before, after *sideAnswer) (at int, why string) {
	for _, s := range []*sideAnswer{before, after} {
		c.asksService = c.asksService || strings.Contains(s.authKey(), string(ingress.External))
		if s.Outcome == request.NotEvaluated {
			return -1, append(s.Why, "not known")[0]
		}
	}
	if isUnreachableOnce(before, after) {
		return -1, "no backend answers on one side, as far as the input has Services and endpoints, " +
			"and cannot tell whether that is so on the other"
	}
	difference, access := compareAnswers(before, after)
	if c.isBeyond(before) || c.isBeyond(after) {
		difference, access = "", ""
	}
	if difference == "" {
		return c.countSettings(p, before, after), ""
	}
	return c.addChange(p, BehaviorChange{Difference: difference, Access: access, Changes: changedParts(difference)},
		before, after), ""
}

// isUnreachableOnce reports whether a rule sends a request to a backend on both sides, and it is known of
// one side alone that no endpoint is there.
func isUnreachableOnce(before, after *sideAnswer) bool {
	return before.Outcome == request.Matched && after.Outcome == request.BackendError ||
		before.Outcome == request.BackendError && after.Outcome == request.Matched
}

// isBeyond reports whether the verdict does not speak of an answer: one of the proxy itself, or to a body
// that is too large where that is not asked about.
func (c *acrossComparer) isBeyond(s *sideAnswer) bool {
	return s.Outcome == request.Answered ||
		s.DeniedBy == ingress.BodySize && !slices.Contains(c.query.Also, "bodyLimit")
}

// addChange counts a request for which something differs.
func (c *acrossComparer) addChange(p probe, change BehaviorChange, before, after *sideAnswer) int {
	key := strings.Join([]string{string(change.Difference), change.Access, before.classKey(), after.classKey(),
		formatSettingChanges(change.Policies)}, "\x00")
	at, known := c.index[key]
	if !known {
		at = len(c.changes)
		c.index[key] = at
		c.changes = append(c.changes, acrossChange{change: change, before: before, after: after, smallest: p.request})
	}
	one := &c.changes[at]
	if known && requests.IsSmaller(&p.request, &one.smallest) {
		one.smallest, one.before, one.after = p.request, before, after
	}
	class := ChangedClass{strings.Join(p.words, ", "), requests.FormatCommand(&p.request)}
	switch {
	case one.lastClass == class.Class: // another request of it
	case len(one.change.Classes) < maxBehaviorClasses:
		one.change.Classes = append(one.change.Classes, class)
	default:
		one.change.More++
	}
	one.lastClass = class.Class
	return at
}

func (c *acrossComparer) addUndecided(why string, example *request.Request) {
	u := c.undecided[why]
	if u == nil {
		u = &prove.Undecided{Why: why, Example: example.Text}
		c.undecided[why] = u
	}
	u.Classes++
	if !slices.Contains(u.Hosts, example.Host) {
		u.Hosts = append(u.Hosts, example.Host)
	}
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

// buildResult sorts the changes, and completes the answer.
func (c *acrossComparer) buildResult() {
	out := c.out
	order := make([]int, len(c.changes))
	for i := range order {
		order[i] = i
	}
	rank := map[string]int{AccessOpened: 0, "": 1, AccessClosed: 2}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &c.changes[i], &c.changes[j]
		return cmp.Or(view.CompareBools(a.change.Beyond, b.change.Beyond), rank[a.change.Access]-rank[b.change.Access],
			view.CompareBools(a.change.Difference != NewAccess, b.change.Difference != NewAccess),
			requests.CompareSizes(&a.smallest, &b.smallest))
	})
	repairs := c.newRepairFinder()
	position := make([]int, len(order))
	for n, i := range order {
		position[i] = n
		one := &c.changes[i]
		one.change.Request, one.change.Command = requests.NewRequestText(&one.smallest),
			requests.FormatCommand(&one.smallest)
		one.change.Before, one.change.After = c.describeSide(0, one.before), c.describeSide(1, one.after)
		one.change.Repair = repairs.findRepair(one.change.Difference, &one.smallest, one.before, one.after,
			one.change.Policies)
		one.change.Circumstances = requests.FormatCircumstances(&one.smallest)
		out.Items = append(out.Items, one.change)
	}
	for i := range out.Requests {
		if r := &out.Requests[i]; r.hasChange {
			r.Change = &position[r.change]
		}
	}
	for _, u := range c.undecided {
		out.Undecided = append(out.Undecided, *u)
	}
	slices.SortFunc(out.Undecided, func(a, b prove.Undecided) int {
		return cmp.Or(cmp.Compare(b.Classes, a.Classes), strings.Compare(a.Why, b.Why))
	})
	out.Hosts, out.oneInput = orderHosts(c.hosts), c.inputs[0].Resolution == c.inputs[1].Resolution
	if n := len(c.plainHosts); n > 0 {
		out.AddLeftOut(fmt.Sprintf("requests over https to %s without a certificate before, such as %s",
			view.FormatCount(n, "host"), c.plainHosts[0]))
	}
	if c.asksService {
		out.AddLeftOut("which authentication service is asked, and what it answers")
	}
	out.assumed = listAssumptions(c.problems)
	for i := range c.problems {
		c.problems[i] = append(c.problems[i], c.collectors[i].CollectProblems()...)
	}
	problems, news := diff.JoinProblems(c.problems[0], c.problems[1])
	out.news = model.SortProblems(news)
	out.Finish("BehaviorDiff", problems)
	out.Complete = out.Complete && len(out.Undecided) == 0
	out.accessKnown = out.Complete
	switch {
	case out.Changed > 0:
		out.Verdict = Different
	case !out.Complete:
		out.Verdict = NotProved
	default:
		out.Verdict = Equivalent
	}
}

// newRepairFinder knows what the implementation of the second side has.
func (c *acrossComparer) newRepairFinder() repairFinder {
	g, at := c.sides[1].(*gatewayAnswerer)
	if !at {
		return repairFinder{}
	}
	names := map[string]bool{}
	for _, e := range g.competition.Entries(g.destination) {
		names[c.inputs[1].Resolution.Graph.ImplementationName(e.Gateway)] = true
	}
	var out repairFinder
	for name := range names {
		if equivalents := c.inputs[1].Judges.Equivalents[name]; equivalents != nil && len(names) == 1 {
			out = repairFinder{name, equivalents}
		}
	}
	return out
}

// describeSide returns what a request gets on a side in the shape of the contract.
func (c *acrossComparer) describeSide(side int, got *sideAnswer) BehaviorSide {
	facts, backends := requests.DescribeProxyAnswer(&got.Answer)
	out := BehaviorSide{Outcome: string(got.Outcome), Status: got.Status, Location: got.Location, Backends: backends,
		Protected: []string{}, Denied: []string{}, Why: append([]string{}, got.Why...), ProxyFacts: facts}
	a := got.atRule
	if a == nil {
		return out
	}
	r := c.inputs[side].Resolution
	if a.Gateway != topology.None {
		out.Gateway = r.Node(a.Gateway).Ref.FullName()
	}
	if a.Listener != topology.None {
		out.Listener = r.Node(a.Listener).Ref.Section
	}
	if a.Rule != topology.None {
		ref, index := r.Node(a.Rule).Ref, r.Node(a.Rule).Index
		out.Route, out.Rule = &ref, &index
	}
	out.Filters = a.Filters
	return out
}

// listAssumptions returns what is assumed of the proxies because the input does not tell, each once.
func listAssumptions(problems [2][]model.Problem) []string {
	var out []string
	for _, all := range problems {
		for _, p := range all {
			assumed := p.Code == model.NotEvaluated || p.Code == model.OrderUncertain
			if assumed && p.Severity == model.Info && !slices.Contains(out, p.Message) {
				out = append(out, p.Message)
			}
		}
	}
	return out
}
