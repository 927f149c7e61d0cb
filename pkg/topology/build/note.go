package build

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// noteKind is a sort of thing that is said once for everything it concerns: what is not evaluated,
// or taken for granted.
type noteKind int

const (
	parentNotEvaluated   noteKind = iota // parentRefs to a kind; about: the kind
	protocolNotEvaluated                 // listeners of an implementation's protocol; about: its name
	// rules that send to what only some implementations take as a backend; about: its kind
	backendNotFollowed
	delegationNotEvaluated // rules that send to a route; about: the kind of the latter
	// a listener selects namespaces by label (G14); about: the namespace, at: the listener
	labelsUnknown
	parentMissing // parentRefs to a parent that is not in the input (G10); about: the parent
	// a Gateway selects the namespaces of its ListenerSets by label (G22); about: the namespace,
	// at: the Gateway
	setLabelsUnknown
	// ListenerSets of a Gateway that is not in the input (G10); about: the Gateway
	setParentMissing
	backendMissing      // backends that are not in the input (G36)
	backendKind         // backends of a kind that is not the Gateway API's; about: the kind
	authorityWithheld   // listeners that know their clients by grants that a cluster withholds (G58)
	certificateWithheld // certificates that are not in the input, or are an implementation's (G58)
	contentNotChecked   // certificates whose content is bad, which does not count (G58)
	terminatesTLS       // TLS listeners with mode Terminate
	mixesModes          // TLS listeners of both modes on one port
)

// noteTopic is what one note is about.
type noteTopic struct {
	kind      noteKind
	about, at model.Ref
}

func kindRef(gk model.GroupKind) model.Ref { return model.Ref{Group: gk.Group, Kind: gk.Kind} }

// noteCount counts what a note concerns.
type noteCount struct {
	model.Tally
	first    *model.Object
	last     string
	namesake string // of what is missing: an object of the same name in another namespace

	uses    int             // of what is missing: how many rules name it
	lastUse topology.NodeID // the rule that was counted last
}

// addUse counts a rule that names what is missing; several times in a row it counts once.
func (c *noteCount) addUse(rule topology.NodeID) {
	if c.uses == 0 || c.lastUse != rule {
		c.uses++
	}
	c.lastUse = rule
}

// describeUsers says how many rules name what is missing.
func (c *noteCount) describeUsers() string {
	if c.uses == 1 {
		return "1 rule names "
	}
	return manifest.FormatInt(c.uses) + " rules name "
}

// addNote counts o under t; met several times in a row it counts once.
func (d *draft) addNote(t noteTopic, o *model.Object) { d.addNamedNote(t, o.Ref.String(), o) }

// addNamedNote is addNote for a part of o, or for a thing that is not in the input (o nil). It
// returns what the note counts.
func (d *draft) addNamedNote(t noteTopic, name string, o *model.Object) *noteCount {
	c := d.notes[t]
	if c == nil {
		c = &noteCount{first: o}
		if t.kind == parentMissing || t.kind == setParentMissing {
			c.namesake = findNamesake(d.in, t.about)
		}
		d.notes[t] = c
	}
	if c.Count == 0 || c.last != name {
		c.last = name
		c.Add(name)
	}
	return c
}

// findNamesake returns an object of the same kind and name in another namespace, "" if there is
// none: a reference without a namespace is easily meant for it.
func findNamesake(in *model.Snapshot, ref model.Ref) string {
	for _, o := range in.OfKind(ref.GroupKind()) {
		if o.Ref.Name == ref.Name && o.Ref.Namespace != ref.Namespace {
			return o.Ref.String()
		}
	}
	return ""
}

// formatCount writes the number of things, in words for one and for more.
func (c *noteCount) formatCount(one, many string) string {
	if c.Count == 1 {
		return "1 " + one
	}
	return manifest.FormatInt(c.Count) + " " + many
}

// reportNotes turns the notes into problems. Their order does not matter: problems are sorted.
func (d *draft) reportNotes() {
	for t, c := range d.notes {
		p := t.newProblem(c)
		if p.Code == "" {
			p.Code = model.NotEvaluated
		}
		if d.in.Cluster != nil {
			switch t.kind {
			case labelsUnknown, setLabelsUnknown:
				p.Hint = "ask for: list on namespaces (--print-rbac prints the role)"
			case backendMissing, certificateWithheld: // neither Secrets nor ConfigMaps are read from a cluster
				p.Hint = ""
			}
		}
		switch {
		case t.about.Name != "" && t.about.Kind != "":
			ref := t.about
			p.Ref = &ref
		case c.Count == 1 && c.first != nil:
			p = p.At(c.first)
		}
		d.Problems = append(d.Problems, p)
	}
}

