package linkerd

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// proxyPoint is the kind of the points of the mesh.
const proxyPoint = "linkerd"

// skipInboundAnnotation lists ports whose traffic is not led through the proxy.
const skipInboundAnnotation = "config.linkerd.io/skip-inbound-ports"

// newLayer judges hops at the proxy of their destination: one grant that fits lets them in,
// whatever others say (IX client_authzs). What is set on Services acts in the proxies of clients, and
// refuses nothing. nil: nothing of Linkerd is in the input.
func newLayer(r *resolve.Resolution) *point.Layer {
	if !isPresent(r.Snapshot, r.Settings) {
		return nil
	}
	w := buildMeshIndex(r.Snapshot, r.Settings)
	return &point.Layer{Judge: w.judgeHop}
}

// judgeHop judges a hop at the workload that it comes to, if that may be in the mesh.
func (w *meshIndex) judgeHop(h *point.Hop) []point.Point {
	if h.ToProxy || h.To.Object == nil || h.Protocol != "TCP" {
		return nil
	}
	to := w.findWorkload(h.To.Object)
	if h.To.LabelsUnknown {
		to = w.assumeMembership(to, h.Port)
	}
	if to.meshed == selector.No {
		return nil
	}
	j := connectionJudge{meshIndex: w, hop: h, to: to, from: w.readClient(&h.From), port: h.Port}
	if set := to.annotatedPorts(skipInboundAnnotation); h.Port != 0 && set.containsPort(h.Port) {
		return []point.Point{j.passBy()}
	}
	return []point.Point{j.judge()}
}

// assumeMembership is a workload whose Pods are not in the input: where a Server may govern its port,
// its Pods may have the annotation that their Namespace does not have.
func (w *meshIndex) assumeMembership(to *workload, port int) *workload {
	if to.meshed != selector.No || to.object.Ref.Name == "" {
		return to
	}
	j := connectionJudge{meshIndex: w, hop: &point.Hop{To: point.End{LabelsUnknown: true}}, to: to, port: port}
	if governors := j.listGovernors(); len(governors) == 1 && governors[0] == nil {
		return to
	}
	out := *to
	out.meshed, out.why = selector.Maybe, "its Pods, which may have the annotation "+injectAnnotation+
		", are not in the input"
	return &out
}

// findWorkload is what an object is to the mesh: one of the input, or a Pod as it would be made.
func (w *meshIndex) findWorkload(o *model.Object) *workload {
	if w.byRef == nil {
		w.byRef = map[model.Ref]*workload{}
		for _, load := range w.workloads {
			w.byRef[load.object.Ref] = load
		}
	}
	if load := w.byRef[o.Ref]; load != nil && load.object == o {
		return load
	}
	return readPod(w.in, o)
}

// client is who connects, as proxies see it.
type client struct {
	name           string        // for people
	object         *model.Object // nil: it is no Pod, or one of which nothing is known
	external       bool          // an ExternalWorkload
	meshed         selector.Truth
	why            string // it is in the mesh or not, or why that is not known
	identity       string // "": it has none, or its service account is not known
	accountUnknown bool
	namespace      string
	addresses      []netip.Addr // none: they are not known
	inCluster      bool         // its address is one of the networks of the cluster
}

