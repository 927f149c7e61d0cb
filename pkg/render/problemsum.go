package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// sum writes all problems of one code in one line.
func (p printer) sum(all []trouble) {
	p.tell(all[0].Severity, sumText(all))
	for i := range all {
		if all[i].Hint != all[0].Hint {
			return
		}
	}
	if all[0].Hint != "" {
		p.hint(all[0].Hint)
	}
}

// sumText says what is wrong so many times: in how many places what is missing is named, else the first with the number of the others.
func sumText(all []trouble) string {
	missing := map[model.Ref]bool{}
	owners := map[model.Ref]bool{}
	kind, n, each := "", 0, true
	for i := range all {
		for _, problem := range append([]model.Problem{all[i].Problem}, all[i].also...) {
			n++
			if problem.Missing == nil || problem.Ref == nil {
				each = false
				continue
			}
			missing[problem.Missing.WithoutSection()], owners[*problem.Ref] = true, true
			kind = sameKind(kind, problem.Missing.Kind)
		}
	}
	code := string(all[0].Code)
	switch what := fmt.Sprintf("%d %s", len(missing), pluralOf(kind, len(missing))); {
	case each && all[0].Code == model.BackendNotFound:
		return fmt.Sprintf("%d backend references of %s lead to %s not there, such as %s (%s)", n, view.Counted(len(owners), "route"), what+are(len(missing)), all[0].Missing, code)
	case each && all[0].Code == model.TargetNotFound:
		return fmt.Sprintf("%d policies target %s not there, such as %s: they do not attach there (%s)", len(owners), what+are(len(missing)), all[0].Missing, code)
	}
	return strings.TrimSuffix(all[0].sentence(), ".") + fmt.Sprintf(" (and %d more of this kind: %s)", n-1, code)
}

// sameKind is the kind that all have, "object" where they differ.
func sameKind(known, kind string) string {
	if known == "" || known == kind {
		return kind
	}
	return "object"
}

func pluralOf(kind string, n int) string {
	kind = cmp.Or(kind, "object")
	switch {
	case n == 1:
		return kind
	case strings.HasSuffix(kind, "s"):
		return kind + "es"
	}
	return kind + "s"
}

func are(n int) string {
	if n == 1 {
		return " that is"
	}
	return " that are"
}
