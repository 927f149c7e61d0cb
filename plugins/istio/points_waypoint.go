package istio

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
	"github.com/dopolicy/kubectl-dopolicy/plugins/istio/authorization"
)

// ingressUseWaypoint is the label by which Gateways send to a Service through its waypoint.
const ingressUseWaypoint = "istio.io/ingress-use-waypoint"

// namedWaypoint is a waypoint that a Service, a Pod or a Namespace names.
type namedWaypoint struct {
	ref     model.Ref
	gateway *model.Object   // nil: it is not in the input
	service *model.Object   // that names it, or for which its Namespace does; nil: a Pod
	others  []namedWaypoint // the same one, as it is named for something else that leads to the Pods

	unbound bool   // nothing is bound to it, whoever sends
	passed  bool   // the hop leads through it
	reason  string // why it does not
	doubt   string // why that is not known
}

// rank orders what is said of one waypoint that is named twice, for the Service and for its Pods: what
// it is passed for comes first, what is not bound to it last.
func (n *namedWaypoint) rank() int {
	switch {
	case n.passed:
		return 0
	case n.doubt != "":
		return 1
	case !n.unbound:
		return 2
	}
	return 3
}

// findDetours finds the waypoints that stand before the destination, passed or not. Where that is not
// known both are tried.
func (j *hopJudge) findDetours(h *point.Hop) [][]point.Detour {
	if h.ToProxy {
		return nil
	}
	var ways [][]point.Detour
	for _, named := range j.findNamed(h) {
		switch {
		case named.doubt != "" && named.gateway == nil:
			d := j.bypass(&named, named.doubt)
			d.Point.Verdict = point.Depends
			ways = addDetours(ways, d)
		case named.doubt != "":
			ways = addDetours(ways, j.pass(h, &named), j.bypass(&named, named.doubt))
		case named.passed:
			ways = addDetours(ways, j.pass(h, &named))
		default:
			ways = addDetours(ways, j.bypass(&named, named.reason))
		}
	}
	return ways
}

// addDetours leads every way by one of some detours.
func addDetours(ways [][]point.Detour, to ...point.Detour) [][]point.Detour {
	if ways == nil {
		ways = [][]point.Detour{nil}
	}
	var out [][]point.Detour
	for _, way := range ways {
		for _, d := range to {
			out = append(out, append(slices.Clip(way), d))
		}
	}
	return out
}

// findNamed lists the waypoints that are named for the destination: by the Service and the Pod, or by
// their Namespace, and by the Services that a Pod is behind. Each is listed once.
func (j *hopJudge) findNamed(h *point.Hop) []namedWaypoint {
	var out []namedWaypoint
	add := func(o *model.Object, labels map[string]string, service *model.Object) {
		ref, doubt := findWaypointName(j.in, o, labels)
		if doubt != "" { // a waypoint beside it is the one that its Namespace may name
			ref = j.findWaypointIn(o.Ref.Namespace)
		}
		if ref.Name == "" || ref == h.To.Ref() {
			return
		}
		n := namedWaypoint{ref: ref, service: service, gateway: j.in.Get(ref)}
		n.passed, n.reason, n.doubt = j.isPassed(h, &n)
		switch {
		case doubt != "" && !n.passed && n.doubt == "":
			return
		case doubt != "":
			n.passed, n.doubt = false, "cannot tell whether "+ref.String()+" is its waypoint: "+doubt
		}
		at := slices.IndexFunc(out, func(o namedWaypoint) bool { return o.ref == ref })
		switch {
		case at < 0:
			out = append(out, n)
		case n.rank() < out[at].rank():
			out[at] = n
		case n.rank() == out[at].rank():
			out[at].others = append(out[at].others, n)
		}
	}
	if h.Service != nil {
		add(h.Service, h.Service.Labels, h.Service)
	}
	if h.To.Object != nil {
		add(h.To.Object, workload.PodLabels(h.To.Object), nil)
		if h.Service == nil {
			for _, service := range j.services[h.To.Namespace()] {
				if isBehind(service, h.To.Object) {
					add(service, service.Labels, service)
				}
			}
		}
	}
	return out
}

