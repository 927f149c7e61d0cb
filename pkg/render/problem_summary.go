package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// writeSummary writes all problems of one code in one line.
func (p printer) writeSummary(all []problemGroup) {
	p.writeSeverity(all[0].Severity, summarizeProblems(all))
	for i := range all {
		if all[i].Hint != all[0].Hint {
			return
		}
	}
	if all[0].Hint != "" {
		p.writeHint(all[0].Hint)
	}
}

// summarizeProblems says what is wrong so many times: in how many places what is missing is named,
// else the first with the number of the others.
func summarizeProblems(all []problemGroup) string {
	missing := map[model.Ref]bool{}
	owners := map[model.Ref]bool{}
	kind, n, each := "", 0, true
	for i := range all {
		for _, problem := range append([]model.Problem{all[i].Problem}, all[i].alike...) {
			n++
			if problem.MissingRef == nil || problem.Ref == nil {
				each = false
				continue
			}
			missing[problem.MissingRef.WithoutSection()], owners[*problem.Ref] = true, true
			kind = commonKind(kind, problem.MissingRef.Kind)
		}
	}
	code := string(all[0].Code)
	switch what := fmt.Sprintf("%d %s", len(missing), pluralizeKind(kind, len(missing))); {
	case each && all[0].Code == model.BackendNotFound:
		return fmt.Sprintf("%d backend references of %s lead to %s not there, such as %s (%s)", n,
			view.FormatCount(len(owners), "route"), what+formatRelativeVerb(len(missing)), all[0].MissingRef, code)
	case each && all[0].Code == model.TargetNotFound:
		return fmt.Sprintf("%d policies target %s not there, such as %s: they do not attach there (%s)", len(owners),
			what+formatRelativeVerb(len(missing)), all[0].MissingRef, code)
	}
	return strings.TrimSuffix(all[0].formatSentence(), ".") + fmt.Sprintf(" (and %d more of this kind: %s)", n-1, code)
}

// commonKind is the kind that all have, "object" where they differ.
func commonKind(known, kind string) string {
	if known == "" || known == kind {
		return kind
	}
	return "object"
}

func pluralizeKind(kind string, n int) string {
	kind = cmp.Or(kind, "object")
	switch {
	case n == 1:
		return kind
	case strings.HasSuffix(kind, "s"):
		return kind + "es"
	}
	return kind + "s"
}

func formatRelativeVerb(n int) string {
	if n == 1 {
		return " that is"
	}
	return " that are"
}
