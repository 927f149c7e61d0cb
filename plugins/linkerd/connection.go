package linkerd

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// connectionJudge judges one connection, or one request that comes by it.
type connectionJudge struct {
	*meshIndex
	hop           *point.Hop
	to            *workload
	from          client
	port          int // 0: it is not known
	doubts        []string
	identityAsked bool   // some grant is for identities
	gap           string // what of a grant could not be read; "": nothing
}

// namedGrant is a grant with what it is called.
type namedGrant struct {
	grant
	name string
	fits selector.Truth
}

// rule decides as if a Server governed the port; nil: none does.
func (j *connectionJudge) rule(v *server) ruling {
	j.doubts = nil
	all, where, note := j.listServerGrants(v)
	fits := j.matchGrants(all)
	out := ruling{stage: where, ignoresRequests: true, policies: j.listPolicies(v, all), note: note}
	out.by = listDeciders(all, fits)
	if v != nil && len(v.activeRoutes()) > 0 {
		j.ruleByRoutes(&out, v, all, fits)
		return out
	}
	if paths := j.listProbePaths(v); len(paths) > 0 && fits != selector.Yes {
		out.ignoresRequests = false
		if sent := readSent(j.hop.Request); sent != nil && sent.method == "GET" && slices.Contains(paths, sent.path) {
			probe := namedGrant{grant: grant{networks: toNetworks(j.settings.probes)}, name: "probes"}
			probe.fits = j.matchGrant(probe.grant)
			if all = append(all, probe); probe.fits > fits {
				fits, out.by, where = probe.fits, nil, "the built-in grant of the probes of the port"
			}
		}
	}
	switch {
	case fits == selector.Yes && len(out.by) == 0:
		out.outcome, out.why = request.Allowed, []string{where + " lets it in"}
	case fits == selector.Yes:
		out.outcome, out.why = request.Allowed, []string{"it is let in by " + where}
	case fits == selector.Maybe:
		out.outcome, out.why = request.NotEvaluated, []string{"whether it is let in by " + where + " depends on " +
			strings.Join(j.doubts, ", ")}
	case len(all) == 0:
		out.outcome, out.why = request.Denied, []string{where + " lets nobody in"}
	default:
		out.outcome, out.why = request.Denied, []string{"no grant at " + where + " fits"}
	}
	return out
}

// matchGrants matches grants, and returns how well the best of them fits.
func (j *connectionJudge) matchGrants(all []namedGrant) selector.Truth {
	fits := selector.No
	for i := range all {
		all[i].fits = j.matchGrant(all[i].grant)
		fits = max(fits, all[i].fits)
	}
	return fits
}

// listDeciders are the grants that fit as well as the best of them; none if none may fit.
func listDeciders(all []namedGrant, fits selector.Truth) []evaluate.Decider {
	var out []evaluate.Decider
	for _, c := range all {
		if c.fits == fits && fits != selector.No && c.policy != nil {
			out = append(out, evaluate.Decider{Policy: c.policy.Ref, Origin: c.policy.Origin, Rule: c.name, Action: "allow"})
		}
	}
	return out
}

// listPolicies are those in force at a Server, in the order in which they are asked: the Server, what
// grants, and the rate limit. nil: no Server governs the port.
func (j *connectionJudge) listPolicies(v *server, all []namedGrant) []model.Ref {
	out := []model.Ref{}
	if v == nil {
		return out
	}
	if all == nil {
		all, _, _ = j.listServerGrants(v)
	}
	out = append(out, v.object.Ref)
	for _, c := range all {
		out = addGrantor(out, c)
	}
	if limit := j.findLimit(v); limit != nil {
		out = append(out, limit.Ref)
	}
	return out
}

// addGrantor adds the policy of a grant, if it is not there yet.
func addGrantor(to []model.Ref, c namedGrant) []model.Ref {
	if c.policy == nil || slices.Contains(to, c.policy.Ref) {
		return to
	}
	return append(to, c.policy.Ref)
}

// listProbePaths are the paths that the proxy lets through for probes of the port, as long as no
// routes are there (IX default_inbound_http_routes).
func (j *connectionJudge) listProbePaths(v *server) []string {
	paths := j.to.probePaths[j.port]
	switch {
	case j.hop.Request == nil, len(j.settings.probes) == 0, v != nil && !v.countsRequests(),
		v == nil && j.to.isOpaque(j.port, j.settings.opaque):
		return nil
	}
	return paths
}

