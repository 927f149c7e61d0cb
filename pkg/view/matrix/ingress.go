package matrix

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// IngressRow is a path of an Ingress that is in force, and what protects it.
type IngressRow struct {
	Target   model.Ref `json:"target"`             // the Ingress
	Hostname string    `json:"hostname,omitempty"` // none: all hosts that no Ingress names
	Path     string    `json:"path"`               // as the Ingress has it

	Authentication    protect.Result `json:"authentication"`    // every request showed a credential that was verified
	ClientCertificate protect.Result `json:"clientCertificate"` // came with a verified client certificate
	IPList            protect.Result `json:"ipList"`            // came from a listed address, or from none of a list
}

// addIngresses adds the rows of the paths of Ingresses, if the question is about them.
func (m *matrixBuilder) addIngresses() {
	q := &m.collector.Query
	if q.Kinds != nil && m.out.Required == nil || q.Targets != nil && q.Ingresses == nil {
		return
	}
	m.out.judgesIngresses = m.out.Required == nil
	for _, p := range q.Proxies {
		for i := range p.Locations {
			l := &p.Locations[i]
			if p.Refused || l.Implied || l.Ingress == (model.Ref{}) ||
				q.Ingresses != nil && !slices.Contains(q.Ingresses, l.Ingress) {
				continue
			}
			if m.out.Required != nil {
				m.out.leavesIngressesOut = true
				return
			}
			m.out.Ingresses = append(m.out.Ingresses, IngressRow{Target: l.Ingress, Hostname: l.Host, Path: l.Path,
				Authentication: judgeLocation(l, judgeCredentials), ClientCertificate: judgeLocation(l, judgeCertificate),
				IPList: judgeLocation(l, judgeAddresses)})
		}
		for _, problem := range p.Problems {
			if problem.Ref == nil || problem.IsIncomplete() || q.Ingresses == nil ||
				slices.Contains(q.Ingresses, *problem.Ref) {
				m.collector.AddProblems(problem)
			}
		}
	}
	slices.SortStableFunc(m.out.Ingresses, func(a, b IngressRow) int { return view.CompareTargets(a.Target, b.Target) })
}

// judgeLocation says whether a property holds for requests to a path; judge is asked where that is left
// to the settings of the path.
func judgeLocation(l *ingress.Location, judge func(*ingress.Location) protect.Result) protect.Result {
	switch {
	case l.Unknown != "":
		return newResult(gate.Depends, gate.Condition, l.Unknown)
	case slices.Contains(l.Barriers, ingress.Configuration):
		return newResult(gate.Holds, gate.DeniesAll, "the proxy refuses all requests")
	case l.Redirects:
		return protect.Result{Verdict: gate.NotApplicable}
	}
	return judge(l)
}

func newResult(v gate.Verdict, code gate.Code, why string) protect.Result {
	return protect.Result{Verdict: v, Because: []protect.Reason{{Code: code, Message: why}}}
}

// judgeCredentials judges authentication. A verified client certificate is a credential, too.
func judgeCredentials(l *ingress.Location) protect.Result {
	out := newResult(gate.Fails, gate.NoGate, "nothing demands a credential")
	exempt := l.AnyOf && slices.Contains(l.Barriers, ingress.AllowList)
	switch {
	case slices.Contains(l.Barriers, ingress.ClientCertificate):
		out = judgeCertificate(l)
	case exempt:
		out = newResult(gate.Fails, gate.AnonymousAllowed, "clients with an address of the list need no credential")
	}
	if exempt {
		return out
	}
	for _, list := range l.NeedsAuth {
		switch {
		case out.Verdict == gate.Holds:
		case slices.Contains(list, ingress.External):
			out = newResult(gate.Depends, gate.ExternalDecision, "a service is asked that may let anybody in")
		default:
			out = protect.Result{Verdict: gate.Holds}
			for _, b := range list {
				out.Methods = append(out.Methods, string(b))
			}
		}
	}
	return out
}

// judgeCertificate judges client certificates: with those that are optional, or without TLS, a request may
// get through without one.
func judgeCertificate(l *ingress.Location) protect.Result {
	if !slices.Contains(l.Barriers, ingress.ClientCertificate) {
		return newResult(gate.Fails, gate.NoGate, "nothing demands a client certificate")
	}
	return newResult(gate.Depends, gate.Condition,
		"connections with TLS are asked for a client certificate: request says what one without it gets")
}

// judgeAddresses judges lists of addresses.
func judgeAddresses(l *ingress.Location) protect.Result {
	has := func(b ingress.Barrier) bool { return slices.Contains(l.Barriers, b) }
	switch {
	case l.AnyOf:
		return newResult(gate.Depends, gate.Condition, "from other addresses an accepted credential is enough")
	case has(ingress.AllowList), has(ingress.DenyList):
		return protect.Result{Verdict: gate.Holds}
	case has(ingress.Blocked):
		return newResult(gate.Depends, gate.Condition, "the proxy as a whole blocks addresses, user agents or referers")
	}
	return newResult(gate.Fails, gate.NoGate, "nothing looks at the address")
}

// ingressBlock returns the paths of Ingresses with what protects them.
func (m *PolicyMatrix) ingressBlock(rows []IngressRow) view.Block {
	b := view.Block{Columns: []view.Column{{Name: "NAMESPACE", Rank: 2, MinWidth: 9},
		{Name: "INGRESS", Rank: 6, MinWidth: 10, Shorten: view.ShortName}, {Name: "HOST", Rank: 5, MinWidth: 10},
		{Name: "PATH", Rank: 2, MinWidth: 10}}}
	for _, p := range []gate.Property{gate.Authentication, gate.ClientCertificate, gate.IPList} {
		b.Columns = append(b.Columns, view.Column{Name: string(p), Rank: 4, MinWidth: 8, Wrap: true})
	}
	b.Columns = append(b.Columns, view.Column{Name: "WHY", Wide: true, Rank: 9, MinWidth: 24, Wrap: true, Below: true})
	for i := range rows {
		r := &rows[i]
		line := []view.Cell{{Text: r.Target.Namespace}, {Text: r.Target.Name}, {Text: view.OrDash(r.Hostname)},
			{Text: r.Path}}
		var reasons []string
		for _, got := range []*protect.Result{&r.Authentication, &r.ClientCertificate, &r.IPList} {
			line = append(line, view.Cell{Text: view.FormatProtection(got), Tone: protectionTone(got.Verdict, false)})
			why := view.JoinReasons(got.Because)
			if why != "" && !got.HasReason(gate.NoGate) && !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
		}
		b.Rows = append(b.Rows, append(line, view.Cell{Text: view.OrDash(strings.Join(reasons, "; "))}))
	}
	return b
}
