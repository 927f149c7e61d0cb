package ingress

import (
	"net/netip"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// Effects are what the policies and filters of a vendor do to a request that a rule of a Gateway
// takes, beyond what the Gateway API itself says and what gates tell (pkg/protect).
type Effects struct {
	Lists []AddressList // all have to let the client's address pass
	// Rewrite returns the path that backends get in the place of the one that answers say is sent
	// (request.Answer), without the query; false: it leaves it. nil: nothing rewrites it.
	Rewrite func(path string) (string, bool)
	// Redirect returns the status and the Location of a redirect; 0: the request is not redirected.
	// nil: nothing redirects it.
	Redirect func(*request.Request) (status int, location string)
	// RedirectsFirst is true if gates and Lists are not asked about a request that is redirected.
	RedirectsFirst bool
	// Status is that of an answer that every request gets which gates and Lists let pass, in the
	// place of a backend's; 0: there is none.
	Status    int
	BodyLimit int64     // in bytes; 0: none
	Settings  []Setting // in the canonical names of Setting
	// Covers are the fields of which all is said here that gates know: who reads both need not ask
	// what these gates do.
	Covers []FieldRef
	// Unknown has a sentence for all that may change the answer and is not evaluated: also for each
	// open filter of the rule (request.Answer) of which it is not known what it does.
	Unknown []string
}

// FieldRef is a field of an object.
type FieldRef struct {
	Object model.Ref
	Field  string
}

// AddressList is an ordered list of rules on the client's address; the first that has it decides.
type AddressList struct {
	Rules []AddressRule
	Allow bool // what becomes of the others
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

// AddEffects adds what another vendor does.
func (e *Effects) AddEffects(o *Effects) {
	e.Lists, e.Settings = append(e.Lists, o.Lists...), append(e.Settings, o.Settings...)
	e.Covers, e.Unknown = append(e.Covers, o.Covers...), append(e.Unknown, o.Unknown...)
	e.LimitBody(o.BodyLimit)
	if o.Rewrite != nil {
		e.AddRewrite(o.Rewrite)
	}
	if o.Redirect != nil {
		e.Redirect, e.RedirectsFirst = o.Redirect, o.RedirectsFirst
	}
	if o.Status != 0 {
		e.Status = o.Status
	}
}

// IsCovered reports whether all is said of a field that gates know.
func (e *Effects) IsCovered(object model.Ref, field string) bool {
	return slices.Contains(e.Covers, FieldRef{object, field})
}

// EffectReader returns what one vendor's policies and filters do to a request that a rule takes; nil:
// nothing.
type EffectReader func(r *resolve.Resolution, a *request.Answer) *Effects
