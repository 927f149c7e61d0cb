package ingress

import (
	"net/netip"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// Effects are what the policies and filters of a vendor do to a request that a rule of a Gateway
// takes, beyond what the Gateway API itself says and what gates tell (pkg/protect).
type Effects struct {
	Lists     []AddressList // all have to let the client's address pass
	Rewrite   func(path string) (string, bool)
	BodyLimit int64     // in bytes; 0: none
	Settings  []Setting // in the canonical names of Setting
	Unknown   []string  // what may change the answer and is not evaluated, a sentence each
}

// AddressList is an ordered list of rules on the client's address; the first that has it decides.
type AddressList struct {
	Object model.Ref // that sets it
	Rules  []AddressRule
	Allow  bool // what becomes of the others
}

// AddressRule allows or denies addresses.
type AddressRule struct {
	Allow  bool
	Ranges []netip.Prefix
}

// FindBarrier returns whether an address passes, and the barrier that refuses it: DenyList if a rule names
// it, else AllowList.
func (l *AddressList) FindBarrier(a netip.Addr) (passes bool, by Barrier) {
	for _, r := range l.Rules {
		for _, p := range r.Ranges {
			if p.Contains(a) {
				return r.Allow, DenyList
			}
		}
	}
	return l.Allow, AllowList
}

// AddEffects adds what another vendor does. Rewrites follow each other, and the lower limit counts.
func (e *Effects) AddEffects(o *Effects) {
	e.Lists, e.Settings = append(e.Lists, o.Lists...), append(e.Settings, o.Settings...)
	e.Unknown = append(e.Unknown, o.Unknown...)
	if o.BodyLimit != 0 && (e.BodyLimit == 0 || o.BodyLimit < e.BodyLimit) {
		e.BodyLimit = o.BodyLimit
	}
	switch first := e.Rewrite; {
	case first == nil:
		e.Rewrite = o.Rewrite
	case o.Rewrite != nil:
		e.Rewrite = func(path string) (string, bool) {
			path, changed := first(path)
			again, more := o.Rewrite(path)
			return again, changed || more
		}
	}
}

// EffectReader returns what one vendor's policies and filters do to a request that a rule takes; nil:
// nothing.
type EffectReader func(r *resolve.Resolution, a *request.Answer) *Effects
