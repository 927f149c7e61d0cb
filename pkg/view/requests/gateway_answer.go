package requests

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// GatewayAnswer is what a Gateway does with a request, policies included, with what else of the
// request decides.
type GatewayAnswer struct {
	ingress.Answer
	Decides ingress.Tests
}

// AnswerAtGateway says what becomes of a request that the matcher has answered, by the gates on its
// way and by what vendors say of their policies and filters. What may decide and is not evaluated
// makes the outcome NotEvaluated.
func (w *Writer) AnswerAtGateway(a *request.Answer) *GatewayAnswer {
	out := &GatewayAnswer{Answer: ingress.Answer{Outcome: a.Outcome, Status: a.Status, Why: slices.Clone(a.Why)}}
	e, known := w.collectEffects(a)
	if known {
		out.Outcome = e.FindOutcome(a)
	}
	if out.Outcome == request.Conditional {
		out.Outcome, out.Why = request.NotEvaluated, []string{FindCondition(a)}
		return out
	}
	if a.Rule == topology.None {
		if a.Location != nil { // the proxy tidies the path
			out.Location = a.Location.URL
		}
		return out
	}
	out.Settings, out.Decides.Bodies = e.Settings, listBodyLimits(e)
	if len(e.Unknown) > 0 {
		out.Outcome, out.Why = request.NotEvaluated, e.Unknown
		return out
	}
	g := w.findGates(a)
	j := barrierJudge{request: &a.Request, effects: e, answer: out, known: known, external: listExternal(g)}
	if e.RedirectsFirst && j.redirectRequest(a) {
		return out
	}
	j.judgeSteps(g.Steps())
	if out.Outcome == request.Denied || out.Outcome == request.NotEvaluated || j.redirectRequest(a) {
		return out
	}
	if e.Status != 0 {
		out.Outcome, out.Status = request.Answered, e.Status
		return out
	}
	out.Backends = describeBackends(a, e, g)
	out.Settings = append(out.Settings, w.listRuleSettings(a, g)...)
	return out
}

// listRuleSettings returns what the rule itself and the gates on the way set, in the names of Setting.
func (w *Writer) listRuleSettings(a *request.Answer, g *protect.Gates) []ingress.Setting {
	var out []ingress.Setting
	rule := w.Collector.Resolution.Node(a.Rule).Ref
	if a.Sends != nil && a.Sends.Host != a.Request.Host {
		out = append(out, ingress.Setting{Name: "upstreamHost", Value: a.Sends.Host, Source: rule})
	}
	if r := g.JudgeProperty(gate.CORS); r.Verdict == gate.Holds || r.Verdict == gate.Depends {
		out = append(out, ingress.Setting{Name: "cors.origins", Value: "...", Source: rule})
	}
	if g.JudgeProperty(gate.TLSBackend).Verdict == gate.Holds {
		out = append(out, ingress.Setting{Name: "backendProtocol", Value: "https://", Source: rule})
	}
	return out
}

// addGatewayFacts adds what a Gateway does with a request of which more is said than its URL and
// headers. The outcome stays that of routing.
func (w *Writer) addGatewayFacts(a *request.Answer, out *RequestResult) {
	if !a.Request.Given || a.Gateway == topology.None || a.Rule == topology.None {
		return
	}
	got := w.AnswerAtGateway(a)
	if got.Outcome == request.NotEvaluated {
		for _, why := range got.Why {
			w.Collector.AddProblems(model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: why})
		}
		return
	}
	out.ProxyFacts, out.gatewayStatus = newProxyFacts(&got.Answer), got.Status
	if len(got.Backends) > 0 {
		_, out.Backends = DescribeProxyAnswer(&got.Answer)
	}
}

// findGates returns the gates on the way that an answer describes.
func (w *Writer) findGates(a *request.Answer) *protect.Gates {
	if w.protectionJudge == nil {
		w.protectionJudge = w.Judges.NewJudge(w.Collector.Resolution)
	}
	return w.protectionJudge.FindGates(a)
}