// ruleByRoutes decides where routes are on the Server: what it grants holds for all of them, and each
// may have grants of its own.
func (j *connectionJudge) ruleByRoutes(out *ruling, v *server, all []namedGrant, fits selector.Truth) {
	routes := v.activeRoutes()
	sent := readSent(j.hop.Request)
	own := selector.No
	for _, route := range routes {
		for _, c := range j.listRouteGrants(route) {
			own = max(own, j.matchGrant(c.grant))
			if sent == nil {
				out.policies = addGrantor(out.policies, c)
			}
		}
	}
	switch {
	case fits == selector.No && own == selector.No && sent == nil:
		out.outcome, out.why = request.Denied, []string{fmt.Sprintf(
			"no grant fits, neither of Server %s nor of a route on it", v.object.Ref.FullName())}
	case j.hop.Request == nil:
		out.outcome, out.why = request.NotEvaluated, []string{fmt.Sprintf(
			"Server %s has routes, and the outcome depends on the path: what none of them matches gets 404 (%s)",
			v.object.Ref.FullName(), joinNames(routes))}
	case sent == nil && v.protocol == "unknown": // what is no HTTP meets no routes
		out.outcome = map[selector.Truth]request.Outcome{selector.Yes: request.Allowed, selector.Maybe: request.NotEvaluated,
			selector.No: request.Denied}[fits]
		out.why = []string{"it is no HTTP, and only the grants of " + out.stage + " count"}
	case sent == nil:
		out.outcome, out.why = request.NotEvaluated, []string{out.stage + " expects " + v.protocol +
			", and of the connection no request is known"}
	default:
		j.ruleByTakers(out, v, all, fits, sent)
		out.ignoresRequests = fits == selector.No && own == selector.No
	}
}

// ruleByTakers decides by the route that takes a request.
func (j *connectionJudge) ruleByTakers(out *ruling, v *server, all []namedGrant, fits selector.Truth, sent *sentRequest) {
	takers, doubt := j.findTakers(v, sent)
	where := "Server " + v.object.Ref.FullName()
	j.doubts = nil
	for i, route := range takers {
		one := ruling{outcome: request.Denied}
		if route == nil {
			one.status = 404
			one.why = []string{"404: no route on " + where + " takes " + sent.String()}
		} else {
			own := j.listRouteGrants(route)
			for _, c := range own {
				out.policies = addGrantor(out.policies, c)
			}
			granted := max(fits, j.matchGrants(own))
			one.by = append(listDeciders(all, granted), listDeciders(own, granted)...)
			switch granted {
			case selector.Yes:
				one.outcome, one.why = request.Allowed, []string{"it is let in on " + route.Ref.String() + " of " + where}
			case selector.Maybe:
				j.matchGrants(all) // notes what it depends on
				one.outcome, one.why = request.NotEvaluated, []string{"whether it is let in on " + route.Ref.String() +
					" of " + where + " depends on " + strings.Join(j.doubts, ", ")}
			default:
				one.status = 403
				one.why = []string{"403: no grant fits, neither of " + route.Ref.String() + " nor of " + where}
			}
		}
		if i > 0 && one.outcome != out.outcome {
			out.forAll = false
			out.outcome, out.by, out.why = request.NotEvaluated, nil, []string{"cannot tell which route on " + where +
				" takes " + sent.String() + ": " + doubt}
			return
		}
		if i == 0 {
			out.outcome, out.by, out.why, out.forAll, out.status = one.outcome, one.by, one.why, route == nil, one.status
		}
	}
}

// listRouteGrants are the grants of a route of its own.
func (j *connectionJudge) listRouteGrants(route *model.Object) []namedGrant {
	var out []namedGrant
	for _, o := range j.authorizationsOf(route.Ref) {
		out = append(out, namedGrant{grant: j.readAuthorization(o), name: o.Ref.Name})
	}
	return j.dropVoid(out)
}

// dropVoid leaves out what grants nothing, and notes what does because an authentication could not be
// read.
func (j *connectionJudge) dropVoid(list []namedGrant) []namedGrant {
	return slices.DeleteFunc(list, func(c namedGrant) bool {
		if c.missing != "" && (j.in.Cluster.HasUnread(meshTLSKind) || j.in.Cluster.HasUnread(networkKind)) {
			j.gap = "cannot tell whether " + c.policy.Ref.String() + " lets anybody in: " + c.missing + " is forbidden"
		}
		return c.voidReason != ""
	})
}

