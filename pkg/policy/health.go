package policy

// HealthWords say what the conditions of a policy mean for its health. Each entry of the status is
// judged: that of an ancestor, and the policy's own conditions.
type HealthWords struct {
	Own       bool     // the status has no ancestors
	Required  []string // types that every entry has and that must be True; nil: not all policies have a status
	Judged    []string // types that must be True where they are
	Adverse   []string // types, and reasons of the types above, that are a fault where the condition is True
	Mentioned []string // types and reasons that the answer about a healthy policy repeats where the condition is True
}
