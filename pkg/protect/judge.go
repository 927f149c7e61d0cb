package protect

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strconv"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Judge tells what requests are protected by in one input. It is not safe for concurrent use.
type Judge struct {
	res    *resolve.Resolution
	funcs  Functions
	assume Assumptions

	stacks map[stackAt][]*Settings // in force
	gone   map[stackAt][]*Settings // that lost
	n      int                     // how many settings are numbered
	ways   map[wayKey]*way
	shared map[string]*Gates          // by the settings in force, of ways on which no request makes a difference
	rules  map[topology.NodeID][]Gate // what the Gateway API's own filters and fields of a rule make
	above  map[topology.NodeID]inForce

	compiled map[string]*regexp.Regexp // expressions that gates ask for
	doubtful map[model.Ref]bool        // policies of which a problem leaves open what they do; nil: not asked for yet
}

// Assumptions are what a user says of services that the input does not have.
type Assumptions struct {
	External bool // services that are asked to authorize also authenticate
}

type stackAt struct {
	kind  *resolve.Kind
	stack resolve.StackID
	node  topology.NodeID
}

type wayKey struct {
	Place
	backends string
}

// NewJudge makes a judge of an input.
func NewJudge(r *resolve.Resolution, funcs Functions, assume Assumptions) *Judge {
	return &Judge{res: r, funcs: funcs, assume: assume, stacks: map[stackAt][]*Settings{}, gone: map[stackAt][]*Settings{}, ways: map[wayKey]*way{}, shared: map[string]*Gates{},
		rules: map[topology.NodeID][]Gate{}, above: map[topology.NodeID]inForce{}, compiled: map[string]*regexp.Regexp{}}
}

// way is what is in force on the way of requests.
type way struct {
	Place
	before   []*Settings   // before a backend is chosen, the most specific first
	backends [][]*Settings // at each backend that a request may get to
	lost     []*Settings   // what lost on the way, by policy
	open     []Reason      // what could not be read and may change everything
	steady   *Gates        // the gates, if no request makes a difference
	tests    []request.Test
}

// Gates are the gates on the way of one request.
type Gates struct {
	Place
	Before   []Gate   // before a backend is chosen
	Backends [][]Gate // at each backend that it may get to
	Idle     bool     // the rule redirects, so that no backend gets the request
	TLS      bool     // the request arrives over TLS

	judge *Judge
	lost  []*Settings
	over  []Gate // those that are overridden
	open  []Reason
	known map[string]Result
}

// On lists the gates on the way that an answer describes.
func (j *Judge) On(a *request.Answer) *Gates {
	w := j.wayOf(a)
	if w.steady != nil && a.Request.Secure == w.steady.TLS && len(w.tests) == 0 && !j.readsRequest(a) {
		return w.steady
	}
	key := w.key(a, j.ruleGates(a.Rule))
	if known := j.shared[key]; known != nil && key != "" && !j.readsRequest(a) {
		w.steady = known
		return known
	}
	look := &Look{Request: &a.Request, compiled: j.compiled}
	out := j.gates(w, look)
	out.Idle, out.TLS = a.Location != nil, a.Request.Secure
	for _, t := range look.tests {
		if !slices.Contains(w.tests, t) {
			w.tests = append(w.tests, t)
		}
	}
	if w.steady == nil && !look.host && !j.readsRequest(a) {
		w.steady = out
		if len(w.tests) == 0 && key != "" && !look.route {
			j.shared[key] = out
		}
	}
	return out
}

// key tells ways apart that lead through one listener, by the settings in force on them; "" of one that has something of its own.
func (w *way) key(a *request.Answer, own []Gate) string {
	if len(own) > 0 || len(w.open) > 0 {
		return ""
	}
	key := binary.AppendVarint(nil, int64(w.Listener))
	key = binary.AppendVarint(key, int64(w.Gateway))
	if a.Request.Secure {
		key = append(key, 's')
	}
	if a.Location != nil {
		key = append(key, 'r')
	}
	number := func(all []*Settings) {
		for _, s := range all {
			key = binary.AppendUvarint(key, uint64(s.number))
		}
		key = append(key, ';')
	}
	number(w.before)
	number(w.lost)
	for _, at := range w.backends {
		number(at)
	}
	return string(key)
}