// listServerGrants are the grants at the port, and whose they are; note says what else is to be said of
// that.
func (j *connectionJudge) listServerGrants(v *server) (out []namedGrant, where, note string) {
	if v == nil {
		p := workloadPort{world: j.meshIndex, load: j.to, port: j.port}
		_, access := p.defaultPolicies()
		word, _ := access.Blocks[0].Units[0].Value.(string)
		if g, ok := j.grantOfWord(word); ok {
			out = append(out, namedGrant{grant: g})
		}
		return out, "default " + word, "no Server governs the port, and the default is " + word + " (" + access.Builtin + ")"
	}
	for _, o := range j.authorizationsOf(v.object.Ref) {
		out = append(out, namedGrant{grant: j.readAuthorization(o), name: o.Ref.Name})
	}
	for _, o := range j.oldAuthorizationsIn(v.object.Ref.Namespace) {
		if slices.Contains(j.findServersOfOld(o), v) {
			out = append(out, namedGrant{grant: j.readOldAuthorization(o), name: o.Ref.Name})
		}
	}
	out = j.dropVoid(out)
	if g, ok := j.grantOfWord(v.accessPolicy()); ok {
		g.policy = v.object
		out = append(out, namedGrant{grant: g, name: "accessPolicy: " + v.accessPolicy()})
	}
	return out, "Server " + v.object.Ref.FullName(), ""
}

// matchGrant reports whether a grant fits the client: its networks and its identities. What is not
// known of the client is noted only if it decides.
func (j *connectionJudge) matchGrant(g grant) selector.Truth {
	before := len(j.doubts)
	fits := min(j.matchNetworks(g.networks), j.matchIdentities(g))
	if fits != selector.Maybe {
		j.doubts = j.doubts[:before]
	}
	return fits
}

func (j *connectionJudge) matchNetworks(list []network) selector.Truth {
	if len(j.from.addresses) == 0 {
		if isUniversal(list) || j.from.inCluster && j.coversCluster(list) {
			return selector.Yes
		}
		return j.noteDoubt("the address of the client")
	}
	some, all := false, true
	for _, a := range j.from.addresses {
		in := slices.ContainsFunc(list, func(n network) bool { return n.containsAddress(a) })
		some, all = some || in, all && in
	}
	switch {
	case all:
		return selector.Yes
	case some:
		return j.noteDoubt("which address the client has")
	}
	return selector.No
}

// isUniversal reports whether networks hold every address.
func isUniversal(list []network) bool {
	return slices.ContainsFunc(list, func(n network) bool { return n.cidr == "0.0.0.0/0" && n.except == nil }) &&
		slices.ContainsFunc(list, func(n network) bool { return n.cidr == "::/0" && n.except == nil })
}

// coversCluster reports whether networks hold all of the cluster's.
func (w *meshIndex) coversCluster(list []network) bool {
	return !slices.ContainsFunc(w.settings.cluster, func(text string) bool {
		own, ok := parsePrefix(text)
		return !ok || !slices.ContainsFunc(list, func(n network) bool {
			outer, ok := parsePrefix(n.cidr)
			return ok && n.except == nil && containsNetwork(outer, own)
		})
	})
}

func (n network) containsAddress(a netip.Addr) bool {
	p, ok := parsePrefix(n.cidr)
	return ok && p.Contains(a) && !slices.ContainsFunc(n.except, func(e string) bool {
		x, ok := parsePrefix(e)
		return ok && x.Contains(a)
	})
}

func (j *connectionJudge) matchIdentities(g grant) selector.Truth {
	if g.identities == nil && !g.anyTLS {
		return selector.Yes
	}
	j.identityAsked = true
	switch j.from.meshed {
	case selector.No:
		return selector.No
	case selector.Maybe:
		if j.from.object != nil && j.matchIdentity(g) == selector.No {
			return selector.No
		}
		return j.noteDoubt("whether " + j.from.name + " is in the mesh (" + j.from.why + ")")
	}
	return j.matchIdentity(g)
}

// matchIdentity reports whether the identity of the client is one that a grant asks for.
func (j *connectionJudge) matchIdentity(g grant) selector.Truth {
	if g.anyTLS {
		return selector.Yes
	}
	fits := selector.No
	for _, want := range g.identities {
		fits = max(fits, j.matchName(want))
	}
	if fits == selector.Maybe {
		return j.noteDoubt("the service account of " + j.from.name)
	}
	return fits
}

// matchName reports whether the client is called so: exactly, or by the end of a name (*.x). Of a client
// whose service account is not known only the namespace is.
func (j *connectionJudge) matchName(want string) selector.Truth {
	id := j.from.identity
	if j.from.accountUnknown {
		id = j.settings.serviceAccountIdentity(j.from.namespace, "")
	}
	suffix, wild := strings.CutPrefix(want, "*")
	switch {
	case wild && strings.HasSuffix(id, suffix), want == id && !j.from.accountUnknown:
		return selector.Yes
	case j.from.accountUnknown && strings.HasSuffix(want, id):
		return selector.Maybe
	}
	return selector.No
}

func (j *connectionJudge) noteDoubt(what string) selector.Truth {
	if !slices.Contains(j.doubts, what) {
		j.doubts = append(j.doubts, what)
	}
	return selector.Maybe
}
