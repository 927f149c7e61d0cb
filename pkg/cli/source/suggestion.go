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
	if err != nil || len(f.found) == 0 {
		return nil
	}
	ref := f.found[0].Policy.Ref()
	word := LowerKind(ref) + "/" + ref.Name
	if f.rule != "" {
		word += "/" + f.rule
	}
	what := fmt.Sprintf("%s is a policy, not a target", ref)
	if len(f.found) > 1 {
		what = fmt.Sprintf("%q is the name of %d policies, not of a target: %s", f.name, len(f.found),
			FormatRefs(f.policyRefs()))
	}
	return failure.Usage("to see where it is in force: "+s.formatCommand(ref.Namespace, "reach", word), "%s", what)
}

// targetForPolicy returns the error of naming a target where a policy is expected; nil if the text
// names none.
func (s *Session) targetForPolicy(text string) error {
	parts := strings.Split(text, "/")
	var w TargetName
	if gk, ok := s.FindKind(parts[0]); ok && len(parts) > 1 && s.FindPolicyKinds(parts[0]) == nil {
		w.Kind, parts = gk, parts[1:]
	}
	w.name = parts[0]
	for _, ref := range s.ListCandidates(w) {
		if ref.Name != w.name || len(s.Graph.Lookup(ref)) == 0 {
			continue
		}
		word := strings.Join(append([]string{LowerKind(ref)}, parts...), "/")
		return failure.Usage("to see what is in force there: "+s.formatCommand(ref.Namespace, "effective", word),
			"%s is not a policy", ref)
	}
	return nil
}

// formatCommand writes a command about an object of a namespace, for people to type.
func (s *Session) formatCommand(namespace string, words ...string) string {
	out := []string{"kubectl dopolicy"}
	if namespace != "" {
		words = append(words, "-n", namespace)
	}
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
