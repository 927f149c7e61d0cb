package networkpolicy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

const (
	policyGroup = "policy.networking.k8s.io"
	ownGroup    = "networking.k8s.io"
)

var (
	clusterKind  = model.GroupKind{Group: policyGroup, Kind: "ClusterNetworkPolicy"}
	adminKind    = model.GroupKind{Group: policyGroup, Kind: "AdminNetworkPolicy"}
	baselineKind = model.GroupKind{Group: policyGroup, Kind: "BaselineAdminNetworkPolicy"}
	ownKind      = model.GroupKind{Group: ownGroup, Kind: "NetworkPolicy"}
)

// policyStage is a step of the judgement; the first that decides is final.
type policyStage int

const (
	adminTier policyStage = iota
	ownPolicies
	baselineTier
)

// String is how a stage is printed.
func (s policyStage) String() string { return [...]string{"Admin", "NetworkPolicy", "Baseline"}[s] }

// findStage is the stage of a policy; of a tier that there is not, the last.
func findStage(o *model.Object) policyStage {
	switch o.Ref.GroupKind() {
	case adminKind:
		return adminTier
	case ownKind:
		return ownPolicies
	case clusterKind:
		if o.Text("spec", "tier") == adminTier.String() {
			return adminTier
		}
	}
	return baselineTier
}

// noPriority is that of a BaselineAdminNetworkPolicy: where it stands among ClusterNetworkPolicies
// of the Baseline tier is not defined.
const noPriority = -1

func readPriority(o *model.Object) int {
	if n, ok := o.Get("spec", "priority").(int64); ok && o.Ref.GroupKind() != baselineKind {
		return int(n)
	}
	return noPriority
}

// compareTiers orders policies by their stage.
func compareTiers(a, b *policy.Attached) int {
	return cmp.Compare(findStage(a.Policy.Object), findStage(b.Policy.Object))
}

// comparePriorities orders the policies of a tier; one without a priority comes last.
func comparePriorities(a, b *policy.Attached) int {
	x, y := readPriority(a.Policy.Object), readPriority(b.Policy.Object)
	if (x == noPriority) != (y == noPriority) {
		return cmp.Compare(y, x)
	}
	return cmp.Compare(x, y)
}

// ruleAction is what a rule does to the connections that it matches.
type ruleAction int

const (
	none ruleAction = iota
	allow
	deny
	pass
)

func readAction(word string) ruleAction {
	return map[string]ruleAction{"Accept": allow, "Allow": allow, "Deny": deny, "Pass": pass}[word]
}

// direction is what a rule is about, from the pod that its policy selects.
type direction string

const (
	ingress direction = "ingress"
	egress  direction = "egress"
)

// peerField is where the peers of a direction's rules stand.
func (d direction) peerField() string {
	if d == ingress {
		return "from"
	}
	return "to"
}

// rule is one rule of a policy.
type rule struct {
	policy     *model.Object
	stage      policyStage
	rank       int // the policy's priority
	dir        direction
	index      int
	title      string
	actionWord string // of the action, as it is written
	action     ruleAction
	peers      []peer // any of them; nil with everybody
	ports      []port // any of them; nil: all ports of all protocols

	everybody bool     // no peers are asked for
	unread    []string // parts that this version does not know, and why
}

// displayName is how the rule is printed.
func (r *rule) displayName() string {
	return fmt.Sprintf("%s.%s[%d]", r.stage, r.dir, r.index)
}

// readRules reads the rules of a policy for a direction. Of a NetworkPolicy that says nothing about
// it there are none.
func readRules(o *model.Object, dir direction) []*rule {
	var out []*rule
	if findStage(o) == ownPolicies && !isAboutDirection(o, dir) {
		return nil
	}
	for i, entry := range o.Body.At("spec", string(dir)).Items {
		out = append(out, readRule(o, dir, i, entry))
	}
	return out
}

