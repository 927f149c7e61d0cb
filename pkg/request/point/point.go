package point

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
)

// Name says where on a hop a point is.
type Name string

// The points, in the order in which a hop meets them.
const (
	Edge     Name = "edge"     // the proxy of a Gateway
	Client   Name = "client"   // the proxy beside the client
	Egress   Name = "egress"   // policies of the network at the Pods that send
	Ingress  Name = "ingress"  // policies of the network at the Pods that receive
	Waypoint Name = "waypoint" // a proxy of the mesh between the two
	Workload Name = "workload" // the proxy in front of the app
)

// rank orders the points of one hop.
func (n Name) rank() int {
	return slices.Index([]Name{Edge, Client, Egress, Ingress, Waypoint, Workload}, n)
}

// Verdict is what a point says to a request, or all points together.
type Verdict string

// The verdicts. A point that is bypassed says nothing: the request does not meet its policies.
const (
	Allowed  Verdict = "allowed"
	Denied   Verdict = "denied"
	Depends  Verdict = "depends"
	Bypassed Verdict = "bypassed"
)

// KindGateway is the kind of points that are proxies of Gateways.
const KindGateway = "Gateway"

// Point is a place on the way of a request where policies let it go on or end it, judged for that
// request.
type Point struct {
	Name     Name
	Kind     string      // who enforces
	Object   model.Ref   // the Gateway, the waypoint, or the workload that is judged
	Policies []model.Ref // in force there for the request; of a bypassed point those in force for other traffic
	Verdict  Verdict
	Remedy   string  // of a bypassed point: what would lead requests through it
	Because  string  // one sentence: what decided, what it depends on, or why the point is bypassed
	Identity *string // of the source as it is seen there, "" for none; nil: the point knows no identities
	Port     int     // the destination port as it is seen there; 0: it is not known, or plays no part

	Status     int                // of HTTP, that a denial answers with; 0: the connection is refused
	Decision   *evaluate.Decision // of kinds that judge in stages; nil: there is none
	PolicyKind model.GroupKind    // whose decision it is

	// IgnoresRequests says that the point judges connections: it says the same to every request of
	// the hop.
	IgnoresRequests bool
	Tests           []request.Test // by which it tells requests apart
	// MayBypass says that it is not known whether the request comes by.
	MayBypass bool
	Backend   model.Ref // of several alternatives: which; else zero
	Way       int       // of the alternatives: its number, from 1; 0: before they part

	Unread   []*unread.Input // policies that may decide there, and that nobody evaluates
	Problems []model.Problem
}

// NewPoint makes a point of the decision of a kind that judges connections.
func NewPoint(name Name, kind string, policyKind model.GroupKind, d evaluate.Decision, policies []model.Ref,
	port int) Point {
	out := Point{Name: name, Kind: kind, Object: d.At, Policies: policies, Port: port, Decision: &d, PolicyKind: policyKind,
		IgnoresRequests: true, Verdict: VerdictOf(d.Outcome)}
	out.Because = d.FormatReason()
	return out
}

// VerdictOf returns the outcome of a decision as a verdict.
func VerdictOf(o request.Outcome) Verdict {
	switch o {
	case request.Allowed:
		return Allowed
	case request.Denied:
		return Denied
	}
	return Depends
}

// DescribeUnread says that policies of one of some kinds could not be read, so that it is not known what
// a point says; "" if all could.
func DescribeUnread(c *model.Cluster, kinds ...model.GroupKind) string {
	for _, gk := range kinds {
		if c.HasUnread(gk) {
			return "cannot tell what " + gk.Kind + " objects say: they are forbidden"
		}
	}
	return ""
}

// combineVerdicts puts the verdicts of points together that a request passes one after the other: one
// denial is enough, and a bypassed point has no say.
func combineVerdicts(points []Point) Verdict {
	out := Allowed
	for i := range points {
		switch points[i].Verdict {
		case Denied:
			return Denied
		case Depends:
			out = Depends
		}
	}
	return out
}

// Path is the way of a request through its points.
type Path struct {
	Points  []Point // of several alternatives one after the other
	Verdict Verdict // "": no backend is reached
	// Ways are the points behind the Gateway of each alternative: a request takes one of them.
	Ways [][]Point
}

// FindCover reports whether a request meets a policy behind the Gateway, whichever way it takes; doubt
// says why that is not known.
func (p *Path) FindCover(asked func(model.Ref) bool) (covered bool, doubt string) {
	for _, way := range p.Ways {
		met, may := false, ""
		for i := range way {
			switch one := &way[i]; {
			case one.Verdict == Bypassed || !slices.ContainsFunc(one.Policies, asked):
			case one.MayBypass:
				may = one.Because
			default:
				met = true
			}
		}
		switch {
		case met:
		case may != "":
			doubt = may
		default:
			return false, ""
		}
	}
	return doubt == "" && len(p.Ways) > 0, doubt
}

// KeepKinds leaves only what policies of some kinds say; nil keeps all.
func (p *Path) KeepKinds(kinds []model.GroupKind) {
	if kinds == nil {
		return
	}
	asked := func(ref model.Ref) bool { return slices.Contains(kinds, ref.GroupKind()) }
	p.Points = slices.DeleteFunc(slices.Clone(p.Points), func(one Point) bool {
		return !slices.Contains(kinds, one.PolicyKind) && !slices.ContainsFunc(one.Policies, asked)
	})
	if p.Verdict != "" {
		p.Verdict = combineVerdicts(p.Points)
	}
}

// FindTests returns what the points behind the Gateway tell requests apart by.
func (p *Path) FindTests() []request.Test {
	var out []request.Test
	for _, way := range p.Ways {
		for i := range way {
			if way[i].Verdict != Bypassed {
				out = append(out, way[i].Tests...)
			}
		}
	}
	return out
}

// FindPoint returns the first point with a verdict; nil if there is none.
func (p *Path) FindPoint(v Verdict) *Point {
	for i := range p.Points {
		if p.Points[i].Verdict == v {
			return &p.Points[i]
		}
	}
	return nil
}
