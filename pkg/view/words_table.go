package view

import (
	"fmt"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"slices"
	"strings"
)

// The words of the columns WHY and REASON. They are few and always the same, because people learn them:
//
//	set here (rule)                   a policy on the target itself, or on the object that the target is a part of
//	default of Gateway                a default from a higher level; no policy below it
//	default of Gateway, not replaced  the same; there are policies below it, and none of them sets this
//	override of Gateway               an override; whatever stands below cannot change it
//	merged from Gateway, route        a value put together from several policies, weakest first
//	…, condition true                 the block has a condition, and it was met
//	API default                       (or another label) a value that no policy wrote
//
// followed, where somebody else wanted the same setting, by
//
//	, beats bakery/baker-all              it overrides that policy
//	, beats bakery/other (same level)     both stand on one level; the kind's order decides
//	, replaces infra/gw-auth              that policy's default gave way
//
// Levels: GatewayClass, Gateway, listener of the Gateway (where it means one of a ListenerSet), ListenerSet, listener, route, rule, backend, port,
// Service, Namespace, mesh, …; "parent route" is a route that delegates to the target's.

// levelWord is how a level is written.
func levelWord(level string) string {
	switch level {
	case "gatewayClass", "gateway", "listenerSet", "namespace", "service":
		return strings.ToUpper(level[:1]) + level[1:]
	case "section":
		return "listener of the Gateway"
	}
	return level
}

// whyText says in one line why r is as it is.
func whyText(item *EffectivePolicy, r *Rule) string {
	if len(r.Sources) == 0 {
		return "-"
	}
	return whyGround(item, r) + whyOutcome(r)
}

// whyGround is the first half of why: by what right the value stands.
func whyGround(item *EffectivePolicy, r *Rule) string {
	if r.Sources[0].Level == string(topology.Workload) && r.Sources[0].Builtin == "" { // policies of pods attach by selecting them
		return nounFor(len(r.Sources), "selects it|select it")
	}
	if len(r.Sources) > 1 {
		var levels []string
		for _, s := range r.Sources {
			if word := placeWord(item, s); !slices.Contains(levels, word) {
				levels = append(levels, word)
			}
		}
		return "merged from " + strings.Join(levels, ", ")
	}
	if item.ofRoute {
		return "set in the route"
	}
	s := r.Sources[0]
	override := s.Block == "overrides"
	condition := ""
	if s.Condition != "" {
		condition = ", condition true"
	}
	switch {
	case s.Builtin != "":
		return s.Builtin
	case isHere(item, s) && !(override && slices.ContainsFunc(r.Lost, isOverride)):
		return "set here (" + levelWord(s.Level) + ")"
	case override:
		return "override of " + placeWord(item, s) + condition
	case item.Ordered: // nothing gives way in a list
		return "of " + placeWord(item, s) + condition
	case anyBelow(item, s):
		return "default of " + placeWord(item, s) + ", not replaced" + condition
	}
	return "default of " + placeWord(item, s) + condition
}

// isHere reports whether s stands on the target of item or on the object that the target is a section of.
func isHere(item *EffectivePolicy, s Source) bool {
	return *s.Target == item.Target || *s.Target == item.Target.Whole()
}

func placeWord(item *EffectivePolicy, s Source) string {
	if s.Builtin != "" {
		return s.Builtin
	}
	if (s.Level == "route" || s.Level == "rule") && s.Target.Whole() != item.Target.Whole() {
		return "parent " + s.Level
	}
	return levelWord(s.Level)
}

// anyBelow reports whether a policy that takes part stands on a more specific place than s.
func anyBelow(item *EffectivePolicy, s Source) bool {
	at := -1
	for i, use := range item.Policies {
		same := *use.Target == *s.Target && use.Level == s.Level
		switch {
		case same:
			at = i
		case at >= 0 && use.Builtin == "" && use.Role != "ignored":
			return true
		}
	}
	return false
}

func isOverride(l Loss) bool {
	return l.Reason == "LessSpecificOverrides" || l.Reason == "AtomicOverridden"
}

// whyOutcome is the second half of why: whom the value beat. In a chain of three the last winner beats only those of its own
// direction: an override does not replace the default that somebody below it had replaced already.
func whyOutcome(r *Rule) string {
	var beaten, level, replaced []string
	byOverride := r.Sources[len(r.Sources)-1].Block == "overrides"
	for _, l := range r.Lost {
		switch l.Reason {
		case "LessSpecificOverrides", "AtomicOverridden":
			if byOverride {
				beaten = append(beaten, loserName(r, l))
			}
		case "MoreSpecificWins", "AtomicReplaced":
			if !byOverride {
				replaced = append(replaced, loserName(r, l))
			}
		case "BuiltInWins", "Conflicted":
			beaten = append(beaten, loserName(r, l))
		case "SameLevelOrder":
			level = append(level, loserName(r, l))
		}
	}
	return loserText(", beats ", beaten, "") + loserText(", beats ", level, " (same level)") + loserText(", replaces ", replaced, "")
}

func loserText(verb string, names []string, suffix string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 2:
		return fmt.Sprintf("%s%s and %d more%s", verb, names[0], len(names)-1, suffix)
	}
	return verb + strings.Join(names, ", ") + suffix
}

// loserName is the policy that lost; a policy may also beat a block of its own.
func loserName(r *Rule, l Loss) string {
	winner := r.Sources[len(r.Sources)-1]
	if l.Policy != nil && winner.Policy != nil && *l.Policy == *winner.Policy && *l.Target == *winner.Target {
		return "its own " + l.Block
	}
	return sourceName(l.Source)
}

// reasonWords are the words of a loss; to are the winners, as far as they are known.
func reasonWords(reason string, to []Source) string {
	switch reason {
	case "MoreSpecificWins":
		return "more specific default"
	case "AtomicReplaced":
		return "replaced whole" + ofLevel(" by ", to)
	case "LessSpecificOverrides":
		return "override" + ofLevel(" of ", to)
	case "AtomicOverridden":
		return "atomic override" + ofLevel(" of ", to)
	case "SameLevelOrder":
		return "order on the same level"
	case "Unset":
		return "unset"
	case "ConditionFalse":
		return "condition false"
	case "Conflicted":
		return "conflict"
	case "BuiltInWins":
		return "built in"
	case "NotEvaluated":
		return "not evaluated"
	case "Invalid":
		return "policy in error"
	case "Shadowed":
		return "never reached"
	case "NoEffect":
		return "no effect"
	case "Ignored":
		return "ignored"
	}
	return reason
}

func ofLevel(preposition string, to []Source) string {
	if len(to) == 0 || to[0].Level == "" {
		return ""
	}
	return preposition + levelWord(to[0].Level)
}