// readsRequest reports whether a request has anything that may be a credential: then what gates do with it is its own.
func (j *Judge) readsRequest(a *request.Answer) bool {
	return len(a.Request.Headers) > 0 || len(a.Request.Query) > 0
}

// Tests are what the gates at a place look at in requests.
func (j *Judge) Tests(a *request.Answer) []request.Test {
	j.On(a)
	return j.wayOf(a).tests
}

func (j *Judge) gates(w *way, look *Look) *Gates {
	out := &Gates{Place: w.Place, judge: j, lost: w.lost, open: w.open, known: map[string]Result{}}
	out.Before = append(j.make(w.before, w, look, &out.over), j.standard(w.Place, look)...)
	for _, at := range w.backends {
		out.Backends = append(out.Backends, j.make(at, w, look, &out.over))
	}
	out.Before = append(out.Before, j.everywhere(w, look)...)
	return out
}

// everywhere are the gates that kinds make on every way, whatever is in force there.
func (j *Judge) everywhere(w *way, look *Look) []Gate {
	var out []Gate
	for _, k := range j.res.Kinds {
		gates := j.funcs[k.Protects.Everywhere]
		if gates == nil {
			continue
		}
		all := slices.Clone(w.before)
		for _, at := range w.backends {
			all = append(all, at...)
		}
		out = append(out, gates(Input{Settings: &Settings{Kind: k, Node: w.Rule, res: j.res}, Look: look, Way: all, at: w.Place}, Gate{})...)
	}
	return out
}

// make makes the gates of settings on a way. Those in whose place a policy of another kind stands are put apart.
func (j *Judge) make(all []*Settings, w *way, look *Look, over *[]Gate) []Gate {
	var gates []Gate
	for _, s := range all {
		for _, one := range (Input{Settings: s, Look: look, Way: w.before, at: w.Place}).gates(j.funcs) {
			if one.Overridden != (model.Ref{}) {
				*over = append(*over, one)
				continue
			}
			gates = append(gates, one)
		}
	}
	return gates
}

// wayOf is the way of an answer.
func (j *Judge) wayOf(a *request.Answer) *way {
	at := Place{a.Gateway, a.Listener, a.Route, a.Rule}
	key := wayKey{Place: at, backends: a.Service.WithoutSection().String() + ": "}
	targets := j.targets(a)
	for i := range targets {
		key.backends += targets[i].Ref.String() + " "
	}
	if known := j.ways[key]; known != nil {
		return known
	}
	w := &way{Place: at}
	nearest := map[model.GroupKind]*Settings{}
	for _, id := range []topology.NodeID{a.Rule, a.Route, a.Listener, a.Gateway} {
		through := []topology.NodeID{a.Listener}
		if id == a.Gateway {
			through = nil
		}
		found, lost := j.at(id, through...)
		w.lost = append(w.lost, lost...)
		for _, s := range found {
			gk := s.Kind.GroupKind
			if by := nearest[gk]; s.Kind.Protects.Nearest && by != nil {
				beaten := *s
				beaten.winner = by.Source()
				w.lost = append(w.lost, &beaten)
				continue
			}
			w.before = append(w.before, s)
		}
		for _, s := range found {
			if nearest[s.Kind.GroupKind] == nil {
				nearest[s.Kind.GroupKind] = s
			}
		}
	}
	found, lost := j.atFrontend(a.Service.WithoutSection())
	w.before, w.lost = append(w.before, found...), append(w.lost, lost...)
	for i := range targets {
		var all []*Settings
		for _, id := range j.nodesOf(&targets[i]) {
			found, lost := j.at(id, a.Listener, a.Rule)
			all, w.lost = append(all, found...), append(w.lost, lost...)
		}
		w.backends = append(w.backends, all)
	}
	w.open = j.unreadPolicies(w.Gateway, w.Listener, w.Route, w.Rule)
	j.ways[key] = w
	return w
}

