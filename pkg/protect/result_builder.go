package protect

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// resultBuilder makes a result in which nothing is twice.
type resultBuilder struct {
	Result
	seen map[any]bool // a Use, a reasonKey, a methodKey or a counterKey
}

type (
	reasonKey struct {
		code   gate.Code
		field  string
		about  bool
		object model.Ref
	}
	methodKey  string
	counterKey string
)

func newResultBuilder(v gate.Verdict) *resultBuilder {
	return &resultBuilder{Result: Result{Verdict: v}}
}

// isNew reports whether a key was not seen before.
func (b *resultBuilder) isNew(key any) bool {
	if b.seen[key] {
		return false
	}
	if b.seen == nil {
		b.seen = map[any]bool{}
	}
	b.seen[key] = true
	return true
}

// addResult adds what another result of the same verdict says.
func (b *resultBuilder) addResult(r *Result) {
	for _, u := range r.By {
		b.addUse(u)
	}
	for _, reason := range r.Because {
		b.addReason(reason)
	}
	for _, m := range r.Methods {
		b.addMethod(m)
	}
	for _, c := range r.Counters {
		b.addCounter(c)
	}
}

func (b *resultBuilder) addUse(u Use) {
	if b.isNew(u) {
		b.By = append(b.By, u)
	}
}

func (b *resultBuilder) addMethod(m string) {
	if b.isNew(methodKey(m)) {
		b.Methods = append(b.Methods, m)
		slices.Sort(b.Methods)
	}
}

// addReason adds a reason: another one with the same code for the same field says no more.
func (b *resultBuilder) addReason(r Reason) {
	if r.Code == gate.Required && r.Object == nil {
		return
	}
	key := reasonKey{code: r.Code, field: r.Field}
	if r.Object != nil {
		key.about, key.object = true, *r.Object
	}
	if b.isNew(key) {
		b.Because = append(b.Because, r)
	}
}

func (b *resultBuilder) addCounter(c Counter) {
	if b.isNew(counterKey(c.formatKey())) {
		b.Counters = append(b.Counters, c)
	}
}