func (t noteTopic) newProblem(c *noteCount) model.Problem {
	switch t.kind {
	case parentMissing, labelsUnknown, setParentMissing, setLabelsUnknown:
		return t.missingProblem(c)
	case backendMissing:
		return model.Problem{
			Severity: model.Info, Message: c.describeUsers() + c.formatCount("backend that is", "backends that are") +
				" not in the input: not judged, assumed to exist: " + c.String(),
			Hint: "add the manifests of the backends",
		}
	case contentNotChecked:
		return settingProblem(gatewayapi.CheckCertificates, "with true these are no certificates: "+c.String())
	case terminatesTLS:
		return settingProblem(gatewayapi.TLSTerminate, "with false these listeners are not accepted: "+c.String())
	case mixesModes:
		return settingProblem(gatewayapi.TLSModeMixed, "with false these listeners are not accepted: "+c.String())
	case certificateWithheld:
		return model.Problem{
			Severity: model.Info, Message: c.formatCount("certificate is", "certificates are") +
				" not checked (not in the input, or of an implementation-specific kind): " + c.String(),
			Hint: "add the manifests of the Secrets and ConfigMaps; of Secrets only the names of keys are kept",
		}
	case backendKind:
		return model.Problem{
			Severity: model.Info, Message: "kind " + t.about.GroupKind().String() +
				" is a backend of an implementation, taken as it is: " + c.String(),
		}
	}
	p := model.Problem{Severity: model.Warning}
	switch t.kind {
	case parentNotEvaluated:
		p.Message = "parents of kind " + t.about.GroupKind().String() + " are not evaluated; " +
			c.formatCount("route names", "routes name") + " one: " + c.String()
		p.Hint = "these routes have no path through them in the answer"
	case protocolNotEvaluated:
		p.Message = "protocol " + t.about.Name + " belongs to an implementation and is not evaluated: " + c.String()
		p.Hint = "its listeners take only the kinds of routes that they name"
	case delegationNotEvaluated:
		p.Message = "delegation to kind " + t.about.GroupKind().String() + " is not evaluated; " +
			c.formatCount("route sends", "routes send") + " to one: " + c.String()
	case backendNotFollowed:
		p.Message = "kind " + t.about.GroupKind().String() + " as a backend is not evaluated; " +
			c.formatCount("route sends", "routes send") + " to one: " + c.String()
	case authorityWithheld:
		p.Message = "cannot tell whether a listener takes traffic: ReferenceGrants are forbidden; not evaluated for " + c.String()
		p.Hint = "the answer has no path through these listeners; ask for: list on referencegrants.gateway.networking.k8s.io (--print-rbac prints the role)"
	}
	return p
}

// missingProblem is the problem of an object that would settle the question if it were in the
// input.
func (t noteTopic) missingProblem(c *noteCount) model.Problem {
	p := model.Problem{Severity: model.Info, Hint: "add the manifest of " + t.about.String()}
	what := c.formatCount("route", "routes")
	if t.kind == setParentMissing || t.kind == setLabelsUnknown {
		what = c.formatCount("listener set", "listener sets")
	}
	if t.kind == parentMissing || t.kind == setParentMissing {
		p.Message = t.about.String() + " is not in the input; no path through it for " + what + ": " + c.String()
		if c.namesake != "" {
			p.Hint += "; in another namespace there is " + c.namesake
		}
		return p
	}
	p.Severity = model.Warning
	holder := "listener " + t.at.String()
	if t.kind == setLabelsUnknown {
		holder = t.at.String()
	}
	p.Message = holder + " selects namespaces by label, and the labels of " + t.about.String() +
		" are not known; not evaluated for " + what + ": " + c.String()
	return p
}

// settingProblem is the problem of an answer that another value of a setting would change.
func settingProblem(setting, how string) model.Problem {
	return model.Problem{Severity: model.Info, Code: model.SettingMatters, Message: setting + " matters: " + how,
		Hint: "set it with --vendor-setting " + setting + "=VALUE"}
}
