package status

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// DifferenceKind says in which way what is reported is not what is predicted.
type DifferenceKind string

// The kinds of differences. The last two are notes only: they are never counted.
const (
	Missing        DifferenceKind = "Missing"        // predicted, and not reported
	Unexpected     DifferenceKind = "Unexpected"     // reported where the prediction has nothing, though it would
	Stale          DifferenceKind = "Stale"          // reported about another generation of the object
	Different      DifferenceKind = "Different"      // reported with another status
	DanglingTarget DifferenceKind = "DanglingTarget" // reported as accepted, and one of several targets is not there
	// reported as in force, and computed as overridden, wholly or in part
	Overridden    DifferenceKind = "Overridden"
	Truncated     DifferenceKind = "Truncated" // not reported because the API has no room for more entries
	ReasonDiffers DifferenceKind = "ReasonDifferent"
	Unpredictable DifferenceKind = "Unpredictable" // not compared
)

// Difference is one thing in which a report differs from the prediction.
type Difference struct {
	Kind       DifferenceKind
	Ref        *model.Ref // the ancestor or parent of the entry; nil: the object's own conditions
	Port       int32
	Controller string
	Target     *model.Ref // of a DanglingTarget
	Type       string     // of the condition; "": it is about the whole entry
	Predicted  *Condition
	Reported   *Reported
	Message    string // one sentence: what it is, and what to look at
	Silent     string // the controller that should report it, if it reports nothing of any object
}

// AuditResult is what an audit comes to for one object.
type AuditResult string

// The verdicts.
const (
	Agrees      AuditResult = "Agrees"
	Differs     AuditResult = "Differs"
	NotCompared AuditResult = "NotCompared"
)

// Audit is a prediction compared with what the object reports.
type Audit struct {
	Result      AuditResult
	Reports     []Report
	Differences []Difference
	Notes       []Difference // what is not counted: other reasons, and what could not be compared
}

// Auditor compares predictions with reports.
type Auditor struct {
	res     *resolve.Resolution
	kinds   map[model.GroupKind]*resolve.Kind
	classes map[string]bool // the controllers of the input's GatewayClasses
	// by policy kind the controllers in whose names entries are predicted, each between blanks
	writers   map[model.GroupKind]string
	marks     map[string]bool          // types of marks that are predicted somewhere
	reporting map[model.GroupKind]bool // kinds of which some object reports something
	doubts    map[model.Ref]string     // what is not known of an object, beside what could not be read
	// what part of the input was lost, so that any prediction may be wrong; "": none
	lostInput    string
	unread       unreadListeners
	missingLists bool // lists are missing that marks may depend on
	silence      *silence
}

// NewAuditor prepares to audit some of the predictions, which are all those that were made for the
// given kinds; problems are those of the answer.
func NewAuditor(r *resolve.Resolution, kinds []*resolve.Kind, predictions []Prediction,
	problems []model.Problem) *Auditor {
	a := &Auditor{res: r, kinds: map[model.GroupKind]*resolve.Kind{}, classes: map[string]bool{},
		writers: map[model.GroupKind]string{},
		marks:   map[string]bool{}, reporting: map[model.GroupKind]bool{}, doubts: map[model.Ref]string{},
		unread:       newUnreadListeners(r),
		missingLists: r.Snapshot.Cluster != nil && len(r.Snapshot.Cluster.Unread) > 0}
	for _, k := range kinds {
		if _, known := a.kinds[k.GroupKind]; !known {
			a.kinds[k.GroupKind] = k
		}
	}
	for _, class := range r.Snapshot.OfKind(model.GroupKind{Group: gatewayKind.Group, Kind: "GatewayClass"}) {
		a.classes[class.Text("spec", "controllerName")] = true
	}
	for i := range predictions {
		a.addPrediction(&predictions[i])
	}
	a.silence = newSilence(a.kinds, predictions)
	for i := range predictions {
		if o := r.Snapshot.Get(predictions[i].Object.WithoutSection()); o != nil {
			a.silence.noteReports(r, predictions[i].Object, a.reportsOf(o, predictions[i].Object.Section))
		}
	}
	for _, p := range problems {
		a.addDoubt(p)
	}
	return a
}

// addPrediction notes what one prediction tells about others.
func (a *Auditor) addPrediction(p *Prediction) {
	gk := p.Object.GroupKind()
	if o := a.res.Snapshot.Get(p.Object); o != nil && !a.reporting[gk] {
		a.reporting[gk] = len(a.reportsOf(o, "")) > 0
	}
	for _, e := range p.Ancestors {
		if _, isPolicy := a.kinds[gk]; isPolicy && e.Controller != "" &&
			!strings.Contains(a.writers[gk], " "+e.Controller+" ") {
			a.writers[gk] += " " + e.Controller + " "
		}
		for _, c := range e.Conditions {
			if isMark(c.Type) {
				a.marks[c.Type] = true
			}
		}
	}
}

// reportsOf returns what an object reports, or its listener of that name.
func (a *Auditor) reportsOf(o *model.Object, listener string) []Report {
	if k := a.kinds[o.Ref.GroupKind()]; k != nil && listener == "" {
		return readPolicyReports(k.Kind, o)
	}
	return ReadReports(o, listener)
}