// unreadPolicies says which policies could not be read that would be at some nodes: they could take everything away, or bring it.
func (j *Judge) unreadPolicies(nodes ...topology.NodeID) []Reason {
	if c := j.res.Snapshot.Cluster; c == nil || len(c.Gaps) == 0 {
		return nil
	}
	for _, id := range nodes {
		if id != topology.None && j.res.Node(id).Role == topology.Gateway && j.res.Node(id).Object == nil {
			return []Reason{Forbidden(j.res.Node(id).Ref)}
		}
	}
	var unread []string
	for _, k := range j.res.Kinds {
		if len(k.Protects.Rules) == 0 {
			continue
		}
		for _, id := range nodes {
			if id != topology.None {
				unread = append(unread, j.res.Unread(k.Gaps().At(id))...)
			}
		}
	}
	if len(unread) == 0 {
		return nil
	}
	slices.Sort(unread)
	return []Reason{{Code: gate.NotRead, Message: "could not be read: " + strings.Join(slices.Compact(unread), ", ")}}
}

// targets are the backends that a request may get to. One that is merely not in the input may exist.
func (j *Judge) targets(a *request.Answer) []topology.BackendRef {
	if a.Location != nil {
		return nil
	}
	return append(slices.Clone(a.Backends), AbsentBackends(j.res, a)...)
}

// AbsentBackends are the backends of an answer that could get the request and are only absent from an input that need not have them.
func AbsentBackends(r *resolve.Resolution, a *request.Answer) []topology.BackendRef {
	if a.Rule == topology.None || len(a.Backends) > 0 {
		return nil
	}
	return slices.DeleteFunc(r.Graph.Backends(a.Rule), func(b topology.BackendRef) bool {
		object := b.Ref.WithoutSection()
		return b.Weight == 0 || b.Reason != string(gatewayv1.RouteReasonBackendNotFound) || r.Snapshot.Get(object) != nil || r.Snapshot.HasAll(object.GroupKind(), object.Namespace)
	})
}

