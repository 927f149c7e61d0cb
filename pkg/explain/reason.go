package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// words are what is said of a loss with a reason.
type words struct {
	short    string // for tables
	by       string // what comes between short and the level of the winner; "": the level is not named
	fate     string // for trees and reach: what became of the setting
	join     string // what comes between that and the winner; "": " by "
	beats    string // what the winner does to the loser, for the line of the winner; "": nothing is said
	override bool   // the winner is less specific
	clauses  func(t *teller) []clause
}

// byReason has the words of every reason; a test fails if one is missing.
var byReason = map[merge.Reason]words{
	merge.MoreSpecificWins: {short: "more specific default", fate: "replaced", beats: replaces,
		clauses: each("replaced by %s, which is ", strength)},
	merge.AtomicReplaced: {short: "replaced whole", by: " by ", fate: "replaced", beats: replaces,
		clauses: (*teller).atomicReplaced},
	merge.LessSpecificOverrides: {short: "override", by: " of ", fate: "overridden", beats: beats, override: true,
		clauses: all("overridden by %s")},
	merge.AtomicOverridden: {short: "atomic override", by: " of ", fate: "overridden", beats: beats, override: true,
		clauses: all("overridden as a whole by the atomic override of %s")},
	merge.SameLevelOrder: {short: "order on the same level", fate: "beaten", beats: sameLevel,
		clauses: each("%s targets the same object and ", Standing)},
	merge.Conflicted: {short: "conflict", fate: "rejected", beats: beats,
		clauses: (*teller).conflicted},
	merge.Unset: {short: "unset", fate: "unset",
		clauses: all("unset by %s")},
	merge.ConditionFalse: {short: "condition false", fate: "condition false",
		clauses: (*teller).conditionFalse},
	merge.BuiltInWins: {short: "built in", fate: "overridden", beats: beats,
		clauses: all("%s beats policies")},
	merge.NoEffect: {short: "no effect", fate: "no effect", join: " beside ",
		clauses: (*teller).noEffect},
	merge.Invalid: {short: "policy in error", fate: "in error", join: " because of ",
		clauses: (*teller).invalid},
	merge.Ignored: {short: "ignored", fate: "ignored",
		clauses: func(*teller) []clause { return []clause{{"the setting is not read at this place", nil}} }},
	merge.Shadowed: {short: "never reached", fate: "never reached", join: " behind ",
		clauses: all("never reached: %s decides first")},
	merge.NotEvaluated: {short: "not evaluated", fate: "not evaluated", join: " beside ",
		clauses: (*teller).notEvaluated},
}

// How a winner's line names the losers.
const (
	beats     = ", beats %s"
	sameLevel = ", beats %s (same level)"
	replaces  = ", replaces %s"
)

// Short is a loss in a few words: "override of Gateway". The level is the winner's, "" if there is none.
func Short(reason merge.Reason, level string) string {
	w := byReason[reason]
	if w.by == "" || level == "" {
		return w.short
	}
	return w.short + w.by + Level(level)
}

// Fate says in a few words what became of a setting: "replaced by infra/gw". Without a winner it is a word or two.
func Fate(reason merge.Reason, winner string) string {
	w := byReason[reason]
	if winner == "" {
		return w.fate
	}
	return w.fate + cmp.Or(w.join, " by ") + winner
}

// clause is a sentence with a gap for names, %s, and the names.
type clause struct {
	format string
	names  []string
}

// all is one clause for all winners.
func all(format string) func(*teller) []clause {
	return func(t *teller) []clause { return []clause{{format, t.names(t.loss.To)}} }
}

// each is a clause for the winners of which the same is said.
func each(format string, say func(merge.Decision) string) func(*teller) []clause {
	return func(t *teller) []clause {
		var out []clause
		for _, w := range t.loss.To {
			c := clause{format + say(w.By), t.names([]merge.Winner{w})}
			if w.Layer == t.loss.From.Layer {
				c.format = "replaced by %s"
			}
			out = join(out, c)
		}
		if out == nil {
			out = []clause{{format + say(merge.Decision{}), t.names(nil)}}
		}
		return out
	}
}

func (t *teller) atomicReplaced() []clause {
	switch to := t.loss.To; {
	case len(to) > 0 && to[0].Layer < t.loss.From.Layer:
		return all("it has no rules, so those of %s are used")(t)
	case len(to) > 0 && !t.layer().Policy.Kind.Leveled():
		return each("replaced as a whole by %s, which is ", strength)(t)
	}
	return all("replaced as a whole by %s")(t)
}

func (t *teller) conflicted() []clause {
	switch loser := t.layer(); {
	case loser.By != nil && loser.Policy.Kind.SameTarget == policy.AllLose:
		return []clause{{"rejected: it and %s are for the same object, and of several none is in force", []string{loser.By.Ref().Kind + " " + loser.By.Ref().FullName()}}}
	case len(t.loss.To) == 0 && loser.By == nil:
		return []clause{{"rejected", nil}}
	case len(t.loss.To) == 0:
		return []clause{{"rejected everywhere: %s won another of its targets", []string{loser.By.Ref().Kind + " " + loser.By.Ref().FullName()}}}
	case loser.Policy.Kind.SameTarget == policy.Disjoint:
		return each("rejected as a whole: %s sets the same on the same object and ", Standing)(t)
	}
	return each("rejected: %s targets the same object and ", Standing)(t)
}

func (t *teller) conditionFalse() []clause {
	if when, ok := t.loss.When.(*expression.Condition); ok {
		return []clause{{"the condition is not met: %s", []string{when.Text}}}
	}
	return []clause{{"the condition is not met", nil}}
}

func (t *teller) notEvaluated() []clause {
	if loser := t.layer(); loser.Rejected && loser.By != nil {
		return []clause{{"cannot tell which is in force, it or %s, which targets the same object", []string{loser.By.Ref().Kind + " " + loser.By.Ref().FullName()}}}
	}
	return all("cannot tell whether it is in force next to the setting of %s")(t)
}

func (t *teller) noEffect() []clause {
	if len(t.loss.To) == 0 {
		return []clause{{"it has nothing to change here", nil}}
	}
	return all("it counts as not set, and %s has a value")(t)
}

func (t *teller) invalid() []clause {
	l, to := t.layer(), t.loss.To
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
	return fmt.Sprintf(c.format, Few(c.names))
}