// collectEffects returns what the vendors say of a request that a rule takes; known: one of them does.
func (w *Writer) collectEffects(a *request.Answer) (out *ingress.Effects, known bool) {
	out = &ingress.Effects{}
	for _, read := range w.Judges.Effects {
		if e := read(w.Collector.Resolution, a); e != nil {
			out.AddEffects(e)
			known = true
		}
	}
	return out, known
}

// listBodyLimits returns the sizes beyond which a body is refused.
func listBodyLimits(e *ingress.Effects) []int64 {
	if e.BodyLimit == 0 {
		return nil
	}
	return []int64{e.BodyLimit}
}

// describeBackends returns the backends of a rule with what they get.
func describeBackends(a *request.Answer, e *ingress.Effects, g *protect.Gates) []ingress.Backend {
	path := a.Request.Path
	if a.Sends != nil {
		path = a.Sends.Path
	}
	if e.Rewrite != nil {
		if rewritten, changed := e.Rewrite(path); changed {
			path = rewritten
		}
	}
	sent := a.Request
	sent.Path = path
	tls := g.JudgeProperty(gate.TLSBackend).Verdict == gate.Holds
	out := make([]ingress.Backend, len(a.Backends))
	for i, b := range a.Backends {
		out[i] = ingress.Backend{Ref: b.Ref, Port: b.Port, Weight: b.Weight, Path: sent.Target(), TLS: tls}
	}
	return out
}

// barrierJudge decides whether a request passes what may refuse it.
type barrierJudge struct {
	request *request.Request
	effects *ingress.Effects
	answer  *GatewayAnswer

	known    bool               // the implementation is, and says what its policies do
	external []ingress.FieldRef // by which a service is asked
}

// listExternal returns the fields of gates that ask a service.
func listExternal(g *protect.Gates) []ingress.FieldRef {
	var out []ingress.FieldRef
	for _, all := range append([][]protect.Gate{g.Before}, g.Backends...) {
		for i := range all {
			if all[i].HasReason(gate.ExternalDecision) {
				out = append(out, ingress.FieldRef{Object: all[i].Object, Field: all[i].Field})
			}
		}
	}
	return out
}

// redirectRequest notes the redirectRequest that the request gets, if it gets one: of the Gateway API, or of a vendor.
func (j *barrierJudge) redirectRequest(a *request.Answer) bool {
	if a.Location != nil {
		j.answer.Location = a.Location.URL
		return true
	}
	if j.effects.Redirect == nil {
		return false
	}
	status, location := j.effects.Redirect(j.request)
	if status != 0 {
		j.answer.Outcome, j.answer.Status, j.answer.Location = request.Redirect, status, location
	}
	return status != 0
}

// judgeSteps asks the gates in their order, then the address lists, and the size of the body last. The
// first that refuses the request decides; what credentials are needed is noted of all.
func (j *barrierJudge) judgeSteps(steps []protect.Step) {
	for i := range steps {
		j.judgeStep(&steps[i])
	}
	for i := range j.effects.Lists {
		j.judgeList(&j.effects.Lists[i])
	}
	if most := j.effects.BodyLimit; most > 0 && j.request.BodyBytes > most {
		j.denyRequest(ingress.BodySize, 413)
	}
}

// judgeList asks an address list.
func (j *barrierJudge) judgeList(l *ingress.AddressList) {
	for _, r := range l.Rules {
		j.answer.Decides.Addresses = append(j.answer.Decides.Addresses, r.Ranges...)
	}
	if passes, by := l.FindBarrier(j.request.ClientAddress); !passes {
		j.denyRequest(by, 403)
	}
}