// findWaypointIn is the first waypoint of a namespace; zero if there is none.
func (j *hopJudge) findWaypointIn(namespace string) model.Ref {
	for _, t := range j.byNamespace[namespace] {
		if t.form == waypoint && t.service == nil && t.object.Ref.GroupKind() == gatewayKind {
			return t.object.Ref
		}
	}
	return model.Ref{}
}

// findWaypointName is the Gateway that labels of an object name as its waypoint, else those of its
// Namespace; doubt says why that is not known.
func findWaypointName(in *model.Snapshot, o *model.Object, labels map[string]string) (ref model.Ref, doubt string) {
	if managed := o.Labels[managedLabel]; managed == managedByMesh || managed == managedEastWest {
		return model.Ref{}, ""
	}
	name, named := labels[useWaypoint]
	if !named {
		ns := in.Get(model.Ref{Kind: "Namespace", Name: o.Ref.Namespace})
		if ns == nil {
			return model.Ref{}, "namespace/" + o.Ref.Namespace + " is not in the input"
		}
		labels = ns.Labels
		name = labels[useWaypoint]
	}
	if name == "" || name == "none" {
		return model.Ref{}, ""
	}
	return model.Ref{Group: gatewayGroup, Kind: "Gateway", Name: name,
		Namespace: cmp.Or(labels[useWaypointSpace], o.Ref.Namespace)}, ""
}

// isPassed reports whether a hop leads through a waypoint, else why not; doubt says why that is not
// known.
func (j *hopJudge) isPassed(h *point.Hop, n *namedWaypoint) (passed bool, reason, doubt string) {
	if n.gateway == nil {
		e := j.in.FindExistence(n.ref)
		if e.Presence == model.Missing {
			n.unbound = true
			return false, "there is no " + n.ref.String() + ": traffic goes straight to the Pods", ""
		}
		return false, "", "cannot tell whether a waypoint stands there: " + cmp.Or(e.Why, n.ref.String()+" is not in the input")
	}
	serves := readWaypointFor(j.in, n.gateway)
	home := h.To.Namespace()
	if n.service != nil {
		home = n.service.Ref.Namespace
	}
	denied, unknown := excludesNamespace(j.in, n.gateway, home)
	dialed := cmp.Or(n.service, h.Service)
	headless := dialed != nil && dialed.Text("spec", "clusterIP") == "None" // its name leads to the Pods
	n.unbound = true
	switch {
	case hasNoAddress(n.gateway):
		return false, n.ref.String() + " has no address: traffic goes straight to the Pods", ""
	case denied:
		return false, n.ref.String() + " takes nothing of namespace " + home + " (allowedRoutes of its listener)", ""
	case n.service != nil && serves != "service" && serves != "all", n.service == nil && serves != "workload" && serves != "all":
		return false, n.ref.String() + " is for " + describeServed(serves) + " (label " + waypointFor + ")", ""
	}
	n.unbound = false
	from := j.findMember(&h.From)
	switch {
	case j.isOwnProxy(&h.From):
		if passed, reason, doubt = j.isPassedByGateway(h, n, headless); doubt != "" {
			return false, reason, doubt
		}
	case n.service != nil && (!h.ToService || headless):
		reason = h.From.String() + " connects to the Pods, and the waypoint is for what is sent to the Service"
	case n.service == nil && h.ToService && !headless:
		reason = "the waypoint is for what is sent to the Pods, and the address of the Service is dialed"
	case from.doubt != "":
		return false, h.From.String() + " is not in the mesh", from.doubt
	case from.membership == ztunnelMember:
		passed = true
	case from.membership == sidecarMember:
		reason = "a sidecar sends to the Pods directly"
	default:
		reason = h.From.String() + " is not in the mesh, and knows of no waypoint"
	}
	switch {
	case passed && unknown != "":
		return false, "", "cannot tell whether " + n.ref.String() + " takes namespace " + home + ": " + unknown
	case passed && n.service != nil && n.service.Labels[useCanary] != "" && n.service.Labels[useCanary] != "none":
		return false, "another waypoint gets a part of it", "cannot tell which waypoint a request passes: another one gets a part of them (label " + useCanary + ")"
	}
	return passed, reason, ""
}