// readClient reads who connects. The Pods of a Gateway that are not in the input have the annotations
// that the Gateway gives them.
func (w *meshIndex) readClient(e *point.End) client {
	c := client{name: e.String(), object: e.Object, namespace: e.Namespace()}
	switch {
	case e.Object == nil && e.PodsUnknown:
		c.meshed, c.why = selector.Maybe, "its Pods are not in the input"
		return c
	case e.Object == nil:
		if e.Address.IsValid() {
			c.addresses = []netip.Addr{e.Address}
		}
		return c
	}
	load := w.findWorkload(e.Object)
	if e.Gateway != nil && w.in.Get(e.Object.Ref) != e.Object {
		if word := e.Gateway.Body.At("spec", "infrastructure", "annotations", injectAnnotation); word.IsText() {
			assumed := *load
			assumed.annotations = map[string]string{injectAnnotation: word.Text()}
			assumed.setMembership()
			load = &assumed
		}
	}
	c.external, c.meshed, c.why = load.external, load.meshed, load.why
	c.accountUnknown = e.AccountUnknown && !load.external
	switch {
	case load.external:
		c.identity = load.identity
	case !c.accountUnknown:
		c.identity = w.settings.serviceAccountIdentity(c.namespace, load.account)
	}
	if e.Address.IsValid() {
		c.addresses = []netip.Addr{e.Address}
		return c
	}
	for _, text := range load.address {
		if a, err := netip.ParseAddr(text); err == nil {
			c.addresses = append(c.addresses, a)
		}
	}
	c.inCluster = !load.external && !load.hostNetwork
	return c
}

// seenIdentity is the identity of the client as the proxy sees it, "" for none; nil: it is not known.
func (c *client) seenIdentity() *string {
	none := ""
	switch {
	case c.meshed == selector.No:
		return &none
	case c.meshed == selector.Yes && !c.accountUnknown:
		return &c.identity
	}
	return nil
}

// describe states what the judgement takes the client to be.
func (c *client) describe() model.Problem {
	p := model.Problem{Severity: model.Info, Code: model.NotEvaluated}
	switch {
	case c.object == nil && c.meshed == selector.No:
		p.Message = "the client is an address: it is taken to have no identity"
	case c.meshed == selector.Yes && c.accountUnknown:
		p.Message = "the connection is taken to use mTLS, by a service account that is not known: " + c.why
	case c.meshed == selector.Yes:
		p.Message = "the connection is taken to use mTLS, by which the client is " + c.identity + ": " + c.why
	case c.meshed == selector.No:
		p.Message = "the client is taken to have no identity: " + c.why
	default:
		p.Message = "cannot tell whether the client has an identity: " + c.why
	}
	if c.object != nil {
		p = p.At(c.object)
	}
	return p
}

// passBy is the point of a port whose traffic is not led through the proxy: whatever is in force there
// holds for nobody.
func (j *connectionJudge) passBy() point.Point {
	policies := []model.Ref{}
	if v := j.findGovernor(j.to, j.port); v != nil {
		policies = j.listPolicies(v, nil)
	}
	return point.Point{Name: point.Workload, Kind: proxyPoint, Object: j.hop.To.Ref(), Policies: policies,
		Verdict: point.Bypassed, Port: j.port, PolicyKind: serverKind, IgnoresRequests: true,
		Because: "annotation " + skipInboundAnnotation + " has the port: its traffic does not pass the proxy"}
}

// ruling is what is decided at a port if one Server governs it.
type ruling struct {
	outcome         request.Outcome
	stage           string
	by              []evaluate.Decider
	why             []string
	note            string // what else is to be said of that
	policies        []model.Ref
	ignoresRequests bool
	forAll          bool // it is the same for all clients
	status          int  // that a denied request gets; 0: the connection is refused, or which it is is not known
}

// ruleByAll rules under every Server that may govern the port: where they do not agree, it depends.
func (j *connectionJudge) ruleByAll() ruling {
	governors := j.listGovernors()
	out := j.rule(governors[0])
	why := ""
	for _, v := range governors[1:] {
		other := j.rule(v)
		if why == "" && other.outcome != out.outcome {
			why = j.explainGovernors(governors[0], v)
		}
		out.ignoresRequests = out.ignoresRequests && other.ignoresRequests
		for _, ref := range other.policies {
			if !slices.Contains(out.policies, ref) {
				out.policies = append(out.policies, ref)
			}
		}
	}
	gap := j.describeGaps()
	if out.outcome != request.Allowed {
		gap = cmp.Or(gap, j.gap)
	}
	if why = cmp.Or(gap, why); why != "" {
		out.outcome, out.by, out.why, out.forAll = request.NotEvaluated, nil, []string{why}, false
	}
	return out
}

