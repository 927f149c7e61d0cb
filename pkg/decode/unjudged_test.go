package decode

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

func TestFieldsThatAreNotEvaluatedAreSaid(t *testing.T) {
	k := usual(t)
	k.Unevaluated = []policy.UnevaluatedField{{Path: []string{"spec", "lua", "script"}, Message: "scripts are not run"}}
	if p := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+
		", lua: {script: x}}")); len(p.Problems) != 1 || p.Problems[0].Code != model.NotEvaluated ||
		p.Problems[0].Message != "spec.lua.script: scripts are not run" {
		t.Errorf("%+v", p.Problems)
	}
	if p := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+", lua: {}}")); len(
		p.Problems) != 0 {
		t.Errorf("%+v", p.Problems)
	}
}
