package model

import (
	"cmp"
	"slices"
)

// Severity says how much a problem matters to the answer.
type Severity string

// The severities. An error makes the answer incomplete; a warning does so only where Incomplete
// says it.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Compare orders severities, the worst first.
func (s Severity) Compare(o Severity) int {
	rank := func(s Severity) int { return slices.Index([]Severity{Error, Warning, Info}, s) }
	return cmp.Compare(rank(s), rank(o))
}

// Code is the stable word of a problem. The Rule of that ID says what it means.
type Code string

// The problem codes, without those that only one vendor has.
const (
	InvalidYAML           Code = "InvalidYAML"
	NotAnObject           Code = "NotAnObject"
	NotKubernetes         Code = "NotKubernetes"
	DuplicateObject       Code = "DuplicateObject"
	WrongType             Code = "WrongType"
	LimitExceeded         Code = "LimitExceeded"
	Forbidden             Code = "Forbidden"
	ClusterFailed         Code = "ClusterFailed"
	InvalidObject         Code = "InvalidObject"
	NamespaceAssumed      Code = "NamespaceAssumed"
	GenericKind           Code = "GenericKind"
	UnknownKind           Code = "UnknownKind"
	NotEvaluated          Code = "NotEvaluated"
	SettingMatters        Code = "SettingMatters"
	SettingsHidden        Code = "SettingsHidden"
	TargetNotFound        Code = "TargetNotFound"
	InvalidTarget         Code = "InvalidTarget"
	GroupWithVersion      Code = "GroupWithVersion"
	CrossNamespaceTarget  Code = "CrossNamespaceTarget"
	RefNotPermitted       Code = "RefNotPermitted"
	BackendNotFound       Code = "BackendNotFound"
	DuplicateReference    Code = "DuplicateReference"
	DuplicateParentRef    Code = "DuplicateParentRef"
	DuplicateRuleName     Code = "DuplicateRuleName"
	RuleNameCollision     Code = "RuleNameCollision"
	ListenerConflict      Code = "ListenerConflict"
	NotReached            Code = "NotReached"
	AncestorLimit         Code = "AncestorLimit"
	RuleShadowed          Code = "RuleShadowed"
	PathBlocked           Code = "PathBlocked"
	PathCommitted         Code = "PathCommitted"
	PolicyBypassed        Code = "PolicyBypassed"
	RedirectLoop          Code = "RedirectLoop"
	RewriteDiffers        Code = "RewriteDiffers"
	ProxyRefuses          Code = "ProxyRefuses"
	ListenerWithoutRoutes Code = "ListenerWithoutRoutes"
	SpellingBypass        Code = "SpellingBypass"
	ProtectsNothing       Code = "ProtectsNothing"
	ProtectionReplaced    Code = "ProtectionReplaced"
	ProtectionBypassed    Code = "ProtectionBypassed"
	FailOpenProtection    Code = "FailOpenProtection"
	BareWithBlocks        Code = "BareWithBlocks"
	MultipleBlocks        Code = "MultipleBlocks"
	UnknownStrategy       Code = "UnknownStrategy"
	UnknownBlockField     Code = "UnknownBlockField"
	InvalidCondition      Code = "InvalidCondition"
	ConditionMissingField Code = "ConditionMissingField"
	UnsetUnknown          Code = "UnsetUnknown"
	UnsetHasNoEffect      Code = "UnsetHasNoEffect"
	OrderUncertain        Code = "OrderUncertain"
	OrderSensitive        Code = "OrderSensitive"
	ImplementationsDiffer Code = "ImplementationsDiffer"
	ForeignReference      Code = "ForeignReference"
	ReferenceNotFound     Code = "ReferenceNotFound"
	ProfileChosen         Code = "ProfileChosen"
	Inferred              Code = "Inferred"
	RefusedByOperator     Code = "RefusedByOperator"
	PrunedByOperator      Code = "PrunedByOperator"
	IgnoredTopLevelWhen   Code = "IgnoredTopLevelWhen"

	AnnotationIgnored Code = "AnnotationIgnored"
	PolicyInError     Code = "PolicyInError"

	UnrenderedVariable Code = "UnrenderedVariable"

	UnknownIgnore Code = "UnknownIgnore"

	NeverInForce     Code = "NeverInForce"
	PointlessPolicy  Code = "PointlessPolicy"
	RuleNeverInForce Code = "RuleNeverInForce"
	PolicyConflict   Code = "PolicyConflict"
	ParentNotFound   Code = "ParentNotFound"

	EmptyPolicyShields  Code = "EmptyPolicyShields"
	DefaultBeatsSetting Code = "DefaultBeatsSetting"

	SchemaViolation Code = "SchemaViolation"
	UnknownField    Code = "UnknownField"
	InvalidSchema   Code = "InvalidSchema"
	NoSchema        Code = "NoSchema"

	HostAlsoIngress Code = "HostAlsoIngress"

	// Those about requirements that could not be held against the input. Of requirements that are
	// not met the code is "requirement/NAME".
	RequirementUnknown        Code = "RequirementUnknown"
	RequirementError          Code = "RequirementError"
	RequirementSelectsNothing Code = "RequirementSelectsNothing"
)

