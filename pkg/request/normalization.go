package request

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/normalize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Normalizer says what becomes of paths at a listener; false if it does not know, because the
// listener is another implementation's.
type Normalizer func(r *resolve.Resolution, listener topology.NodeID) (normalize.Rules, bool)

// NormalizeWith sets the normalizers of the implementations, by which paths are compared.
func (m *Matcher) NormalizeWith(r *resolve.Resolution, tidiers []Normalizer) *Matcher {
	type told struct {
		how   normalize.Rules
		known bool
	}
	at := map[topology.NodeID]told{}
	m.normalization = func(listener topology.NodeID) (normalize.Rules, bool) {
		found, asked := at[listener]
		if !asked {
			for _, t := range tidiers {
				if found.how, found.known = t(r, listener); found.known {
					break
				}
			}
			at[listener] = found
		}
		return found.how, found.known
	}
	return m
}

// normalizePath makes the path what the implementation compares; true if it answers the request for
// the path alone.
func (t *trace) normalizePath(p entryListener) bool {
	if t.request.Protocol != HTTP || p.facts.Protocol == "TLS" || t.normalized {
		return false
	}
	how := t.normalization
	if t.matcher.normalization != nil {
		if told, known := t.matcher.normalization(p.id); known {
			how = told
		}
	}
	t.normalization = how
	escaped := normalize.DecodeSlashes(t.request.Path) != t.request.Path && how.Decode != normalize.DecodeAll
	path := how.Apply(t.request.Path)
	switch {
	case escaped && how.Escaped == normalize.RejectEscaped:
		t.answer.Status, t.answeredByPath = 400, true
		t.addReason("the path has an escaped slash, for which the request is refused")
		return true
	case path == t.request.Path:
		return false
	}
	tidied := *t.request
	tidied.Path = path
	t.request = &tidied
	if escaped && how.Escaped == normalize.RedirectEscaped {
		t.answer.Outcome, t.answer.Status, t.answeredByPath = Redirect, 307, true
		t.answer.Location = &Location{Status: 307, URL: t.request.FormatURL()}
		t.addReason("the path has an escaped slash, for which the client is sent to the decoded path")
		return true
	}
	t.addReason("the path is compared as " + path)
	if how.Decode != normalize.DecodeAll { // what is decoded is only compared
		t.answer.SeenPath = path
	}
	return false
}

// checkNormalization tells that a path may be compared otherwise than it is written, and makes the
// rule uncertain if that would lead elsewhere (gatewayapi G46).
func (m *Matcher) checkNormalization(t *trace, w Destination) {
	a := t.answer
	t.checkHostDot(w)
	others := t.normalization.ListOtherPaths(a.Request.Path)
	if t.request.Protocol != HTTP || len(others) == 0 || t.answeredByPath {
		return
	}
	told := "the path " + t.request.Path + " is compared as written; implementations may decode or normalise it first"
	severity := model.Info
	w.Gateway = a.Gateway
	for _, path := range others {
		r := a.Request
		r.Path = path
		o, err := runTrace(m, &r, w, t.settings, true)
		if err != nil || o.answer.toKey() == a.toKey() {
			continue
		}
		a.makeRuleUncertain(fmt.Sprintf("an implementation may compare the path as %s, and then %s", path,
			m.formatTaker(o.answer.Rule)))
		severity = model.Warning
		break
	}
	if t.normalization.Escaped == normalize.UnknownEscaped && a.Outcome != Conditional &&
		normalize.DecodeSlashes(t.request.Path) != t.request.Path {
		a.makeRuleUncertain("an implementation may decode an escaped slash, redirect the client or refuse the request")
	}
	a.addProblem(severity, model.NotEvaluated, nil, told, "")
}

// dropHostDot drops the dot at the end of a host if the implementation of the Gateway does, and
// notes where that is not known.
func (t *trace) dropHostDot() {
	host, dotted := strings.CutSuffix(t.request.Host, ".")
	if !dotted || host == "" || t.request.Protocol != HTTP {
		return
	}
	how := normalize.Rules{}
	if t.matcher.normalization != nil {
		how, _ = t.matcher.normalization(t.answer.Gateway)
	}
	if !how.DropHostDot {
		t.hostDotUnknown = !how.KeepHostDot
		return
	}
	plain := *t.request
	plain.Host = host
	if plain.SNI == t.request.Host {
		plain.SNI = host
	}
	t.request = &plain
	t.addReason("the host is compared as " + host)
}

// checkHostDot makes the rule uncertain if a dot at the end of the host may not count, and the
// request would then go elsewhere.
func (t *trace) checkHostDot(w Destination) {
	if !t.hostDotUnknown {
		return
	}
	r := t.answer.Request
	r.Host = strings.TrimSuffix(r.Host, ".")
	if r.SNI == t.answer.Request.Host {
		r.SNI = r.Host
	}
	w.Gateway = t.answer.Gateway
	o, err := t.matcher.traceRequest(&r, w, t.settings)
	if err != nil || o.answer.toKey() == t.answer.toKey() {
		return
	}
	t.answer.makeRuleUncertain("an implementation may compare the host as " + r.Host + ", and then " +
		t.matcher.formatTaker(o.answer.Rule))
}
