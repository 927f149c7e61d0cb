package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// mistaken finds out whether a word that names no target names a policy, and the other way round.
type mistaken struct{ *session }

// policy is the error of naming a policy where a target is asked for, with the command that takes it; nil if the text names none.
func (s mistaken) policy(text string) error {
	f, err := s.searchPolicy(text)
	if err != nil || len(f.found) == 0 {
		return nil
	}
	ref := f.found[0].policy.Ref()
	word := lowerKind(ref) + "/" + ref.Name
	if f.rule != "" {
		word += "/" + f.rule
	}
	what := fmt.Sprintf("%s is a policy, not a target", ref)
	if len(f.found) > 1 {
		what = fmt.Sprintf("%q is the name of %d policies, not of a target: %s", f.name, len(f.found), refList(f.refs()))
	}
	return usage("to see where it is in force: "+s.proposed(ref.Namespace, "reach", word), "%s", what)
}

// target is the error of naming a target where a policy is asked for; nil if the text names none.
func (s mistaken) target(text string) error {
	parts := strings.Split(text, "/")
	var w wanted
	if gk, ok := s.findKind(parts[0]); ok && len(parts) > 1 && s.policyKind(parts[0]) == nil {
		w.kind, parts = gk, parts[1:]
	}
	w.name = parts[0]
	for _, ref := range s.candidates(w) {
		if ref.Name != w.name || len(s.Graph.Lookup(ref)) == 0 {
			continue
		}
		word := strings.Join(append([]string{lowerKind(ref)}, parts...), "/")
		return usage("to see what is in force there: "+s.proposed(ref.Namespace, "effective", word), "%s is not a policy", ref)
	}
	return nil
}

// proposed is a command about an object of a namespace, for people to type.
func (s mistaken) proposed(namespace string, words ...string) string {
	out := []string{"kubectl dopolicy"}
	if namespace != "" {
		words = append(words, "-n", namespace)
	}
	for _, w := range words {
		out = append(out, view.ShellWord(w))
	}
	return strings.TrimSpace(strings.Join(out, " ") + " " + s.flags.given())
}

// kindOf reads a word as a kind by what a CustomResourceDefinition of the input calls it, or the cluster if it is described.
func (s mistaken) kindOf(word string) (model.GroupKind, bool) {
	for _, o := range s.Snapshot.Definitions() {
		gk, _ := o.Defines()
		names := o.Body.At("spec", "names")
		var short []string
		for _, v := range names.Field("shortNames").Items {
			short = append(short, v.Text())
		}
		for _, known := range append(kindNames(gk, names.Text("plural"), short), names.Text("singular")) {
			if known == word {
				return gk, true
			}
		}
	}
	if c := s.Snapshot.Cluster; c != nil {
		for _, k := range c.Kinds {
			if s.Engine().Catalog().Kind(k.GroupKind) != nil && (k.Singular == word || slices.Contains(kindNames(k.GroupKind, k.Plural, k.Short), word)) {
				return k.GroupKind, true
			}
		}
	}
	return model.GroupKind{}, false
}
