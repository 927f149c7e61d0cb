package kuma

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// The templates of identities (pkg/core/resources/apis/meshidentity/api/v1alpha1/helpers.go:22-23).
const (
	defaultTrustDomain = "{{ .Mesh }}.{{ .Zone }}.mesh.local"
	defaultPath        = "/ns/{{ .Namespace }}/sa/{{ .ServiceAccount }}"
)

// identityScheme begins every identity.
const identityScheme = "spiffe://"

// identityPart is a part of an identity.
type identityPart struct {
	text string // "": it is not known at all
	open string // what of it is not known; "": it is known. With a text, that is what it is taken to be
}

// identity is who a client is, in parts; none: it has no certificate of the mesh.
type identity []identityPart

// String writes an identity without its scheme; ok is false if part of it is not known at all.
func (id identity) String() (text string, ok bool) {
	for _, p := range id {
		if p.text == "" && p.open != "" {
			return "", false
		}
		text += p.text
	}
	return strings.TrimPrefix(text, identityScheme), true
}

// matchSpiffeID reports whether a matcher of an identity, Exact or Prefix, holds; doubt says what it
// depends on.
func (id identity) matchSpiffeID(m model.Body) (holds selector.Truth, doubt string) {
	value, kind := m.Text("value"), m.Text("type")
	if model.IsRedacted(value) {
		return selector.Maybe, "a value that is left out (redacted)"
	}
	exact := kind == "Exact"
	if !exact && kind != "Prefix" {
		return selector.Maybe, "the matcher " + kind + " of identities"
	}
	text, known, open := "", "", ""
	pattern := `\A`
	for _, p := range id {
		text += p.text
		if p.open == "" {
			pattern += regexp.QuoteMeta(p.text)
			if open == "" {
				known += p.text
			}
			continue
		}
		pattern += `[^/]+`
		if open == "" {
			open = p.open
		}
	}
	_, complete := id.String()
	switch {
	case open == "" || complete && exact && text == value || complete && !exact && strings.HasPrefix(text, value):
		return truthOf(exact && text == value || !exact && strings.HasPrefix(text, value)), ""
	case !exact && strings.HasPrefix(known, value):
		return selector.Yes, ""
	case !exact && !strings.HasPrefix(value, known):
		return selector.No, ""
	case exact && !regexp.MustCompile(pattern+`\z`).MatchString(value):
		return selector.No, ""
	}
	return selector.Maybe, open
}

func truthOf(b bool) selector.Truth {
	if b {
		return selector.Yes
	}
	return selector.No
}

// findIdentity is the identity that a proxy has by the MeshIdentity that fits it best: by its most
// labels, then by its name (BestMatched). holds tells whether any selects it.
func (j *hopJudge) findIdentity(m *member) (id identity, holds selector.Truth) {
	d := m.proxy
	var best *model.Object
	labels := 0
	for _, o := range j.identities[d.mesh] {
		by := o.Body.At("spec", "selector", "dataplane")
		s, err := selector.ReadLabelSelector(by)
		if !by.IsObject() || err != nil {
			continue
		}
		selects := s.SelectsPartly(d.labels, m.labelsUnknown)
		holds = max(holds, selects)
		if n := by.Field("matchLabels").Len(); selects != selector.No && (best == nil || n > labels) {
			best, labels = o, n
		}
	}
	if best == nil {
		return nil, selector.No
	}
	return j.writeIdentity(best, m), holds
}

// writeIdentity fills in the templates of a MeshIdentity for a proxy.
func (j *hopJudge) writeIdentity(by *model.Object, m *member) identity {
	of := by.Body.At("spec", "spiffeID")
	domain, path := of.Text("trustDomain"), of.Text("path")
	if of.Field("trustDomain").IsNull() {
		domain = defaultTrustDomain
	}
	if of.Field("path").IsNull() {
		path = defaultPath
	}
	labels := m.proxy.labels
	account := identityPart{text: labels[accountLabel]}
	if m.accountUnknown || account.text == "" {
		account = identityPart{open: "the service account of " + m.name}
	}
	parts := map[string]identityPart{"Mesh": {text: m.proxy.mesh}, "Zone": j.findZone(by),
		"Namespace": {text: labels[namespaceLabel]}, "ServiceAccount": account, "Workload": account}
	if own := labels[workloadLabel]; own != "" && !m.accountUnknown {
		parts["Workload"] = identityPart{text: own}
	}
	out := identity{{text: identityScheme}}
	out = append(out, fillTemplate(domain, parts, by.Labels)...)
	return append(out, fillTemplate(path, parts, labels)...)
}

// findZone is the zone of a MeshIdentity: its label, else that of the control plane, which is the
// default one if nothing says otherwise.
func (j *hopJudge) findZone(by *model.Object) identityPart {
	switch {
	case by.Labels[zoneLabel] != "":
		return identityPart{text: by.Labels[zoneLabel]}
	case j.zone != "":
		return identityPart{text: j.zone}
	}
	return identityPart{text: j.settings.Text("kuma.zone"), open: "the name of the zone (kuma.zone)"}
}

// templateAction is what a template may ask for: a field, or a label.
var templateAction = regexp.MustCompile(`\{\{-?\s*(?:\.(\w+)|label\s+"([^"]*)")\s*-?\}\}`)

// fillTemplate fills in a template. What is more than fields and labels is not known.
func fillTemplate(template string, fields map[string]identityPart, labels map[string]string) identity {
	var out identity
	addText := func(text string) {
		if strings.Contains(text, "{{") {
			out = append(out, identityPart{open: "what its template makes of " + text})
		} else if text != "" {
			out = append(out, identityPart{text: text})
		}
	}
	at := 0
	for _, m := range templateAction.FindAllStringSubmatchIndex(template, -1) {
		addText(template[at:m[0]])
		at = m[1]
		var p identityPart
		known := false
		if m[2] >= 0 {
			p, known = fields[template[m[2]:m[3]]]
		} else {
			p.text = labels[template[m[4]:m[5]]]
			known = p.text != ""
		}
		if !known {
			p.open = "what its template makes of " + template[m[0]:m[1]]
		}
		out = append(out, p)
	}
	addText(template[at:])
	return out
}

// indexIdentities lists the MeshIdentities of each mesh, by name.
func indexIdentities(in *model.Snapshot) map[string][]*model.Object {
	out := map[string][]*model.Object{}
	for _, o := range in.OfKind(identityKind) {
		mesh := findMesh(o, in)
		out[mesh] = append(out[mesh], o)
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b *model.Object) int { return strings.Compare(a.Ref.Name, b.Ref.Name) })
	}
	return out
}