// judgeStep asks one gate, or a group of alternatives of which one is enough.
func (j *barrierJudge) judgeStep(s *protect.Step) {
	if s.Passable || j.effects.IsCovered(s.Gates[0].Object, s.Gates[0].Field) {
		return
	}
	var needed []ingress.Barrier
	passes := false
	for _, g := range s.Gates {
		barrier := j.findBarrier(g)
		switch {
		case barrier == "" || g.Refuses == protect.NeverRefuses || g.Verdict() == gate.Fails:
			return // of alternatives, one that asks for nothing is enough
		case barrier == ingress.Authorization && !j.known:
			j.answer.Outcome, j.answer.Why = request.NotEvaluated, []string{fmt.Sprintf(
				"cannot tell what %s of %s does: the GatewayClass is not in the input, or its implementation is not read",
				g.Field, g.Object)}
			return
		case g.Verdict() == gate.Depends && !isDecidedByCredential(g):
			j.answer.Outcome, j.answer.Why = request.NotEvaluated, formatReasons(g)
			return
		}
		if !slices.Contains(needed, barrier) {
			needed = append(needed, barrier)
		}
		passes = passes || !g.HasReason(gate.DeniesAll) && j.passesBarrier(barrier)
	}
	if needed[0] == ingress.ClientCertificate {
		j.answer.Decides.Certificates = true
	}
	j.answer.NeedsAuth = append(j.answer.NeedsAuth, needed)
	if !passes {
		j.denyRequest(needed[0], statusOf(s.Gates[0], j.request, needed[0]))
	}
}

// denyRequest notes the first refusal.
func (j *barrierJudge) denyRequest(by ingress.Barrier, status int) {
	if j.answer.Outcome == request.Denied || j.answer.Outcome == request.NotEvaluated {
		return
	}
	j.answer.Outcome, j.answer.DeniedBy, j.answer.Status = request.Denied, by, status
}

// passesBarrier reports whether the request passes, by what is assumed of it.
func (j *barrierJudge) passesBarrier(b ingress.Barrier) bool {
	c := &j.request.Circumstances
	switch {
	case b == ingress.ClientCertificate:
		return c.Certificate.Shown && c.Certificate.Trusted
	case c.Assumed.Credentials:
		return true
	case b == ingress.Basic:
		return c.Assumed.BasicAccepted
	case b == ingress.External:
		return c.Assumed.External >= 200 && c.Assumed.External < 300
	}
	return false
}

// findBarrier returns what a gate asks for; "": nothing that keeps a request out.
func (j *barrierJudge) findBarrier(g *protect.Gate) ingress.Barrier {
	switch {
	case g.Property == gate.ClientCertificate:
		return ingress.ClientCertificate
	case !g.Property.IsAccess():
		return ""
	case slices.Contains(j.external, ingress.FieldRef{Object: g.Object, Field: g.Field}):
		return ingress.External
	}
	if barrier, known := map[string]ingress.Barrier{"basic": ingress.Basic, "jwt": ingress.JWT, "oidc": ingress.OIDC,
		"apiKey": ingress.APIKey, "clientCertificate": ingress.ClientCertificate,
		"mtls": ingress.ClientCertificate}[g.Method]; known {
		return barrier
	}
	return ingress.Authorization
}

// isDecidedByCredential reports whether all that is open about a gate is who answers for credentials.
func isDecidedByCredential(g *protect.Gate) bool {
	return !slices.ContainsFunc(g.Reasons, func(r protect.Reason) bool {
		switch r.Code {
		case gate.ExternalDecision, gate.MissingObject, gate.ExternalObject:
			return false
		}
		return r.Code.VerdictOf() == gate.Depends
	})
}

func formatReasons(g *protect.Gate) []string {
	var out []string
	for _, r := range g.Reasons {
		out = append(out, r.Message)
	}
	return out
}

// statusOf returns the status with which a gate refuses the request; 0: it is not known.
func statusOf(g *protect.Gate, r *request.Request, by ingress.Barrier) int {
	if by == ingress.External {
		if r.Assumed.External != 0 {
			return r.Assumed.External
		}
		return 401
	}
	for _, text := range slices.Concat(g.Missing, g.Answers) {
		if status, err := strconv.Atoi(text); err == nil {
			return status
		}
	}
	return 0
}