// Problem says what is wrong, with what, where, and what to do about it.
type Problem struct {
	Severity Severity `json:"severity"`         // how much it matters to the answer
	Code     Code     `json:"code"`             // the stable word for it, which docs/findings.md explains
	Ref      *Ref     `json:"ref,omitempty"`    // the object at fault: the policy, where a policy is
	Origin   *Origin  `json:"origin,omitempty"` // where it is
	Message  string   `json:"message"`          // one sentence: what is wrong
	Hint     string   `json:"hint,omitempty"`   // what to do about it

	MissingRef   *Ref `json:"-"` // what the object at fault names and is not there, where that is what is wrong
	SuggestedRef *Ref `json:"-"` // what it may mean instead

	// RuleName is the route rule at fault, where the message begins with it ("rule NAME sends to …"),
	// and OfSeveral what the message says of several rules ("send to …").
	RuleName  string `json:"-"`
	OfSeveral string `json:"-"`

	Undecided bool `json:"-"` // the answer is one of several that are possible, whatever else the input has
}

// At is p about the given object, at the place it was read from, or at that of the field at path in
// it.
func (p Problem) At(o *Object, path ...string) Problem {
	ref, origin := o.Ref, o.Origin
	if len(path) > 0 {
		origin = o.OriginOf(path...)
	}
	p.Ref, p.Origin = &ref, &origin
	return p
}

// IsIncomplete reports whether p could change the answer: an error, a list we may not read,
// something not evaluated, or what nothing decides. That the API server refuses an object is known:
// it is not there.
func (p Problem) IsIncomplete() bool {
	switch p.Code {
	case SchemaViolation, InvalidObject, UnknownField:
		return p.Undecided
	}
	return p.Severity == Error || p.Undecided || p.Code == Forbidden || p.Code == NotEvaluated && p.Severity == Warning
}

// IsForbiddenList reports whether p is that of a list that the cluster did not let us read, or of what
// is not known for that reason.
func (p Problem) IsForbiddenList() bool {
	return p.Ref != nil && p.Ref.Name == "*" && (p.Code == Forbidden || p.Ref.GroupKind() == DefinitionKind())
}

// IsUnevaluated reports whether p says that something is not evaluated which could change the
// answer.
func (p Problem) IsUnevaluated() bool { return p.Code == NotEvaluated && p.IsIncomplete() }

// SortProblems returns the problems in a stable order, errors first, each one once.
func SortProblems(ps []Problem) []Problem {
	out := slices.Clone(ps)
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(a.Severity.Compare(b.Severity), cmp.Compare(a.Code, b.Code),
			ComparePointers(a.Ref, b.Ref, Ref.Compare), cmp.Compare(a.Message, b.Message),
			ComparePointers(a.Origin, b.Origin, Origin.Compare), cmp.Compare(a.Hint, b.Hint))
	})
	return slices.CompactFunc(out, func(a, b Problem) bool {
		return a.Code == b.Code && a.Message == b.Message && ComparePointers(a.Ref, b.Ref, Ref.Compare) == 0 &&
			ComparePointers(a.Origin, b.Origin, Origin.Compare) == 0
	})
}

// ComparePointers compares what two pointers lead to; nil comes first.
func ComparePointers[T any](a, b *T, compare func(T, T) int) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return compare(*a, *b)
}