func (j *Judge) nodesOf(b *topology.BackendRef) []topology.NodeID {
	var out []topology.NodeID
	for _, ref := range []model.Ref{b.Ref.WithoutSection(), b.Ref} {
		for _, id := range j.res.Graph.Lookup(ref) {
			if role := j.res.Node(id).Role; (role == topology.Backend || role == topology.Port) && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// inForce is what is in force at a node, and what lost there.
type inForce struct{ settings, lost []*Settings }

// at is what is in force, and what lost, at a node on ways that lead through all of the given nodes.
func (j *Judge) at(id topology.NodeID, through ...topology.NodeID) (inForce, lost []*Settings) {
	if id == topology.None {
		return nil, nil
	}
	n := j.res.Node(id)
	if n.Role == topology.Gateway || n.Role == topology.Listener {
		known, ok := j.above[id]
		if !ok {
			known.settings, known.lost = j.find(n, id, through)
			j.above[id] = known
		}
		return known.settings, known.lost
	}
	return j.find(n, id, through)
}

// atFrontend is what is in force, and what lost, at the Service that a request of a mesh is sent to, of kinds whose policies do not come with routes.
func (j *Judge) atFrontend(service model.Ref) (inForce, lost []*Settings) {
	if service.Name == "" {
		return nil, nil
	}
	for _, id := range j.res.Graph.Lookup(service) {
		for _, k := range j.res.Kinds {
			if k.Scope == nil || !k.InUse() || !k.ReachesNode(j.res.Node(id)) || len(k.Protects.Rules) == 0 {
				continue
			}
			for _, s := range k.Contexts(id) {
				if !k.Empty(s) {
					v := k.Verdict(s)
					inForce, lost = append(inForce, j.settingsAt(k, s, id)...), append(lost, j.lostAt(k, s, id, v)...)
				}
			}
		}
	}
	return inForce, lost
}

func (j *Judge) find(n *topology.Node, id topology.NodeID, through []topology.NodeID) (inForce, lost []*Settings) {
	for _, k := range j.res.Kinds {
		if !k.InUse() || !k.ReachesNode(n) || len(k.Protects.Rules) == 0 && !k.Generic() {
			continue
		}
		for _, s := range k.Contexts(id) {
			if k.Empty(s) || !j.leads(k, id, s, through) {
				continue
			}
			v := k.Verdict(s)
			inForce = append(inForce, j.settingsAt(k, s, id)...)
			lost = append(lost, j.lostAt(k, s, id, v)...)
		}
	}
	return inForce, lost
}

// number numbers settings, so that ways with the same ones can be told.
func (j *Judge) number(all []*Settings) {
	for _, s := range all {
		j.n++
		s.number = j.n
	}
}

// settingsAt is what a stack has in force at a node. Route rules share it; elsewhere gates ask what other kinds have at the node.
func (j *Judge) settingsAt(k *resolve.Kind, s resolve.StackID, id topology.NodeID) []*Settings {
	key := j.stackKey(k, s, id)
	all, known := j.stacks[key]
	if !known {
		all = j.newSettings(k, id, s)
		j.number(all)
		j.stacks[key] = all
	}
	return all
}

// lostAt is what lost in a stack at a node.
func (j *Judge) lostAt(k *resolve.Kind, s resolve.StackID, id topology.NodeID, v *resolve.Verdict) []*Settings {
	key := j.stackKey(k, s, id)
	all, known := j.gone[key]
	if !known {
		all = lostSettings(j.res, k, id, v)
		j.number(all)
		j.gone[key] = all
	}
	return all
}

func (j *Judge) stackKey(k *resolve.Kind, s resolve.StackID, id topology.NodeID) stackAt {
	key := stackAt{k, s, id}
	if role := j.res.Node(id).Role; role == topology.Route || role == topology.Rule {
		key.node = 0
	}
	return key
}

// leads reports whether a stack comes to a node through all of some nodes.
func (j *Judge) leads(k *resolve.Kind, id topology.NodeID, s resolve.StackID, through []topology.NodeID) bool {
	through = slices.DeleteFunc(slices.Clone(through), func(t topology.NodeID) bool { return t == topology.None })
	if len(through) == 0 || len(k.Contexts(id)) == 1 && len(through) == 1 && through[0] == id {
		return true
	}
	return slices.ContainsFunc(k.Paths(id, s), func(p resolve.Path) bool {
		return !slices.ContainsFunc(through, func(t topology.NodeID) bool { return !slices.Contains(p, t) })
	})
}

// HasOpaqueFilter reports whether a rule has a filter that may answer requests itself, of which no gate tells.
func (j *Judge) HasOpaqueFilter(rule topology.NodeID) bool {
	if rule == topology.None {
		return false
	}
	n := j.res.Node(rule)
	if n.Object == nil {
		return false
	}
	for _, f := range n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index), "filters").Items {
		if f.Text("type") != "ExtensionRef" {
			continue
		}
		k := j.res.Kind(model.GroupKind{Group: f.Text("extensionRef", "group"), Kind: f.Text("extensionRef", "kind")})
		if k == nil || len(k.Protects.Rules) == 0 {
			return true
		}
	}
	return false
}

// Forbidden is the reason where an object that decides may not be read.
func Forbidden(ref model.Ref) Reason {
	return Reason{Code: gate.NotRead, Object: &ref, Message: ref.Kind + " " + ref.FullName() + " is forbidden"}
}
