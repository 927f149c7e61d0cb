package policy

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestFieldsThatAreNotEvaluatedAreSaid(t *testing.T) {
	k := newKind()
	k.Unjudged = []Unjudged{{Path: []string{"spec", "lua", "script"}, Message: "scripts are not run"}}
	if p := k.Decode(painted(t, "{"+toGateway+", lua: {script: x}}"), &Conditions{}); len(p.Problems) != 1 || p.Problems[0].Code != model.NotEvaluated ||
		p.Problems[0].Message != "spec.lua.script: scripts are not run" {
		t.Errorf("%+v", p.Problems)
	}
	if p := k.Decode(painted(t, "{"+toGateway+", lua: {}}"), &Conditions{}); len(p.Problems) != 0 {
		t.Errorf("%+v", p.Problems)
	}
}
