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
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// newLayer judges connections at the proxy of their destination: one grant that fits lets them in,
// whatever others say (IX client_authzs). nil: nothing of Linkerd is in the input.
func newLayer(r *resolve.Resolution) *point.Layer {
	if !isPresent(r.Snapshot, r.Settings) {
		return nil
	}
	w := buildMeshIndex(r.Snapshot, r.Settings)
	return &point.Layer{Judge: func(h *point.Hop) []point.Point {
		if h.ToProxy || h.To.Object == nil || h.Protocol != "TCP" {
			return nil
		}
		to := w.findWorkload(h.To.Object)
		if to == nil || to.meshed == selector.No {
			return nil
		}
		j := connectionJudge{meshIndex: w, to: to, port: h.Port}
		if h.From.Object != nil {
			j.from = w.findWorkload(h.From.Object)
		}
		if h.From.Address.IsValid() {
			j.addresses = []netip.Addr{h.From.Address}
		} else if j.from != nil {
			for _, text := range j.from.address {
				if a, err := netip.ParseAddr(text); err == nil {
					j.addresses = append(j.addresses, a)
				}
			}
		}
		return []point.Point{j.decide()}
	}}
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

// connectionJudge judges one connection.
type connectionJudge struct {
	*meshIndex
	from, to      *workload // from nil: somebody outside
	port          int
	addresses     []netip.Addr
	doubts        []string
	notes         []string // further notes
	identityAsked bool     // some grant is for identities
}

// namedGrant is a grant with what it is called.
type namedGrant struct {
	grant
	name string
	fits selector.Truth
}

func (j *connectionJudge) decide() point.Point {
	d := evaluate.Decision{At: j.to.object.Ref, Outcome: request.Allowed}
	problems := []model.Problem{j.describeClient()}
	settle := func(o request.Outcome, why ...string) point.Point {
		if o == request.Denied && j.to.meshed == selector.Maybe {
			o, why = request.NotEvaluated, append(why, "whether "+j.to.object.Ref.String()+
				" has a proxy that asks is not known: "+j.to.why)
		}
		d.Outcome, d.Why = o, append(why, j.notes...)
		if j.identityAsked {
			d.Why = append(d.Why, problems[len(problems)-1].Message)
		}
		var policies []model.Ref
		for _, by := range d.By {
			policies = append(policies, by.Policy)
		}
		p := point.NewPoint(point.Workload, "linkerd", serverKind, d, policies, j.port)
		p.Problems = problems
		return p
	}
	if j.to.meshed == selector.Maybe {
		problems = slices.Insert(problems, 0, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
			Message: "it is taken to be in the mesh: " + j.to.why, Hint: "add the Namespace"}.At(j.to.object))
	}
	server := j.findGovernor(j.to, j.port)
	if other := j.findRival(server); other != nil {
		return settle(request.NotEvaluated,
			fmt.Sprintf(
				"which of Server %s and Server %s governs the port depends on their ages, which the input does not tell, and they decide otherwise",
				server.object.Ref.FullName(), other.object.Ref.FullName()))
	}
	all, where := j.listServerGrants(server)
	fits := selector.No
	for i := range all {
		all[i].fits = j.matchGrant(all[i].grant)
		fits = max(fits, all[i].fits)
	}
	d.Stage = where
	for _, c := range all {
		if c.fits == fits && fits != selector.No && c.policy != nil {
			d.By = append(d.By, evaluate.Decider{Policy: c.policy.Ref, Origin: c.policy.Origin, Rule: c.name,
				Action: "allow"})
		}
	}
	if server != nil && len(server.activeRoutes()) > 0 {
		return j.decideByPath(server, fits, settle)
	}
	switch {
	case fits == selector.Yes && len(d.By) == 0:
		return settle(request.Allowed, where+" lets it in")
	case fits == selector.Yes:
		return settle(request.Allowed, "it is let in by "+where)
	case fits == selector.Maybe:
		return settle(request.NotEvaluated, "whether it is let in by "+where+" depends on "+
			strings.Join(j.doubts, ", "))
	case len(all) == 0:
		return settle(request.Denied, where+" lets nobody in")
	}
	return settle(request.Denied, "no grant at "+where+" fits")
}

// findRival is a Server that may govern the port in the place of the one that comes first by name,
// and decides otherwise; nil if there is none.
func (j *connectionJudge) findRival(first *server) *server {
	if first == nil {
		return nil
	}
	for _, v := range j.servers[j.to.object.Ref.Namespace] {
		timeless := v.object.Created.IsZero() || first.object.Created.IsZero()
		if v != first && timeless && v.selectsWorkload(j.to) && slices.Contains(j.to.resolvePort(v.serverPort()),
			j.port) && j.bestMatch(v) != j.bestMatch(first) {
			return v
		}
	}
	return nil
}

// bestMatch is how well the best grant of a Server fits, and whether paths decide.
func (j *connectionJudge) bestMatch(v *server) [2]selector.Truth {
	var out [2]selector.Truth
	all, _ := j.listServerGrants(v)
	for _, c := range all {
		out[0] = max(out[0], j.matchGrant(c.grant))
	}
	if len(v.activeRoutes()) > 0 {
		out[1] = selector.Yes
	}
	return out
}

