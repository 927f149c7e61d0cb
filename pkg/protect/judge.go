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

	settingsByStack map[stackNode][]*Settings // in force
	lostByStack     map[stackNode][]*Settings // that lost
	lastNumber      int                       // how many settings are numbered
	paths           map[pathKey]*pathSettings
	// by the settings in force, of paths on which all requests are treated alike
	shared          map[string]*Gates
	ruleGatesByNode map[topology.NodeID][]Gate // what the Gateway API's own filters and fields of a rule make
	gatewaySettings map[topology.NodeID]nodeSettings

	compiled map[string]*regexp.Regexp // expressions that gates ask for
	// policies that have a problem because of which it is not known what they do; nil: not looked
	// up yet
	uncertainPolicies map[model.Ref]bool
}

// Assumptions are what a user says of services that the input does not have.
type Assumptions struct {
	External bool // services that are asked to authorize also authenticate
}

type stackNode struct {
	kind  *resolve.Kind
	stack resolve.StackID
	node  topology.NodeID
}

type pathKey struct {
	RulePath
	backends string
}

// NewJudge makes a judge of an input.
func NewJudge(r *resolve.Resolution, funcs Functions, assume Assumptions) *Judge {
	return &Judge{res: r, funcs: funcs, assume: assume, settingsByStack: map[stackNode][]*Settings{},
		lostByStack: map[stackNode][]*Settings{}, paths: map[pathKey]*pathSettings{}, shared: map[string]*Gates{},
		ruleGatesByNode: map[topology.NodeID][]Gate{}, gatewaySettings: map[topology.NodeID]nodeSettings{},
		compiled: map[string]*regexp.Regexp{}}
}

// pathSettings is what is in force on the path of requests.
type pathSettings struct {
	RulePath
	before        []*Settings   // before a backend is chosen, the most specific first
	backends      [][]*Settings // at each backend that a request may get to
	lost          []*Settings   // what lost on the path, by policy
	unreadReasons []Reason      // what could not be read and may change everything
	fixedGates    *Gates        // the gates, if no request makes a difference
	tests         []request.Test
}

// Gates are the gates on the path of one request.
type Gates struct {
	RulePath
	Before    []Gate   // before a backend is chosen
	Backends  [][]Gate // at each backend that it may get to
	Redirects bool     // the rule redirects, so that no backend gets the request
	TLS       bool     // the request arrives over TLS

	judge         *Judge
	lost          []*Settings
	overridden    []Gate // those that are overridden
	unreadReasons []Reason
	results       map[string]Result
}

// FindGates lists the gates on the path that an answer describes.
func (j *Judge) FindGates(a *request.Answer) *Gates {
	w := j.findPath(a)
	if w.fixedGates != nil && a.Request.Secure == w.fixedGates.TLS && len(w.tests) == 0 && !j.hasFields(a) {
		return w.fixedGates
	}
	key := w.buildKey(a, j.ruleGates(a.Rule))
	if known := j.shared[key]; known != nil && key != "" && !j.hasFields(a) {
		w.fixedGates = known
		return known
	}
	look := &RequestReader{Request: &a.Request, compiled: j.compiled}
	if a.SeenPath != "" {
		seen := a.Request
		seen.Path = a.SeenPath
		look.Request = &seen
	}
	out := j.buildGates(w, look)
	out.Redirects, out.TLS = a.Location != nil, a.Request.Secure
	for _, t := range look.tests {
		if !slices.Contains(w.tests, t) {
			w.tests = append(w.tests, t)
		}
	}
	if w.fixedGates == nil && !look.hostRead && !j.hasFields(a) {
		w.fixedGates = out
		if len(w.tests) == 0 && key != "" && !look.routeRead {
			j.shared[key] = out
		}
	}
	return out
}

