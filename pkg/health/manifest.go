package health

import (
	"slices"
	"strings"
)

// FormatConfigMap returns the checks as a ConfigMap with the settings by which Argo CD takes them:
// a patch of its ConfigMap argocd-cm.
func (c Checks) FormatConfigMap() string {
	var b strings.Builder
	b.WriteString("# Health checks for Argo CD: a patch of its ConfigMap argocd-cm.\n")
	c.writeLeftOut(&b)
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: argocd-cm\n  labels:\n" +
		"    app.kubernetes.io/name: argocd-cm\n    app.kubernetes.io/part-of: argocd\n")
	if len(c.All) == 0 {
		b.WriteString("data: {}\n")
		return b.String()
	}
	b.WriteString("data:\n")
	for i := range c.All {
		check := &c.All[i]
		b.WriteString("  resource.customizations.health." + check.Kind.Group + "_" + check.Kind.Kind + ": |\n")
		writeIndented(&b, "    ", check.FormatLua())
	}
	return b.String()
}

// FormatFluxPatch returns the checks as what the spec of a Flux Kustomization has for them.
func (c Checks) FormatFluxPatch() string {
	c = c.leaveOutSilent()
	var b strings.Builder
	b.WriteString("# Health checks for Flux: a patch of a Kustomization that deploys such policies.\n")
	c.writeLeftOut(&b)
	b.WriteString("spec:\n")
	if len(c.All) == 0 {
		b.WriteString("  healthCheckExprs: []\n")
		return b.String()
	}
	b.WriteString("  healthCheckExprs:\n")
	for i := range c.All {
		check := &c.All[i]
		b.WriteString("  - apiVersion: " + check.APIVersion + "\n    kind: " + check.Kind.Kind + "\n")
		e := check.FormatCEL()
		for _, part := range []struct{ name, text string }{{"inProgress", e.InProgress}, {"failed", e.Failed},
			{"current", e.Current}} {
			b.WriteString("    " + part.name + ": |-\n")
			writeIndented(&b, "      ", part.text)
		}
	}
	return b.String()
}

// leaveOutSilent leaves out the kinds of which not every policy has a status: an expression over an
// object without one is an error, and Flux would wait for it.
func (c Checks) leaveOutSilent() Checks {
	out := Checks{}
	for _, l := range c.LeftOut {
		out.LeftOut = append(out.LeftOut, LeftOut{l.Reason, slices.Clone(l.Kinds)})
	}
	for _, check := range c.All {
		if check.State == nil && len(check.Words.Required) == 0 {
			out.leaveOut(MayBeSilent, check.Kind)
		} else {
			out.All = append(out.All, check)
		}
	}
	return out
}

// writeLeftOut says which kinds have no check, as comments.
func (c Checks) writeLeftOut(b *strings.Builder) {
	for _, l := range c.LeftOut {
		line := "# No check, because"
		words := strings.Fields(strings.ToLower(string(l.Reason[:1])) + string(l.Reason[1:]) + ":")
		for i, gk := range l.Kinds {
			name := gk.String()
			if l.Reason == Unnamable {
				name = quoteCEL(name)
			}
			if i < len(l.Kinds)-1 {
				name += ","
			}
			words = append(words, name)
		}
		for _, word := range words {
			if len(line)+1+len(word) > 100 {
				b.WriteString(line + "\n")
				line = "#  "
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
}

// writeIndented writes the lines of a text with blanks before each.
func writeIndented(b *strings.Builder, blanks, text string) {
	for line := range strings.Lines(text) {
		b.WriteString(blanks + strings.TrimSuffix(line, "\n") + "\n")
	}
}
