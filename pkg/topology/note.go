package topology

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// subject is a sort of thing that is said once for everything it concerns: what is not evaluated, or taken for granted.
type subject int

const (
	parentNotEvaluated     subject = iota // parentRefs to a kind; about: the kind
	protocolNotEvaluated                  // listeners of an implementation's protocol; about: its name
	backendNotFollowed                    // rules that send to what only some implementations take as a backend; about: its kind
	delegationNotEvaluated                // rules that send to a route; about: the kind of the latter
	labelsUnknown                         // a listener selects namespaces by label (G14); about: the namespace, at: the listener
	parentMissing                         // parentRefs to a parent that is not in the input (G10); about: the parent
	setLabelsUnknown                      // a Gateway selects the namespaces of its ListenerSets by label (G22); about: the namespace, at: the Gateway
	setParentMissing                      // ListenerSets of a Gateway that is not in the input (G10); about: the Gateway
	backendMissing                        // backends that are not in the input (G36)
	backendKind                           // backends of a kind that is not the Gateway API's (§7); about: the kind
	authorityWithheld                     // listeners that know their clients by grants that a cluster withholds (G58)
	certificateWithheld                   // certificates that are not in the input, or are an implementation's (G58)
	contentNotChecked                     // certificates whose content is bad, which does not count (G58)
	terminatesTLS                         // TLS listeners with mode Terminate (§6)
	mixesModes                            // TLS listeners of both modes on one port (§6)
)

// topic is what one note is about.
type topic struct {
	what      subject
	about, at model.Ref
}

func kindRef(gk model.GroupKind) model.Ref { return model.Ref{Group: gk.Group, Kind: gk.Kind} }

// tally counts what a note concerns.
type tally struct {
	model.Tally
	first    *model.Object
	last     string
	namesake string // of what is missing: an object of the same name in another namespace

	uses    int    // of what is missing: how many rules name it
	lastUse NodeID // the rule that was counted last
}

// use counts a rule that names what is missing; several times in a row it counts once.
func (c *tally) use(rule NodeID) {
	if c.uses == 0 || c.lastUse != rule {
		c.uses++
	}
	c.lastUse = rule
}

// users says how many rules name what is missing.
func (c *tally) users() string {
	if c.uses == 1 {
		return "1 rule names "
	}
	return itoa(c.uses) + " rules name "
}

// note counts o under t; met several times in a row it counts once.
func (d *draft) note(t topic, o *model.Object) { d.noteName(t, o.Ref.String(), o) }

// noteName is note for a part of o, or for a thing that is not in the input (o nil). It returns what the note counts.
func (d *draft) noteName(t topic, name string, o *model.Object) *tally {
	c := d.notes[t]
	if c == nil {
		c = &tally{first: o}
		if t.what == parentMissing || t.what == setParentMissing {
			c.namesake = namesake(d.in, t.about)
		}
		d.notes[t] = c
	}
	if c.N == 0 || c.last != name {
		c.last = name
		c.Add(name)
	}
	return c
}

// namesake is an object of the same kind and name in another namespace, "" if there is none: a reference without a namespace is easily meant
// for it.
func namesake(in *model.Snapshot, ref model.Ref) string {
	for _, o := range in.Of(ref.GroupKind()) {
		if o.Ref.Name == ref.Name && o.Ref.Namespace != ref.Namespace {
			return o.Ref.String()
		}
	}
	return ""
}

// of writes the number of things, in words for one and for more.
func (c *tally) of(one, many string) string {
	if c.N == 1 {
		return "1 " + one
	}
	return itoa(c.N) + " " + many
}

// report turns the notes into problems. Their order does not matter: problems are sorted.
func (d *draft) report() {
	for t, c := range d.notes {
		p := t.problem(c)
		if p.Code == "" {
			p.Code = model.NotEvaluated
		}
		if d.in.Cluster != nil {
			switch t.what {
			case labelsUnknown, setLabelsUnknown:
				p.Hint = "ask for: list on namespaces (docs/rbac.yaml)"
			case backendMissing, certificateWithheld: // neither Secrets nor ConfigMaps are read from a cluster
				p.Hint = ""
			}
		}
		switch {
		case t.about.Name != "" && t.about.Kind != "":
			ref := t.about
			p.Ref = &ref
		case c.N == 1 && c.first != nil:
			p = p.At(c.first)
		}
		d.problems = append(d.problems, p)
	}
}