// addDoubt notes what a problem leaves open. Lists that may not be read do not count here: what
// they may change is predicted as Unknown.
func (a *Auditor) addDoubt(p model.Problem) {
	if !p.IsIncomplete() || p.Code == model.Forbidden {
		return
	}
	whole := []model.Code{model.InvalidYAML, model.DuplicateObject, model.LimitExceeded}
	switch {
	case p.Ref == nil || slices.Contains(whole, p.Code):
		a.lostInput = p.Message
	default:
		a.doubts[p.Ref.WithoutSection()] = p.Message
	}
}

// isMark reports whether a condition is one by which policies tell whom they affect (gep713 P39).
func isMark(kind string) bool {
	return strings.Contains(kind, "/") && strings.HasSuffix(kind, "Affected")
}

// hasUnknownConditions reports whether it is not known which conditions the vendor of a policy kind
// writes: nobody described them.
func hasUnknownConditions(k *resolve.Kind) bool {
	return k.Vendor == "" || k.Status.Func == "" && k.Status.Type == policy.UsualInForce
}

// Audit compares one prediction with what its object reports.
func (a *Auditor) Audit(p Prediction) Audit {
	c := &comparison{Auditor: a, p: &p, object: a.res.Snapshot.Get(p.Object.WithoutSection()),
		kind: a.kinds[p.Object.GroupKind()]}
	if c.object == nil {
		return Audit{Result: NotCompared}
	}
	c.generation = toInteger(c.object.Body.At("metadata", "generation"))
	c.reports = a.reportsOf(c.object, p.Object.Section)
	c.restoreRefs()
	c.used = make([]bool, len(c.reports))
	switch {
	case p.NoConditions:
		c.noteNotCompared("the controller of this kind writes no conditions")
	case p.Custom.Fields != nil || p.Custom.Note != "":
		c.noteNotCompared("what it reports is not made of conditions, and is not compared")
	case p.Refused:
		c.noteNotCompared("the API rejects the policy, so nothing is predicted of its status")
	case !isServed(c.object):
		c.noteNotCompared("it is a manifest, which tells nothing of what is reported")
	default:
		c.compareAll()
	}
	return c.buildAudit()
}

// comparison is the audit of one object.
type comparison struct {
	*Auditor
	p           *Prediction
	object      *model.Object // for a listener the one that has it
	kind        *resolve.Kind // nil: the object is no policy
	generation  int64         // 0: not known
	reports     []Report
	used        []bool // by report: it was compared with a prediction
	compared    bool
	missing     []Ancestor // entries that should be reported
	differences []Difference
	notes       []Difference
}

func (c *comparison) compareAll() {
	for i := range c.p.Ancestors {
		c.compareEntry(&c.p.Ancestors[i])
	}
	c.addMissing()
	c.findLeftovers()
	c.findDangling()
	c.compareCounts()
	if len(c.p.Ancestors) == 0 && c.isFullyPredicted() {
		c.compared = true // nothing is predicted, and all reports were checked
	}
}

func (c *comparison) buildAudit() Audit {
	if doubt := c.findDoubt(); doubt != "" {
		c.demoteDifferences(doubt, Missing, Unexpected, Different, DanglingTarget, Overridden, Truncated)
		c.compared = false
	} else if c.kind != nil && c.res.Snapshot.HasNoValues() {
		c.demoteDifferences("the values of settings are left out", Different)
	}
	out := Audit{Result: NotCompared, Reports: c.reports, Differences: c.differences, Notes: c.notes}
	switch {
	case len(c.differences) > 0:
		out.Result = Differs
	case c.compared:
		out.Result = Agrees
	}
	return out
}

// findDoubt returns why what is predicted of the object may be wrong, "" if nothing says so.
func (c *comparison) findDoubt() string {
	switch {
	case c.lostInput != "":
		return c.lostInput
	case c.p.Policy != nil && c.p.Policy.Fault != "" && c.res.Snapshot.HasNoValues():
		return "it rests on values that are left out: " + c.p.Policy.Fault
	}
	return c.doubts[c.object.Ref]
}

// demoteDifferences makes notes of the differences of some kinds, which rest on a prediction that
// may be wrong. What is stale is so in any case.
func (c *comparison) demoteDifferences(doubt string, kinds ...DifferenceKind) {
	var left []Difference
	for _, d := range c.differences {
		if !slices.Contains(kinds, d.Kind) {
			left = append(left, d)
			continue
		}
		d.Message = "not counted, because the prediction is in doubt (" + shortenMessage(doubt) + "): " + d.Message
		d.Kind, c.compared = Unpredictable, false
		c.notes = append(c.notes, d)
	}
	c.differences = left
}

// noteNotCompared notes why the object is not compared at all.
func (c *comparison) noteNotCompared(why string) {
	c.notes = append(c.notes, Difference{Kind: Unpredictable, Message: "not compared: " + why})
}

// isFullyPredicted reports whether everything is predicted that the controller of a policy writes.
func (c *comparison) isFullyPredicted() bool {
	k := c.kind
	if k == nil || k.Status.Func == "" || c.p.Refused || c.p.NoConditions || c.p.Policy == nil {
		return false
	}
	return len(k.Gaps().Of(c.p.Policy)) == 0
}

// listenerOwner returns the node that a listener belongs to.
func (c *comparison) listenerOwner() (topology.NodeID, bool) {
	for _, id := range c.res.Graph.Lookup(c.p.Object) {
		if parents := c.res.Graph.Parents(topology.Traffic, id); len(parents) > 0 {
			return parents[0], true
		}
	}
	return topology.None, false
}