// decideByPath judges where routes decide: what the Server grants holds for all of them, and any
// may have grants of its own.
func (j *connectionJudge) decideByPath(server *server, fits selector.Truth, settle func(request.Outcome,
	...string) point.Point) point.Point {
	names := make([]string, 0, len(server.activeRoutes()))
	for _, route := range server.activeRoutes() {
		names = append(names, route.Ref.String())
	}
	own := selector.No
	for _, route := range server.activeRoutes() {
		for _, g := range j.listRouteGrants(route) {
			own = max(own, j.matchGrant(g))
		}
	}
	if fits == selector.No && own == selector.No {
		return settle(request.Denied, fmt.Sprintf("no grant fits, neither of Server %s nor of a route on it",
			server.object.Ref.FullName()))
	}
	return settle(request.NotEvaluated,
		fmt.Sprintf(
			"Server %s has routes, and the outcome depends on the path: what none of them matches gets 404 (%s)",
			server.object.Ref.FullName(), strings.Join(names, ", ")))
}

// listRouteGrants are the grants of a route of its own.
func (j *connectionJudge) listRouteGrants(route *model.Object) []grant {
	var out []grant
	for _, o := range j.in.OfKind(authorizationKind) {
		if ref, ok := findTarget(o); ok && ref == route.Ref {
			if g := j.readAuthorization(o); g.voidReason == "" {
				out = append(out, g)
			}
		}
	}
	return out
}

// listServerGrants are the grants at the port, and whose they are.
func (j *connectionJudge) listServerGrants(v *server) (out []namedGrant, where string) {
	if v == nil {
		p := workloadPort{world: j.meshIndex, load: j.to, port: j.port}
		_, access := p.defaultPolicies()
		word, _ := access.Blocks[0].Units[0].Value.(string)
		where = "default " + word
		j.notes = append(j.notes, "no Server governs the port, and the default is "+word+" ("+access.Builtin+")")
		if g, ok := j.grantOfWord(word); ok {
			out = append(out, namedGrant{grant: g})
		}
		return out, where
	}
	where = "Server " + v.object.Ref.FullName()
	for _, o := range j.in.OfKind(authorizationKind) {
		if slices.Contains(j.findServers(o), v) {
			out = append(out, namedGrant{grant: j.readAuthorization(o), name: o.Ref.Name})
		}
	}
	for _, o := range j.in.OfKind(oldAuthorizationKind) {
		if slices.Contains(j.findServersOfOld(o), v) {
			out = append(out, namedGrant{grant: j.readOldAuthorization(o), name: o.Ref.Name})
		}
	}
	out = slices.DeleteFunc(out, func(c namedGrant) bool { return c.voidReason != "" })
	if g, ok := j.grantOfWord(v.accessPolicy()); ok {
		g.policy = v.object
		out = append(out, namedGrant{grant: g, name: "accessPolicy: " + v.accessPolicy()})
	}
	return out, where
}

// matchGrant reports whether a grant fits the client: its networks and its identities.
func (j *connectionJudge) matchGrant(g grant) selector.Truth {
	return min(j.matchNetworks(g.networks), j.matchIdentities(g))
}

func (j *connectionJudge) matchNetworks(list []network) selector.Truth {
	if len(j.addresses) == 0 {
		if isUniversal(list) {
			return selector.Yes
		}
		return j.noteDoubt("the address of the client")
	}
	some, all := false, true
	for _, a := range j.addresses {
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
	switch {
	case j.from == nil:
		return selector.No
	case j.from.meshed == selector.Maybe:
		if min(selector.Yes, j.matchIdentity(g)) == selector.No {
			return selector.No
		}
		return j.noteDoubt("whether " + j.from.object.Ref.String() + " is in the mesh (" + j.from.why + ")")
	case j.from.meshed == selector.No:
		return selector.No
	}
	return j.matchIdentity(g)
}

// matchIdentity reports whether the identity of the client is one that a grant asks for.
func (j *connectionJudge) matchIdentity(g grant) selector.Truth {
	id := j.clientIdentity()
	for _, want := range g.identities {
		suffix, wild := strings.CutPrefix(want, "*")
		if want == id || wild && strings.HasSuffix(id, suffix) {
			return selector.Yes
		}
	}
	if g.anyTLS {
		return selector.Yes
	}
	return selector.No
}

func (j *connectionJudge) clientIdentity() string {
	if j.from.external {
		return j.from.identity
	}
	return j.settings.serviceAccountIdentity(j.from.object.Ref.Namespace, j.from.account)
}

func (j *connectionJudge) noteDoubt(what string) selector.Truth {
	if !slices.Contains(j.doubts, what) {
		j.doubts = append(j.doubts, what)
	}
	return selector.Maybe
}

// describeClient states what the judgement takes the client to be.
func (j *connectionJudge) describeClient() model.Problem {
	p := model.Problem{Severity: model.Info, Code: model.NotEvaluated}
	switch {
	case j.from == nil:
		p.Message = "the client is an address: it is taken to have no identity"
		return p
	case j.from.meshed == selector.Yes:
		p.Message = "the connection is taken to use mTLS, by which the client is " + j.clientIdentity() +
			": " + j.from.why
	case j.from.meshed == selector.No:
		p.Message = "the client is taken to have no identity: " + j.from.why
	default:
		p.Message = "cannot tell whether the client has an identity: " + j.from.why
	}
	return p.At(j.from.object)
}
