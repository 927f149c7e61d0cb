package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// IgnoreAnnotation lists ids of findings about its object that do not count, separated by commas.
const IgnoreAnnotation = "dopolicy.dev/ignore"

// Who asks for a finding not to count.
const (
	ByFlag       = "flag"
	ByConfig     = "config"
	ByAnnotation = "annotation"
)

// splitIDs returns the words of a list with commas.
func splitIDs(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
}

// isAboutRequirement reports whether findings of an id are about requirements. Those are made of
// objects, not by them: an annotation would exempt every route from what is required of it.
func isAboutRequirement(id string) bool {
	return strings.HasPrefix(id, requirement.CodePrefix) ||
		slices.Contains([]model.Code{model.RequirementUnknown, model.RequirementError,
			model.RequirementSelectsNothing}, model.Code(id))
}

// findUnknownIgnores reports annotations that ask for something that is no id, in which a typing
// error would go unnoticed, or for what an annotation cannot ignore.
func findUnknownIgnores(r *resolve.Resolution, o Options) []Finding {
	var out []Finding
	for _, object := range r.Snapshot.Objects {
		for _, id := range splitIDs(object.Annotations[IgnoreAnnotation]) {
			p := model.Problem{Severity: model.Warning, Code: model.UnknownIgnore,
				Message: fmt.Sprintf("annotation %s: there are no findings %q", IgnoreAnnotation,
					id), Hint: "list them with: kubectl dopolicy check --list"}
			switch near := o.Catalogue.Nearest(id); {
			case isAboutRequirement(id):
				p.Message = fmt.Sprintf(
					"annotation %s: %q is about a requirement, which the objects that it is held against cannot ignore", IgnoreAnnotation, id)
				p.Hint = "whoever runs the check can ignore it, with --ignore or in the config file"
			case o.Catalogue.Known(id):
				continue
			case len(near) > 0:
				p.Hint = "did you mean " + near[0] + "?"
			}
			if f := NewFinding(p.At(object, "metadata", "annotations", IgnoreAnnotation)); o.selectsFinding(f, r) {
				out = append(out, f)
			}
		}
	}
	return out
}

// suppressor decides which findings do not count.
type suppressor struct {
	snapshot *model.Snapshot
	flags    []string
	config   Config
	used     []bool // by entry of the config
}

func newSuppressor(r *resolve.Resolution, o Options) *suppressor {
	return &suppressor{snapshot: r.Snapshot, flags: o.Ignore, config: o.Config,
		used: make([]bool, len(o.Config.Ignore))}
}

// findSuppression says who asked for a finding not to count, or nil: it counts.
func (s *suppressor) findSuppression(f *Finding) *Suppression {
	var by *Suppression
	for i, entry := range s.config.Ignore {
		if entry.matchesFinding(f) {
			s.used[i] = true
			if by == nil {
				by = &Suppression{By: ByConfig, Reason: entry.Reason}
			}
		}
	}
	switch {
	case s.hasAnnotation(f):
		return &Suppression{By: ByAnnotation}
	case by != nil:
		return by
	case s.config.Severity[f.ID] == off:
		return &Suppression{By: ByConfig, Reason: "its severity is " + off}
	case slices.Contains(s.flags, f.ID):
		return &Suppression{By: ByFlag}
	}
	return nil
}

// hasAnnotation reports whether the object of a finding asks for it not to count.
func (s *suppressor) hasAnnotation(f *Finding) bool {
	if f.Ref == nil || isAboutRequirement(f.ID) {
		return false
	}
	o := s.snapshot.Get(*f.Ref)
	return o != nil && slices.Contains(splitIDs(o.Annotations[IgnoreAnnotation]), f.ID)
}

// listUnused names the entries of the config that matched nothing.
func (s *suppressor) listUnused() []string {
	var out []string
	for i, entry := range s.config.Ignore {
		if !s.used[i] {
			out = append(out, fmt.Sprintf("%s: nothing is found that this entry ignores (%s)", entry.place, entry.ID))
		}
	}
	return out
}

// matchesFinding reports whether an entry is about a finding.
func (i *Ignore) matchesFinding(f *Finding) bool {
	if i.ID != f.ID {
		return false
	}
	if len(i.Namespaces) > 0 && (f.Ref == nil ||
		!slices.ContainsFunc(i.Namespaces, func(p string) bool { return matchesGlob(p, f.Ref.Namespace) })) {
		return false
	}
	if i.Object == "" {
		return true
	}
	return f.Ref != nil && matchesGlob(i.Object, f.Ref.WithoutSection().String())
}

// matchesGlob matches a pattern in which * stands for any text without a slash. Patterns were tried
// when they were read.
func matchesGlob(pattern, s string) bool {
	ok, err := path.Match(pattern, s)
	return err == nil && ok
}