// isPassedByGateway reports whether a Gateway of Istio sends through the waypoint of a Service: only
// if a label asks for it, and never to a headless Service
// (pilot/pkg/xds/endpoints/endpoint_builder.go:995-1020).
func (j *hopJudge) isPassedByGateway(h *point.Hop, n *namedWaypoint, headless bool) (passed bool, reason, doubt string) {
	switch {
	case n.service == nil:
		return false, h.From.String() + " sends to the Pods, and not through their waypoint", ""
	case headless:
		return false, n.service.Ref.String() + " has no cluster IP, and cannot be reached through a waypoint", ""
	case !j.settings.Bool("istio.enableIngressWaypointRouting"):
		return false, "Gateways send to the Pods (istio.enableIngressWaypointRouting=false)", ""
	}
	from := "it comes from " + h.From.Gateway.Ref.String() + ", and "
	text, own := n.service.Labels[ingressUseWaypoint]
	where := n.service.Ref.String()
	if !own {
		where = "neither " + where + " nor its Namespace"
		space := model.Ref{Kind: "Namespace", Name: n.service.Ref.Namespace}
		ns := j.in.Get(space)
		if ns == nil {
			return false, from + n.service.Ref.String() + " does not have the label " + ingressUseWaypoint,
				"cannot tell whether Gateways send through " + n.ref.String() + ": the labels of " + space.String() +
					" are not in the input"
		}
		if text, own = ns.Labels[ingressUseWaypoint]; own {
			where = space.String()
		}
	}
	use, err := strconv.ParseBool(text)
	switch {
	case own && err == nil && use:
		return true, "", ""
	case own:
		return false, from + "label " + ingressUseWaypoint + " of " + where + " is " + text + ", not true", ""
	}
	return false, from + where + " has the label " + ingressUseWaypoint, ""
}

// readWaypointFor is what a waypoint takes: service, workload, all or none, as it says itself or its
// class.
func readWaypointFor(in *model.Snapshot, gateway *model.Object) string {
	of, found := gateway.Labels[waypointFor]
	if class := in.Get(model.Ref{Group: gatewayGroup, Kind: "GatewayClass",
		Name: gateway.Text("spec", "gatewayClassName")}); !found && class != nil {
		of = class.Labels[waypointFor]
	}
	return cmp.Or(of, "service")
}

// describeServed says what a waypoint is for.
func describeServed(word string) string {
	switch word {
	case "service":
		return "Services"
	case "workload":
		return "Pods"
	case "none":
		return "nothing"
	}
	return word
}

// hasNoAddress reports whether a Gateway reports that it has no address: then Istio knows none.
func hasNoAddress(gateway *model.Object) bool {
	status := gateway.Body.Field("status")
	return status.Field("conditions").Len() > 0 && status.Field("addresses").Len() == 0
}

// bypass is a waypoint that the hop does not lead through.
func (j *hopJudge) bypass(n *namedWaypoint, reason string) point.Detour {
	rules := slices.Clone(j.findWaypointRules(n))
	for i := range n.others {
		rules = append(rules, j.findWaypointRules(&n.others[i])...)
	}
	return point.Detour{Point: point.Point{Name: point.Waypoint, Kind: waypointPoint, Object: n.ref, Verdict: point.Bypassed,
		Policies: authorization.ListRefusing(rules), Because: reason, PolicyKind: authorizationKind,
		Remedy: "label the Service with " + ingressUseWaypoint + "=true where the Gateway reads that, or let in at the " +
			"workload only who comes through the waypoint: an ALLOW rule for its service account"}}
}

// findWaypointRules are the rules in force at a waypoint for a Service, or else for all that it
// takes.
func (j *hopJudge) findWaypointRules(n *namedWaypoint) []authorization.Rule {
	if v := j.findWaypointVerdict(n, authorizationKind); v != nil {
		return authorization.ListRules(v)
	}
	return nil
}

