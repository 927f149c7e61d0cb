package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// policyForTarget returns the error of naming a policy where a target is expected, with the command
// that takes it; nil if the text names none.
func (s *Session) policyForTarget(text string) error {
	f, err := s.searchPolicy(text)
	if err != nil {
		return nil
	}
	if f.found, _ = s.pickSettings(f.found); len(f.found) == 0 {
		return nil
	}
	ref := f.policyRefs()[0]
	what := fmt.Sprintf("%s is a policy, not a target", ref.WithoutSection())
	if len(f.found) > 1 {
		what = fmt.Sprintf("%q is the name of %d policies, not of a target: %s", text, len(f.found),
			FormatRefs(f.policyRefs()))
	}
	return failure.Usage("to see where it is in force: "+s.formatCommand("reach", ref.String()), "%s", what)
}

// targetForPolicy returns the error of naming a target where a policy is expected; nil if the text
// names none.
func (s *Session) targetForPolicy(text string) error {
	words := strings.Split(text, "/")
	var kind model.GroupKind
	if gk, ok := s.FindKind(words[0]); ok && len(words) > 1 && s.FindPolicyKinds(words[0]) == nil {
		kind, words = gk, words[1:]
	}
	for _, n := range listReadings(words) {
		for _, ref := range s.ListCandidates(TargetName{Kind: kind, objectName: n}) {
			if ref.Name == n.name && len(s.Graph.Lookup(ref)) > 0 {
				return failure.Usage("to see what is in force there: "+
					s.formatCommand("effective", ref.WithSection(n.section).String()), "%s is not a policy", ref)
			}
		}
	}
	return nil
}

// formatCommand writes a command for people to type.
func (s *Session) formatCommand(words ...string) string {
	out := []string{"kubectl dopolicy"}
	for _, w := range words {
		out = append(out, view.QuoteShellWord(w))
	}
	return strings.TrimSpace(strings.Join(out, " ") + " " + s.Flags.Args())
}

// findDefinedKind finds the kind that a word names in a CustomResourceDefinition of the input, or
// in the cluster if it is described.
func (s *Session) findDefinedKind(word string) (model.GroupKind, bool) {
	for _, o := range s.Snapshot.Definitions() {
		gk, _ := o.DefinedKind()
		names := o.Body.At("spec", "names")
		var short []string
		for _, v := range names.Field("shortNames").Items {
			short = append(short, v.Text())
		}
		for _, known := range append(SpellKind(gk, names.Text("plural"), short), names.Text("singular")) {
			if known == word {
				return gk, true
			}
		}
	}
	if c := s.Snapshot.Cluster; c != nil {
		for _, k := range c.Kinds {
			if s.Engine().Catalog().Kind(k.GroupKind) != nil && (k.Singular == word ||
				slices.Contains(SpellKind(k.GroupKind, k.Plural, k.ShortNames), word)) {
				return k.GroupKind, true
			}
		}
	}
	return model.GroupKind{}, false
}
