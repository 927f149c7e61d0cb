package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// missingOne is a problem of an object that names one that is not there.
func missingOne(code model.Code, owner, kind, name string) model.Problem {
	ref, to := model.Ref{Kind: "HTTPRoute", Namespace: "shop", Name: owner}, model.Ref{Kind: kind,
		Namespace: "shop", Name: name}
	return model.Problem{Severity: model.Warning, Code: code, Ref: &ref, MissingRef: &to, Message: owner +
		" names " + to.String()}
}

func TestManyOfAKindAreOneLine(t *testing.T) {
	told := func(problems []model.Problem) string {
		var out strings.Builder
		if err := WriteProblems(&out, problems, ProblemOptions{Rest: "look there"}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	var backends, targets, mixed, others []model.Problem
	for i := range 8 {
		backends = append(backends, missingOne(model.BackendNotFound, fmt.Sprintf("r%d", i/2), "Service",
			fmt.Sprintf("s%d", i/4)))
		targets = append(targets, missingOne(model.TargetNotFound, fmt.Sprintf("p%d", i), "Gateway", "edge"))
		mixed = append(mixed, missingOne(model.BackendNotFound, "r", []string{"Service", "Backend"}[i%2],
			fmt.Sprint("b", i)))
		others = append(others, model.Problem{Severity: model.Warning, Code: model.WrongType,
			Message: fmt.Sprintf("x%d is no list", i), Hint: "write a list"})
	}
	for _, c := range []struct {
		problems []model.Problem
		want     string
	}{
		{backends,
			"warning: 8 backend references of 4 routes lead to 2 Services that are not there, such as service/shop/s0 (BackendNotFound)\nhint: look there\n"},
		{targets,
			"warning: 8 policies target 1 Gateway that is not there, such as gateway/shop/edge: they do not attach there (TargetNotFound)\nhint: look there\n"},
		{mixed,
			"warning: 8 backend references of 1 route lead to 8 objects that are not there, such as service/shop/b0 (BackendNotFound)\nhint: look there\n"},
		{others, "warning: x0 is no list (and 7 more of this kind: WrongType)\nhint: write a list\nhint: look there\n"},
		{others[:3], "warning: x0 is no list\nwarning: x1 is no list\nwarning: x2 is no list\nhint: write a list\n"},
	} {
		if got := told(c.problems); got != c.want {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
	}
}