// buildKey tells paths apart that lead through one listener, by the settings in force on them; ""
// for a path that has something of its own.
func (w *pathSettings) buildKey(a *request.Answer, own []Gate) string {
	if len(own) > 0 || len(w.unreadReasons) > 0 {
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

// hasFields reports whether a request has anything that may be a credential, so that what gates do
// with it is its own.
func (j *Judge) hasFields(a *request.Answer) bool {
	return len(a.Request.Headers) > 0 || len(a.Request.Query) > 0
}

// FindTests returns what the gates on the path of an answer look at in requests.
func (j *Judge) FindTests(a *request.Answer) []request.Test {
	j.FindGates(a)
	return j.findPath(a).tests
}

func (j *Judge) buildGates(w *pathSettings, look *RequestReader) *Gates {
	out := &Gates{RulePath: w.RulePath, judge: j, lost: w.lost, unreadReasons: w.unreadReasons,
		results: map[string]Result{}}
	out.Before = append(j.buildSettingGates(w.before, w, look, &out.overridden),
		j.buildStandardGates(w.RulePath, look)...)
	for _, at := range w.backends {
		out.Backends = append(out.Backends, j.buildSettingGates(at, w, look, &out.overridden))
	}
	out.Before = append(out.Before, j.buildEverywhereGates(w, look)...)
	return out
}

// buildEverywhereGates makes the gates that kinds have on every path, whatever is in force there.
func (j *Judge) buildEverywhereGates(w *pathSettings, look *RequestReader) []Gate {
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
		out = append(out, gates(Input{Settings: &Settings{Kind: k, Node: w.Rule, res: j.res}, Reader: look,
			InForce: all, Memo: &model.Memo{}, rulePath: w.RulePath}, Gate{})...)
	}
	return out
}

// buildSettingGates makes the gates of settings on a path. Those that a policy of another kind
// replaces are put into over.
func (j *Judge) buildSettingGates(all []*Settings, w *pathSettings, look *RequestReader, over *[]Gate) []Gate {
	var gates []Gate
	var memo model.Memo
	for _, s := range all {
		for _, one := range (Input{Settings: s, Reader: look, InForce: w.before, Memo: &memo,
			rulePath: w.RulePath}).buildGates(j.funcs) {
			if one.Overridden != (model.Ref{}) {
				*over = append(*over, one)
				continue
			}
			gates = append(gates, one)
		}
	}
	return gates
}

// findPath returns what is in force on the path of an answer.
func (j *Judge) findPath(a *request.Answer) *pathSettings {
	at := RulePath{a.Gateway, a.Listener, a.Route, a.Rule}
	key := pathKey{RulePath: at, backends: a.Service.WithoutSection().String() + ": "}
	targets := j.listBackends(a)
	for i := range targets {
		key.backends += targets[i].Ref.String() + " "
	}
	if known := j.paths[key]; known != nil {
		return known
	}
	w := &pathSettings{RulePath: at}
	nearest := map[model.GroupKind]*Settings{}
	for _, id := range []topology.NodeID{a.Rule, a.Route, a.Listener, a.Gateway} {
		through := []topology.NodeID{a.Listener}
		if id == a.Gateway {
			through = nil
		}
		found, lost := j.findSettingsAt(id, through...)
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
	found, lost := j.findSettingsAtFrontend(a.Service.WithoutSection())
	w.before, w.lost = append(w.before, found...), append(w.lost, lost...)
	for i := range targets {
		var all []*Settings
		for _, id := range j.backendNodes(&targets[i]) {
			found, lost := j.findSettingsAt(id, a.Listener, a.Rule)
			all, w.lost = append(all, found...), append(w.lost, lost...)
		}
		w.backends = append(w.backends, all)
	}
	w.unreadReasons = j.unreadPolicies(w.Gateway, w.Listener, w.Route, w.Rule)
	j.paths[key] = w
	return w
}

// unreadPolicies says which policies could not be read that would be at some nodes: they could take
// everything away, or bring it.
func (j *Judge) unreadPolicies(nodes ...topology.NodeID) []Reason {
	if c := j.res.Snapshot.Cluster; c == nil || len(c.Unread) == 0 {
		return nil
	}
	for _, id := range nodes {
		if id != topology.None && j.res.Node(id).Role == topology.Gateway && j.res.Node(id).Object == nil {
			return []Reason{ForbiddenReason(j.res.Node(id).Ref)}
		}
	}
	var unread []string
	for _, k := range j.res.Kinds {
		if len(k.Protects.Rules) == 0 {
			continue
		}
		for _, id := range nodes {
			if id != topology.None {
				unread = append(unread, j.res.DescribeGaps(k.Gaps().At(id))...)
			}
		}
	}
	if len(unread) == 0 {
		return nil
	}
	slices.Sort(unread)
	return []Reason{{Code: gate.NotRead, Message: "could not be read: " + strings.Join(slices.Compact(unread), ", ")}}
}

// listBackends returns the backends that a request may get to. One that is merely not in the input
// may exist.
func (j *Judge) listBackends(a *request.Answer) []topology.BackendRef {
	if a.Location != nil {
		return nil
	}
	return append(slices.Clone(a.Backends), AbsentBackends(j.res, a)...)
}

// AbsentBackends returns the backends of an answer that could get the request and are only absent
// from an input that need not have them.
func AbsentBackends(r *resolve.Resolution, a *request.Answer) []topology.BackendRef {
	if a.Rule == topology.None || len(a.Backends) > 0 {
		return nil
	}
	return slices.DeleteFunc(r.Graph.BackendRefs(a.Rule), func(b topology.BackendRef) bool {
		object := b.Ref.WithoutSection()
		return b.Weight == 0 || b.Reason != string(gatewayv1.RouteReasonBackendNotFound) ||
			r.Snapshot.Get(object) != nil || r.Snapshot.HasAll(object.GroupKind(), object.Namespace)
	})
}

func (j *Judge) backendNodes(b *topology.BackendRef) []topology.NodeID {
	var out []topology.NodeID
	for _, ref := range []model.Ref{b.Ref.WithoutSection(), b.Ref} {
		for _, id := range j.res.Graph.Lookup(ref) {
			if role := j.res.Node(id).Role; (role == topology.Backend || role == topology.Port) &&
				!slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// nodeSettings is what is in force at a node, and what lost there.
type nodeSettings struct{ settings, lost []*Settings }

// findSettingsAt returns what is in force, and what lost, at a node on paths that lead through all
// of the given nodes. Those of Gateways and listeners are kept.
func (j *Judge) findSettingsAt(id topology.NodeID, through ...topology.NodeID) (inForce, lost []*Settings) {
	if id == topology.None {
		return nil, nil
	}
	n := j.res.Node(id)
	if n.Role == topology.Gateway || n.Role == topology.Listener {
		known, ok := j.gatewaySettings[id]
		if !ok {
			known.settings, known.lost = j.collectSettings(n, id, through)
			j.gatewaySettings[id] = known
		}
		return known.settings, known.lost
	}
	return j.collectSettings(n, id, through)
}

// findSettingsAtFrontend returns what is in force, and what lost, at the Service that a request of
// a mesh is sent to, of kinds whose policies do not come with routes.
func (j *Judge) findSettingsAtFrontend(service model.Ref) (inForce, lost []*Settings) {
	if service.Name == "" {
		return nil, nil
	}
	for _, id := range j.res.Graph.Lookup(service) {
		for _, k := range j.res.Kinds {
			if k.Scope == nil || !k.IsInUse() || !k.HasResultsAtNode(j.res.Node(id)) || len(k.Protects.Rules) == 0 {
				continue
			}
			for _, s := range k.Contexts(id) {
				if !k.IsEmpty(s) {
					v := k.Verdict(s)
					inForce, lost = append(inForce, j.settingsAt(k, s, id)...), append(lost, j.lostAt(k, s, id, v)...)
				}
			}
		}
	}
	return inForce, lost
}

func (j *Judge) collectSettings(n *topology.Node, id topology.NodeID, through []topology.NodeID) (inForce,
	lost []*Settings) {
	for _, k := range j.res.Kinds {
		if !k.IsInUse() || !k.HasResultsAtNode(n) || len(k.Protects.Rules) == 0 && !k.IsGeneric() {
			continue
		}
		for _, s := range k.Contexts(id) {
			if k.IsEmpty(s) || !j.isThroughAll(k, id, s, through) {
				continue
			}
			v := k.Verdict(s)
			inForce = append(inForce, j.settingsAt(k, s, id)...)
			lost = append(lost, j.lostAt(k, s, id, v)...)
		}
	}
	return inForce, lost
}

// numberSettings numbers settings, so that paths with the same ones can be told.
func (j *Judge) numberSettings(all []*Settings) {
	for _, s := range all {
		j.lastNumber++
		s.number = j.lastNumber
	}
}

// settingsAt returns what a stack has in force at a node. Route rules share it; elsewhere gates ask
// what other kinds have at the node.
func (j *Judge) settingsAt(k *resolve.Kind, s resolve.StackID, id topology.NodeID) []*Settings {
	key := j.newStackNode(k, s, id)
	all, known := j.settingsByStack[key]
	if !known {
		all = j.newSettings(k, id, s)
		j.numberSettings(all)
		j.settingsByStack[key] = all
	}
	return all
}

// lostAt returns what lost in a stack at a node.
func (j *Judge) lostAt(k *resolve.Kind, s resolve.StackID, id topology.NodeID, v *resolve.Verdict) []*Settings {
	key := j.newStackNode(k, s, id)
	all, known := j.lostByStack[key]
	if !known {
		all = lostSettings(j.res, k, id, v)
		j.numberSettings(all)
		j.lostByStack[key] = all
	}
	return all
}

func (j *Judge) newStackNode(k *resolve.Kind, s resolve.StackID, id topology.NodeID) stackNode {
	key := stackNode{k, s, id}
	if role := j.res.Node(id).Role; role == topology.Route || role == topology.Rule {
		key.node = 0
	}
	return key
}

// isThroughAll reports whether a stack comes to a node through all of some nodes.
func (j *Judge) isThroughAll(k *resolve.Kind, id topology.NodeID, s resolve.StackID, through []topology.NodeID) bool {
	through = slices.DeleteFunc(slices.Clone(through), func(t topology.NodeID) bool { return t == topology.None })
	if len(through) == 0 || len(k.Contexts(id)) == 1 && len(through) == 1 && through[0] == id {
		return true
	}
	return slices.ContainsFunc(k.Paths(id, s), func(p resolve.Path) bool {
		return !slices.ContainsFunc(through, func(t topology.NodeID) bool { return !slices.Contains(p, t) })
	})
}

// HasOpaqueFilter reports whether a rule has a filter that may answer requests itself, of which no
// gate tells.
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

// ForbiddenReason returns the reason where an object that decides may not be read.
func ForbiddenReason(ref model.Ref) Reason {
	return Reason{Code: gate.NotRead, Object: &ref, Message: ref.String() + " is forbidden"}
}