func (t topic) problem(c *tally) model.Problem {
	switch t.what {
	case parentMissing, labelsUnknown, setParentMissing, setLabelsUnknown:
		return t.missing(c)
	case backendMissing:
		return model.Problem{
			Severity: model.Info, Message: c.users() + c.of("backend that is", "backends that are") + " not in the input: not judged, assumed to exist: " + c.String(),
			Hint: "add the manifests of the backends",
		}
	case contentNotChecked:
		return matters(CheckCertificates, "with true these are no certificates: "+c.String())
	case terminatesTLS:
		return matters(TLSTerminate, "with false these listeners are not accepted: "+c.String())
	case mixesModes:
		return matters(TLSModeMixed, "with false these listeners are not accepted: "+c.String())
	case certificateWithheld:
		return model.Problem{
			Severity: model.Info, Message: c.of("certificate is", "certificates are") + " not checked (not in the input, or of an implementation-specific kind): " + c.String(),
			Hint: "add the manifests of the Secrets and ConfigMaps; of Secrets only the names of keys are kept",
		}
	case backendKind:
		return model.Problem{
			Severity: model.Info, Message: "kind " + t.about.GroupKind().String() + " is a backend of an implementation, taken as it is: " + c.String(),
		}
	}
	p := model.Problem{Severity: model.Warning}
	switch t.what {
	case parentNotEvaluated:
		p.Message = "parents of kind " + t.about.GroupKind().String() + " are not evaluated; " + c.of("route names", "routes name") + " one: " + c.String()
		p.Hint = "these routes have no path through them in the answer"
	case protocolNotEvaluated:
		p.Message = "protocol " + t.about.Name + " belongs to an implementation and is not evaluated: " + c.String()
		p.Hint = "its listeners take only the kinds of routes that they name"
	case delegationNotEvaluated:
		p.Message = "delegation to kind " + t.about.GroupKind().String() + " is not evaluated; " + c.of("route sends", "routes send") + " to one: " + c.String()
	case backendNotFollowed:
		p.Message = "kind " + t.about.GroupKind().String() + " as a backend is not evaluated; " + c.of("route sends", "routes send") + " to one: " + c.String()
	case authorityWithheld:
		p.Message = "whether a listener takes traffic depends on ReferenceGrants that may not be read; not evaluated for " + c.String()
		p.Hint = "the answer has no path through these listeners; ask for: list on referencegrants.gateway.networking.k8s.io (docs/rbac.yaml)"
	}
	return p
}

// missing is the problem of an object that would settle the question if it were in the input.
func (t topic) missing(c *tally) model.Problem {
	p := model.Problem{Severity: model.Info, Hint: "add the manifest of " + t.about.String()}
	what := c.of("route", "routes")
	if t.what == setParentMissing || t.what == setLabelsUnknown {
		what = c.of("listener set", "listener sets")
	}
	if t.what == parentMissing || t.what == setParentMissing {
		p.Message = t.about.String() + " is not in the input; no path through it for " + what + ": " + c.String()
		if c.namesake != "" {
			p.Hint += "; in another namespace there is " + c.namesake
		}
		return p
	}
	p.Severity = model.Warning
	holder := "listener " + t.at.String()
	if t.what == setLabelsUnknown {
		holder = t.at.String()
	}
	p.Message = holder + " selects namespaces by label, and the labels of " + t.about.String() + " are not known; not evaluated for " + what + ": " + c.String()
	return p
}

// matters is the problem of an answer that another value of a setting would change (gatewayapi §6).
func matters(setting, how string) model.Problem {
	return model.Problem{Severity: model.Info, Code: model.SettingMatters, Message: setting + " matters: " + how,
		Hint: "set it with --vendor-setting " + setting + "=VALUE"}
}