// findWaypointTokens are the JWT rules in force there.
func (j *hopJudge) findWaypointTokens(n *namedWaypoint) []authorization.TokenRule {
	if v := j.findWaypointVerdict(n, authenticationKind); v != nil {
		return authorization.ListTokenRules(v)
	}
	return nil
}

// findWaypointVerdict is what policies of a kind have at a waypoint for a Service, or else for all
// that it takes; nil: nothing.
func (j *hopJudge) findWaypointVerdict(n *namedWaypoint, gk model.GroupKind) *resolve.Verdict {
	k := j.res.Kind(gk)
	if k == nil || n.gateway == nil {
		return nil
	}
	refs := []model.Ref{n.ref}
	if n.service != nil {
		refs = []model.Ref{n.service.Ref, n.ref}
	}
	for _, ref := range refs {
		for _, id := range j.res.Graph.Lookup(ref) {
			if id != topology.None && len(k.Contexts(id)) > 0 {
				return k.Verdict(k.Contexts(id)[0])
			}
		}
	}
	return nil
}

// pass judges a hop at the waypoint that it leads through. Which port the rules see there is not
// known.
func (j *hopJudge) pass(h *point.Hop, n *namedWaypoint) point.Detour {
	source := j.findSource(&h.From)
	rules := j.findWaypointRules(n)
	q := &authorization.Question{Source: source, Answer: h.Request, Rewritten: h.From.Gateway != nil}
	d := authorization.Decide(rules, q)
	p := point.Point{Tests: q.Tests, Status: forbiddenStatus, Name: point.Waypoint, Kind: waypointPoint, Object: n.ref,
		Policies: authorization.ListRefusing(rules),
		Identity: identityOf(source), PolicyKind: authorizationKind,
		IgnoresRequests: !slices.ContainsFunc(rules, authorization.Rule.LooksAtRequests)}
	if j.settings.Bool("istio.enableLayeredWaypointAuthorizationPolicies") {
		layered := j.findLayeredRules(n)
		q.Opaque = true
		first := authorization.Decide(layered, q)
		p.Policies = append(authorization.ListRefusing(layered), p.Policies...)
		if first.Outcome == request.Denied || first.Outcome == request.NotEvaluated && d.Outcome == request.Allowed {
			d = first
		}
	}
	d.At = n.ref
	judgeTokens(&p, &d, j.findWaypointTokens(n), h.Request)
	if unread := j.describeGaps(); unread != "" {
		d.Outcome, d.Why, d.By = request.NotEvaluated, []string{unread}, nil
	}
	p.Decision, p.Because = &d, d.FormatReason()
	p.Verdict = point.VerdictOf(d.Outcome)
	return point.Detour{Point: p, Proxy: findOwnProxies(j.res, n.gateway)[0], Port: hbonePort}
}

// findLayeredRules are the rules of the policies that select a waypoint as a workload
// (pilot/pkg/networking/plugin/authz/authorization.go:53-76).
func (j *hopJudge) findLayeredRules(n *namedWaypoint) []authorization.Rule {
	k := j.res.Kind(authorizationKind)
	if k == nil {
		return nil
	}
	pod := findOwnProxies(j.res, n.gateway)[0]
	t := target{proxy: &proxy{form: sidecar, object: pod.Object, pods: []map[string]string{workload.PodLabels(pod.Object)}}}
	var out []authorization.Rule
	for _, p := range k.Policies {
		holds, _ := j.isAttached(p.Ref().Namespace, readPolicyTargets(p.Object), t)
		if p.Refused || !holds || isDryRun(p.Object) {
			continue
		}
		one := readAuthzPolicy(p.Object)
		items := p.Object.Body.At("spec", "rules")
		for i, rule := range items.Items {
			out = append(out, authorization.Rule{Action: one.action, Policy: p.Object, Value: rule.Value(),
				Name: one.rulePath(one.action, i).String()})
		}
		if items.Len() == 0 {
			out = append(out, authorization.Rule{Action: one.action, Policy: p.Object, Name: one.rulePath(one.action, 0).String(),
				Value: "matches no request: the policy has no rules"})
		}
	}
	return out
}
