package reference

// Gap is what a cluster withholds of a reference: the object, or even whether a grant permits it.
type Gap int

const (
	NoGap Gap = iota
	ObjectGap
	GrantGap
)

// OrElse returns u, or else what also is not resolved: known trouble comes before what is not
// known.
func (u Unresolved) OrElse(also Unresolved) Unresolved {
	out := u
	if u.Reason == "" && (also.Reason != "" || u.Message == "") {
		out = also
	}
	out.Gap = max(u.Gap, also.Gap)
	return out
}

// Unresolved says why a reference cannot be used: the reason of the ResolvedRefs condition of what
// makes it. Without a Reason it is not known whether it can, because what would tell could not be
// read or is not in the input.
type Unresolved struct {
	Reason, Message string

	Gap Gap // what a cluster did not let us read, if that would tell
}
