package gate

import "strings"

// Protection says which settings of a policy kind keep requests out, or bound what they may do.
type Protection struct {
	// Nearest is true where the settings in force at a route rule stand in the place of those of
	// the same kind above it. Else those of all places on the way of a request count.
	Nearest bool
	InError int // what requests are answered where a policy of the kind is in error; 0: they pass without it
	Rules   []Rule
	// MissingPasses is true where requests pass a filter of a rule that names an object that does
	// not exist. Else they get an error.
	MissingPasses bool
	// Everywhere is the registered function that makes gates on every way, whether or not settings
	// of the kind are in force there; "": none.
	Everywhere string
}

// Rule describes one way in which settings of a kind establish a property of requests: a gate.
type Rule struct {
	Property Property
	// path in the settings; "*" is any key or entry. There is a gate for each value that is found;
	// nil: there is one
	At       []string
	Method   string            // of authentication, such as jwt
	Methods  map[string]string // the method by the field that is set below At
	Any      string            // gates with the same word are alternatives: one of them is enough to get through
	OnlyIf   []Value           // there is a gate only if all of these are set
	Unless   []Weakness        // the gate fails, or is open, where one of these is set
	Always   Code              // the reason of a gate that never holds
	Constant string            // how to tell that the value at At decides nothing; see Constants
	Implicit Code              // the reason if no gate of the property is set, though the kind sets something
	Answers  []Status          // what the gate may answer
	Missing  []Status          // of these, what it answers where the credential is missing; nil: all of Answers
	Reads    []string          // where the credential is; see Reads of pkg/protect
	Order    int               // gates with a lower number are asked first
	Counter  *Counter          // of a rate limit
	Func     string            // the registered function that completes the gate; "": none
}

// Value is a setting with one value.
type Value struct {
	Path []string
	Text string // the value as text; "": any
}

// Weakness is a setting that takes from a gate, and the reason.
type Weakness struct {
	Value
	Code Code
}

// Status is one status of an answer: a number, that of a setting, or any.
type Status struct {
	Number int      // also the one in the place of a setting that is not there; 0: none
	At     []string // the setting that has the number; nil: there is none
	Any    bool     // a service chooses the status
}

// Counter says how a limit counts. Limit, Per and Key are paths below the gate, or words that stand
// for themselves in quotes.
type Counter struct {
	Limit, Per, Key, Scope, Replicas string
}

// Constants lists the ways to tell that a value decides nothing.
func Constants() []string {
	return []string{"rego", "cel", "cidr", "origins", "patterns"}
}

// KeepsOut reports whether settings keep requests out, of which sets says whether something is set
// at or below a dotted path, or "*": anything.
func (p *Protection) KeepsOut(sets func(path string) bool) bool {
	for i := range p.Rules {
		r := &p.Rules[i]
		if (r.Property.IsAccess() || r.Property == WAF) && r.Implicit == "" && !r.isDoubt() && sets(fixedPath(r.At)) &&
			!r.isDisabled(sets) {
			return true
		}
	}
	return false
}

// isDoubt reports whether a function tells of which settings nothing is known: the settings alone
// say nothing.
func (r *Rule) isDoubt() bool { return r.Always == NotRead && r.Func != "" }

func (r *Rule) isDisabled(sets func(path string) bool) bool {
	for _, u := range r.Unless {
		if u.Code == Disabled && u.Text == "" && sets(strings.Join(u.Path, ".")) {
			return true
		}
	}
	return false
}

// fixedPath is a path up to its first wildcard, dotted; "*" if that is nothing.
func fixedPath(at []string) string {
	for i, name := range at {
		if name == "*" {
			at = at[:i]
			break
		}
	}
	if len(at) == 0 {
		return "*"
	}
	return strings.Join(at, ".")
}