// readRule reads one rule.
func readRule(o *model.Object, dir direction, index int, entry model.Body) *rule {
	r := &rule{policy: o, stage: findStage(o), rank: readPriority(o), dir: dir, index: index,
		title: entry.Text("name"), actionWord: entry.Text("action")}
	if r.stage == ownPolicies {
		r.actionWord = "Allow"
	}
	r.action = readAction(r.actionWord)
	r.readPeers(entry.Field(dir.peerField()))
	r.readPorts(entry)
	if r.unread != nil && r.stage != ownPolicies { // where one peer less allows less
		r.failClosed()
	}
	return r
}

// failClosed makes a rule with something unknown in it fail closed: what allows matches nothing,
// what denies or passes denies everything.
func (r *rule) failClosed() {
	r.peers, r.ports, r.everybody = nil, nil, r.action != allow
	if r.action == pass {
		r.action = deny
	}
}

func (r *rule) readPeers(list model.Body) {
	if r.stage == ownPolicies && list.Len() == 0 && (list.IsNull() || list.IsList()) {
		r.everybody = true
		return
	}
	if !list.IsList() {
		r.unread = append(r.unread, r.dir.peerField()+" is no list")
		return
	}
	for i, entry := range list.Items {
		p, err := readPeer(r.policy, entry)
		if err != nil {
			r.unread = append(r.unread, fmt.Sprintf("%s[%d]: %s", r.dir.peerField(), i, err))
			continue
		}
		r.peers = append(r.peers, p)
	}
}

func (r *rule) readPorts(entry model.Body) {
	field, read := "ports", readOwnPort
	switch r.policy.Ref.GroupKind() {
	case clusterKind:
		field, read = "protocols", readProtocol
	case adminKind, baselineKind:
		read = readAdminPort
	}
	list := entry.Field(field)
	if list.Len() == 0 && (list.IsNull() || list.IsList()) {
		return
	}
	if !list.IsList() {
		r.unread, r.peers, r.everybody = append(r.unread, field+" is no list"), nil, false
		return
	}
	for i, e := range list.Items {
		if variable := findVariable(e); variable != "" {
			r.ports = append(r.ports, port{variable: variable})
			continue
		}
		p, err := read(e)
		if err != nil {
			r.unread = append(r.unread, fmt.Sprintf("%s[%d]: %s", field, i, err))
			continue
		}
		r.ports = append(r.ports, p)
	}
	if r.ports == nil { // none can be read: the rule matches nothing
		r.peers, r.everybody = nil, false
	}
}

// isAboutDirection reports whether a NetworkPolicy is about a direction: about ingress unless it
// says otherwise, about egress if it has such rules.
func isAboutDirection(o *model.Object, dir direction) bool {
	types := o.Body.At("spec", "policyTypes")
	if types.Len() == 0 {
		return dir == ingress || o.Body.At("spec", "egress").Len() > 0
	}
	for _, t := range types.Items {
		if t.Text() == map[direction]string{ingress: "Ingress", egress: "Egress"}[dir] {
			return true
		}
	}
	return false
}

// sortPolicies lists the objects of a stage in the order in which they are asked.
func sortPolicies(objects []*model.Object) []*model.Object {
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *model.Object) int {
		x, y := policy.Attached{Policy: &policy.Policy{Object: a}}, policy.Attached{Policy: &policy.Policy{Object: b}}
		return cmp.Or(compareTiers(&x, &y), comparePriorities(&x, &y), cmp.Compare(a.Ref.Name, b.Ref.Name),
			a.Ref.Compare(b.Ref))
	})
}

// readPortNumber reads a port number; 0 if it is none.
func readPortNumber(v model.Body) int {
	switch n := v.Value().(type) {
	case int64:
		if n > 0 && n <= lastPort {
			return int(n)
		}
	case string:
		if n, err := strconv.Atoi(n); err == nil && n > 0 && n <= lastPort {
			return n
		}
	}
	return 0
}
