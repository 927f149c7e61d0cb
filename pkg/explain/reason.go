package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// reasonWords are what is said of a loss with a reason.
type reasonWords struct {
	short      string // for tables
	levelWord  string // what comes between short and the level of the winner; "": the level is not named
	outcome    string // for trees and reach: what became of the setting
	winnerWord string // what comes between that and the winner; "": " by "
	beats      string // what the winner does to the loser, for the line of the winner; "": nothing is said
	override   bool   // the winner is less specific
	clauses    func(t *lossContext) []clause
}

// byReason has the words of every reason; a test fails if one is missing.
var byReason = map[merge.Reason]reasonWords{
	merge.MoreSpecificWins: {short: "more specific default", outcome: "overridden", beats: replaces,
		clauses: byDecision("replaced by %s, which is ", describeStrength)},
	merge.AtomicReplaced: {short: "replaced as a whole", levelWord: " by ", outcome: "overridden", beats: replaces,
		clauses: (*lossContext).atomicReplacedClauses},
	merge.LessSpecificOverrides: {short: "override", levelWord: " of ", outcome: "overridden", beats: beats,
		override: true,
		clauses:  sameForAll("overridden by %s")},
	merge.AtomicOverridden: {short: "atomic override", levelWord: " of ", outcome: "overridden", beats: beats,
		override: true,
		clauses:  sameForAll("overridden as a whole by the atomic override of %s")},
	merge.SameLevelOrder: {short: "another policy on the same level comes first", outcome: "overridden", beats: sameLevel,
		clauses: byDecision("%s targets the same object and ", DescribeStanding)},
	merge.Conflicted: {short: "conflict", outcome: "rejected", beats: beats,
		clauses: (*lossContext).conflictedClauses},
	merge.Unset: {short: "unset", outcome: "unset",
		clauses: sameForAll("unset by %s")},
	merge.ConditionFalse: {short: "condition false", outcome: "condition false",
		clauses: (*lossContext).conditionFalseClauses},
	merge.BuiltInWins: {short: "built in", outcome: "overridden", beats: beats,
		clauses: sameForAll("%s beats policies")},
	merge.NoEffect: {short: "no effect", outcome: "no effect", winnerWord: " beside ",
		clauses: (*lossContext).noEffectClauses},
	merge.Invalid: {short: "policy in error", outcome: "in error", winnerWord: " because of ",
		clauses: (*lossContext).invalidClauses},
	merge.Ignored: {short: "ignored", outcome: "ignored",
		clauses: func(*lossContext) []clause { return []clause{{"the setting is not read at this place", nil}} }},
	merge.Shadowed: {short: "never reached", outcome: "never reached", winnerWord: " behind ",
		clauses: sameForAll("never reached: %s decides first")},
	merge.NotEvaluated: {short: "not evaluated", outcome: "not evaluated", winnerWord: " beside ",
		clauses: (*lossContext).notEvaluatedClauses},
}

// How a winner's line names the losers.
const (
	beats     = ", beats %s"
	sameLevel = ", beats %s (same level)"
	replaces  = ", replaces %s"
)

// ShortReason says a loss in a few words: "override of Gateway". The level is the winner's, "" if
// there is none.
func ShortReason(reason merge.Reason, level string) string {
	w := byReason[reason]
	if w.levelWord == "" || level == "" {
		return w.short
	}
	return w.short + w.levelWord + LevelName(level)
}

// DescribeOutcome says in a few words what became of a setting: "replaced by infra/gw". Without a
// winner it is a word or two.
func DescribeOutcome(reason merge.Reason, winner string) string {
	w := byReason[reason]
	if winner == "" {
		return w.outcome
	}
	return w.outcome + cmp.Or(w.winnerWord, " by ") + winner
}

// clause is a sentence with a place for names, %s, and the names.
type clause struct {
	format string
	names  []string
}

// sameForAll makes one clause for all winners.
func sameForAll(format string) func(*lossContext) []clause {
	return func(t *lossContext) []clause { return []clause{{format, t.winnerNames(t.loss.To)}} }
}

// byDecision makes a clause for the winners of which the same is said.
func byDecision(format string, say func(merge.Decision) string) func(*lossContext) []clause {
	return func(t *lossContext) []clause {
		var out []clause
		for _, w := range t.loss.To {
			c := clause{format + say(w.Decision), t.winnerNames([]merge.Winner{w})}
			if w.Layer == t.loss.From.Layer {
				c.format = "replaced by %s"
			}
			out = joinClause(out, c)
		}
		if out == nil {
			out = []clause{{format + say(merge.Decision{}), t.winnerNames(nil)}}
		}
		return out
	}
}

func (t *lossContext) atomicReplacedClauses() []clause {
	switch to := t.loss.To; {
	case len(to) > 0 && to[0].Layer < t.loss.From.Layer:
		return sameForAll("it has no rules, so those of %s are used")(t)
	case len(to) > 0 && !t.loserLayer().Policy.Kind.IsByLevel():
		return byDecision("replaced as a whole by %s, which is ", describeStrength)(t)
	}
	return sameForAll("replaced as a whole by %s")(t)
}

func (t *lossContext) conflictedClauses() []clause {
	switch loser := t.loserLayer(); {
	case loser.By != nil && loser.Policy.Kind.SameTarget == policy.AllLose:
		return []clause{{"rejected: it and %s are for the same object, and of several none is in force",
			[]string{loser.By.Ref().String()}}}
	case len(t.loss.To) == 0 && loser.By == nil:
		return []clause{{"rejected", nil}}
	case len(t.loss.To) == 0:
		return []clause{{"rejected everywhere: %s won another of its targets",
			[]string{loser.By.Ref().String()}}}
	case loser.Policy.Kind.SameTarget == policy.Disjoint:
		return byDecision("rejected as a whole: %s sets the same on the same object and ", DescribeStanding)(t)
	}
	return byDecision("rejected: %s targets the same object and ", DescribeStanding)(t)
}

func (t *lossContext) conditionFalseClauses() []clause {
	if when, ok := t.loss.When.(*expression.Condition); ok {
		return []clause{{"the condition is not met: %s", []string{when.Text}}}
	}
	return []clause{{"the condition is not met", nil}}
}

func (t *lossContext) notEvaluatedClauses() []clause {
	if loser := t.loserLayer(); loser.Rejected && loser.By != nil {
		return []clause{{"cannot tell which is in force, it or %s, which targets the same object",
			[]string{loser.By.Ref().String()}}}
	}
	return sameForAll("cannot tell whether it is in force next to the setting of %s")(t)
}

func (t *lossContext) noEffectClauses() []clause {
	if len(t.loss.To) == 0 {
		return []clause{{"it has nothing to change here", nil}}
	}
	return sameForAll("it counts as not set, and %s has a value")(t)
}

func (t *lossContext) invalidClauses() []clause {
	l, to := t.loserLayer(), t.loss.To
	switch {
	case t.verdict.Void != "" && (l.Policy.Fault == "" || len(to) > 0 && to[0].Layer != t.loss.From.Layer):
		return []clause{{"nothing is in force here: %s", []string{t.verdict.Void}}}
	case cmp.Or(l.Fault, l.Policy.Fault) != "":
		return []clause{{"the policy is in error: %s", []string{cmp.Or(l.Fault, l.Policy.Fault)}}}
	}
	return []clause{{"the policy is in error", nil}}
}

func (c clause) String() string {
	if len(c.names) == 0 || !strings.Contains(c.format, "%s") {
		return c.format
	}
	return fmt.Sprintf(c.format, ListNames(c.names))
}
