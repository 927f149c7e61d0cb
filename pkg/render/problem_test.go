package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func problems() []model.Problem {
	ref := func(name string) *model.Ref {
		return &model.Ref{Group: "example.com", Kind: "AuthPolicy", Namespace: "bakery", Name: name}
	}
	at := func(line int) *model.Origin { return &model.Origin{File: "demo/bakery.yaml", Line: line} }
	ps := []model.Problem{
		{Severity: model.Error, Code: model.InvalidYAML, Origin: at(12),
			Message: "mapping values are not allowed here"},
		{Severity: model.Warning, Code: model.Forbidden,
			Ref:     &model.Ref{Group: "example.com", Kind: "AuthPolicy", Namespace: "infra", Name: "*"},
			Message: "cannot list authpolicies.example.com in namespace infra (forbidden)",
			Hint:    "ask for: get, list on authpolicies.example.com in infra"},
		{Severity: model.Warning, Code: model.TargetNotFound, Ref: ref("typo"), Origin: at(30),
			Message: "gateway/infra/externall is not found", Hint: "did you mean gateway/infra/external?"},
		{Severity: model.Warning, Code: model.TargetNotFound, Ref: ref("typo-2"), Origin: at(40),
			Message: "gateway/infra/externall is not found", Hint: "did you mean gateway/infra/external?"},
		{Severity: model.Warning, Code: model.TargetNotFound, Ref: ref("gone"), Origin: &model.Origin{Cluster: "prod"},
			Message: "authpolicy/bakery/gone targets nothing"},
		{Severity: model.Info, Code: model.NamespaceAssumed,
			Message: "3 objects have no namespace, default is assumed"},
	}
	for i := range 25 {
		ps = append(ps, model.Problem{Severity: model.Warning, Code: model.WrongType, Ref: ref(fmt.Sprintf("p%d", i)),
			Message: fmt.Sprintf("spec.x%d is no list", i)})
	}
	for i := range 9 {
		ps = append(ps, model.Problem{Severity: model.Warning, Code: model.UnknownStrategy,
			Ref: ref(fmt.Sprintf("s%d", i)), Message: "strategy patchwork is not known, atomic is used"})
	}
	return ps
}

func TestProblems(t *testing.T) {
	for name, o := range map[string]ProblemOptions{"problems": {}, "problems.verbose": {Verbose: true, ASCII: true},
		"problems.color": {Color: true}} {
		var out bytes.Buffer
		if err := WriteProblems(&out, problems(), o); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.Bytes())
	}
}

func TestProblemsOfNobody(t *testing.T) {
	var out strings.Builder
	if err := WriteProblems(&out, []model.Problem{{Severity: model.Info, Message: "x"}},
		ProblemOptions{}); err != nil || out.Len() > 0 {
		t.Errorf("got %q, %v", out.String(), err)
	}
}
