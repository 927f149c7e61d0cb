package protect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// buildStandardGates makes the gates that the Gateway API itself has on a path, and those of what
// is on it and not read.
func (j *Judge) buildStandardGates(at RulePath, look *RequestReader) []Gate {
	out := slices.Clone(j.ruleGates(at.Rule))
	out = append(out, j.listenerGates(at)...)
	for i := range out {
		if out[i].Refuses == MayRefuse && out[i].Property == gate.TLSIn {
			out[i].Refuses = NeverRefuses
		}
	}
	if look.Request.Secure {
		out = append(out, Gate{Property: gate.TLSIn, Object: j.objectOf(at.Listener), Field: "listeners.protocol",
			Refuses: NeverRefuses})
	}
	return out
}

func (j *Judge) objectOf(id topology.NodeID) model.Ref {
	if id == topology.None {
		return model.Ref{}
	}
	return j.res.Node(id).Ref.WithoutSection()
}

// ruleGates returns the gates of a rule itself: its filters, timeouts and retries, and what it
// names that is not read.
func (j *Judge) ruleGates(id topology.NodeID) []Gate {
	if id == topology.None {
		return nil
	}
	if known, ok := j.ruleGatesByNode[id]; ok {
		return known
	}
	n := j.res.Node(id)
	var out []Gate
	if n.Object != nil && n.Role == topology.Rule {
		body := n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index))
		own := n.Ref.WithoutSection()
		for _, f := range body.Field("filters").Items {
			out = append(out, j.filterGates(own, "filters."+f.Text("type"), f)...)
		}
		for _, field := range []string{"request", "backendRequest"} {
			if text := body.Text("timeouts", field); text != "" && !isZeroTime(text) {
				out = append(out, Gate{Property: gate.Timeout, Object: own, Field: "timeouts." + field,
					Refuses: NeverRefuses})
			}
		}
		if body.Has("retry") {
			out = append(out, Gate{Property: gate.Retry, Object: own, Field: "retry", Refuses: NeverRefuses})
		}
	}
	out = append(out, j.buildUnreadGates(id)...)
	j.ruleGatesByNode[id] = out
	return out
}

// buildUnreadGates makes the gates of what is on the path to a rule and is not read: it may keep
// requests out, or let them in.
func (j *Judge) buildUnreadGates(rule topology.NodeID) []Gate {
	var out []Gate
	for _, s := range unread.At(j.res, []topology.NodeID{rule}) {
		if !s.MayDeny || len(s.AttachedTo) > 0 {
			continue
		}
		p := s.Problem()
		for _, property := range gate.Properties() {
			if property == gate.TLSIn || property == gate.HTTPSRedirect {
				continue
			}
			g := Gate{Property: property, Object: s.Object.Ref}
			g.AddReason(gate.NotRead, "")
			g.Reasons[0].Message = p.Message
			out = append(out, g)
		}
	}
	return out
}

// isZeroTime reports whether a duration is zero, which is none.
func isZeroTime(text string) bool { return strings.Trim(text, "0hms.") == "" }

// filterGates are those of one filter of a rule or of a listener.
func (j *Judge) filterGates(own model.Ref, field string, f model.Body) []Gate {
	switch f.Text("type") {
	case "ExternalAuth":
		asks := Gate{Property: gate.Authorization, Object: own, Field: field, Answers: []string{AnyStatus}}
		who := asks
		who.Property = gate.Authentication
		who.AddReason(gate.ExternalDecision, field)
		return []Gate{asks, who}
	case "RequestRedirect":
		if f.Text("requestRedirect", "scheme") == "https" {
			return []Gate{{Property: gate.HTTPSRedirect, Object: own, Field: field, Refuses: NeverRefuses}}
		}
	case "CORS":
		g := Gate{Property: gate.CORS, Object: own, Field: field, Refuses: NeverRefuses}
		for _, o := range f.At("cors", "allowOrigins").Items {
			if o.Text() == "*" {
				g.AddReason(gate.AnyOrigin, field)
				break
			}
		}
		return []Gate{g}
	case "ExtensionRef":
		ref := f.Field("extensionRef")
		return j.missingFilter(own, field, model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"),
			Namespace: own.Namespace, Name: ref.Text("name")})
	}
	return nil
}

// missingFilter are the gates of a filter whose object is not in the input. Where it is known not
// to exist, requests get an error.
func (j *Judge) missingFilter(own model.Ref, field string, to model.Ref) []Gate {
	k := j.res.Kind(to.GroupKind())
	if k == nil || len(k.Protects.Rules) == 0 || !slices.Contains(k.Filters, topology.Rule) ||
		j.res.Snapshot.Get(to) != nil {
		return nil
	}
	code := gate.MissingObject
	if j.res.Snapshot.HasAll(to.GroupKind(), to.Namespace) {
		if k.Protects.MissingPasses {
			return nil
		}
		code = gate.DeniesAll
	}
	var out []Gate
	for _, p := range gate.Properties() {
		if !slices.ContainsFunc(k.Protects.Rules, func(r gate.Rule) bool { return r.Property == p }) {
			continue
		}
		g := Gate{Property: p, Object: own, Field: field, Answers: []string{"500"}, Missing: []string{"500"}}
		if k.Protects.MissingPasses {
			g.Answers, g.Missing = []string{AnyStatus}, nil
		}
		g.AddReason(code, field)
		g.Reasons[0].Message += ": " + to.String()
		if code == gate.DeniesAll {
			g.Refuses = AlwaysRefuses
		}
		out = append(out, g)
	}
	return out
}

// listenerGates are those of a listener, and of its Gateway for it.
func (j *Judge) listenerGates(at RulePath) []Gate {
	if at.Listener == topology.None {
		return nil
	}
	n := j.res.Node(at.Listener)
	if n.Role != topology.Listener || n.Object == nil {
		return nil
	}
	own := n.Ref.WithoutSection()
	body := n.Object.Body.At("spec", "listeners", strconv.Itoa(n.Index))
	var out []Gate
	for _, f := range n.ListenerFilters() {
		out = append(out, j.filterGates(own, "listeners.filters.requests", f)...)
	}
	facts := j.res.Graph.Listener(at.Listener)
	if facts.Protocol != "HTTPS" && (facts.Protocol != "TLS" || facts.TLSMode == "Passthrough") {
		return out
	}
	if validation := body.At("tls", "frontendValidation"); validation.Len() > 0 {
		out = append(out, certificateGate(own, "listeners.tls.frontendValidation", validation))
	}
	if at.Gateway == topology.None || j.res.Node(at.Gateway).Object == nil {
		return out
	}
	gw := j.res.Node(at.Gateway)
	frontend := gw.Object.Body.At("spec", "tls", "frontend")
	validation := frontend.At("default", "validation")
	for _, p := range frontend.Field("perPort").Items {
		if port, _ := p.Field("port").Value().(int64); int32(port) == facts.Port {
			validation = p.At("tls", "validation")
		}
	}
	if validation.Len() > 0 {
		out = append(out, certificateGate(gw.Ref.WithoutSection(), "tls.frontend", validation))
	}
	return out
}

func certificateGate(own model.Ref, field string, validation model.Body) Gate {
	g := Gate{Property: gate.ClientCertificate, Object: own, Field: field}
	if validation.Text("mode") == "AllowInsecureFallback" {
		g.AddReason(gate.NotVerified, field+".mode")
		g.Refuses = NeverRefuses
	}
	return g
}