// judge judges the hop at the workload.
func (j *connectionJudge) judge() point.Point {
	out := j.ruleByAll()
	var problems []model.Problem
	if out.outcome == request.Denied && j.to.meshed == selector.Maybe {
		out.outcome, out.why = request.NotEvaluated, append(out.why, "whether "+j.hop.To.String()+
			" has a proxy that asks is not known: "+j.to.why)
	}
	if j.to.meshed == selector.Maybe && (j.hop.Request == nil || out.outcome != request.Allowed) {
		problems = append(problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
			Message: "it is taken to be in the mesh: " + j.to.why, Hint: "add the Namespace"}.At(j.to.object))
	}
	described := j.from.describe()
	if j.identityAsked && !out.forAll || j.hop.Request == nil {
		problems = append(problems, described)
	}
	if out.note != "" {
		out.why = append(out.why, out.note)
	}
	if j.identityAsked && !out.forAll {
		out.why = append(out.why, described.Message)
	}
	d := evaluate.Decision{At: j.hop.To.Ref(), Outcome: out.outcome, Stage: out.stage, By: out.by, Why: out.why}
	p := point.NewPoint(point.Workload, proxyPoint, serverKind, d, out.policies, j.port)
	p.Problems, p.Identity, p.IgnoresRequests = problems, j.from.seenIdentity(), out.ignoresRequests
	p.Status = out.status
	return p
}

// explainGovernors says why it is not known which of two Servers governs the port; nil is none.
func (j *connectionJudge) explainGovernors(first, other *server) string {
	switch {
	case j.port == 0:
		return "cannot tell which Server governs the port: which port of the Pods it is is not known"
	case first == nil || other == nil || j.mayGovern(first) == selector.Maybe || j.mayGovern(other) == selector.Maybe:
		return "cannot tell which Server governs the port: not all labels and ports of the Pods are in the input"
	}
	return "which of Server " + first.object.Ref.FullName() + " and Server " + other.object.Ref.FullName() +
		" governs the port depends on their ages, which the input does not tell, and they decide otherwise"
}

// describeGaps says what of the mesh could not be read; "" if all could.
func (w *meshIndex) describeGaps() string {
	return point.DescribeUnread(w.in.Cluster, serverKind, authorizationKind, oldAuthorizationKind, ownRouteKind)
}

// mayGovern reports whether a Server is for the port, whatever others are.
func (j *connectionJudge) mayGovern(v *server) selector.Truth {
	partial := j.hop.To.LabelsUnknown
	if v.external != j.to.external || v.invalidReason != "" {
		return selector.No
	}
	selects := v.selector.SelectsPartly(j.to.labels, partial)
	switch {
	case j.port == 0, partial && v.serverPort().IsText():
		return min(selects, selector.Maybe)
	case slices.Contains(j.to.resolvePort(v.serverPort()), j.port):
		return selects
	}
	return selector.No
}

// listGovernors lists the Servers one of which governs the port, in the order in which they get it;
// nil stands for none. There are several where labels, ports or ages are not known.
func (j *connectionJudge) listGovernors() []*server {
	var out []*server
	var first *server // that certainly selects the port
	for _, v := range j.servers[j.to.object.Ref.Namespace] {
		holds := j.mayGovern(v)
		if first != nil && !v.object.Created.IsZero() && !first.object.Created.IsZero() {
			continue // it is younger
		}
		if holds != selector.No {
			out = append(out, v)
		}
		if first == nil && holds == selector.Yes {
			first = v
		}
	}
	if first == nil {
		out = append(out, nil)
	}
	return out
}

// joinNames writes what objects are called, one after the other.
func joinNames(list []*model.Object) string {
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = o.Ref.String()
	}
	return strings.Join(names, ", ")
}
