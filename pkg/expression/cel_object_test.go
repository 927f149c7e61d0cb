package expression

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Expressions see the same in a packed object as in maps, errors included.
func TestExpressionsOverPackedObjects(t *testing.T) {
	doc := obj{"spec": obj{"a": int64(1), "s": "text", "none": nil, "list": []any{obj{"x": int64(1)}, int64(2)},
		"m": obj{"k": obj{"v": true}}, "empty": obj{}},
		"kind": "Paint", "metadata": obj{"name": "p"}}
	for _, rule := range []string{
		"has(self.spec.a)", "has(self.spec.gone)", "self.spec.gone == 1", "has(self.spec.none)",
		"self.spec.none == null", "size(self.spec) == 6",
		"'a' in self.spec", "'gone' in self.spec", "1 in self.spec", "self.spec.m == {'k': {'v': true}}",
		"{'k': {'v': true}} == self.spec.m",
		"self.spec.m == self.spec.m", "self.spec.m == self.spec.empty", "self.spec['s'].startsWith('te')",
		"self.spec.list[0].x == self.spec.a",
		"self.spec.all(k, k != 'b')", "self.spec.exists(k, k == 'gone')", "type(self.spec) == map",
		"string(self.spec.a) == '1'", "self.spec.m.k.v",
		"self.spec.list == [{'x': 1}, 2]", "self.spec.s == self.kind",
		"spec.a == 1 && kind == 'Paint' && metadata.name == 'p'", "dyn(self.spec).a == 1.0",
	} {
		c := (&Conditions{unlimited: true}).Compile(rule)
		want, wantErr := c.Holds(doc)
		got, err := c.evaluate(bindObject(model.Pack(doc, nil)))
		if got != want || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%s: %v (%v), over maps %v (%v)", rule, got, err, want, wantErr)
		}
	}
}
