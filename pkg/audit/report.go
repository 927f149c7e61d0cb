package audit

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// Verdict is what became of a comparison.
type Verdict string

// The verdicts. Those before Same are differences.
const (
	RouteMissing Verdict = "RouteMissing" // the proxy has no route for the rule
	Missing      Verdict = "Missing"      // predicted, and the proxy does not do it
	Different    Verdict = "Different"    // the proxy does it otherwise
	Unexplained  Verdict = "Unexplained"  // the proxy does it, and no policy says so
	NotJudged    Verdict = "NotCompared"
	Same         Verdict = "Same"
)

// verdictOrder are in the order in which one of several holds.
var verdictOrder = []Verdict{RouteMissing, Missing, Different, Unexplained, NotJudged, Same}

// IsDifference reports whether the verdict is a difference.
func (v Verdict) IsDifference() bool { return v != Same && v != NotJudged }

// XDS names what to look at in the dump.
type XDS struct {
	Listener    string   `json:"listener,omitempty"`    // its name
	RouteConfig string   `json:"routeConfig,omitempty"` // its name
	VirtualHost string   `json:"virtualHost,omitempty"` // its name
	Routes      []string `json:"routes,omitempty"`      // the names of those that the verdict is about
	Filter      string   `json:"filter,omitempty"`      // the name of the HTTP filter
	Cluster     string   `json:"cluster,omitempty"`     // its name
}

// Item is one comparison.
type Item struct {
	Verdict Verdict `json:"verdict"` // what became of it
	// the rule; of a proxy as a whole the Gateway; absent for what is nobody's
	Target     *model.Ref  `json:"target,omitempty"`
	Paths      []view.Path `json:"paths"`                // the ways to the target that the verdict is about
	PolicyKind string      `json:"policyKind,omitempty"` // Kind.group
	Setting    string      `json:"setting,omitempty"`    // dotted path under spec; route for the route itself
	Settings   []string    `json:"settings,omitempty"`   // of a kind on a target those that agree: they are one item
	Policies   []model.Ref `json:"policies"`             // whose setting it is
	Predicted  any         `json:"predicted,omitempty"`  // absent where only presence is known
	Found      any         `json:"found,omitempty"`      // absent where only presence is known
	Compared   How         `json:"compared,omitempty"`   // value or presence
	XDS        *XDS        `json:"xds,omitempty"`        // where to look in the dump
	Proxy      string      `json:"proxy,omitempty"`      // of several: which one
	Message    string      `json:"message"`              // one plain sentence
}

// Match is a rule whose routes were found.
type Match struct {
	Target      model.Ref `json:"target"`                // the rule
	Listener    string    `json:"listener,omitempty"`    // by which it is served, where the names tell
	ListenerSet string    `json:"listenerSet,omitempty"` // namespace/name, if the listener is one of a set
	RouteConfig string    `json:"routeConfig"`           // where the routes are
	Routes      int       `json:"xdsRoutes"`             // how many
}

// Proxy is one whose dump was read.
type Proxy struct {
	Name           string             `json:"name"`           // where the dump is from
	Implementation string             `json:"implementation"` // the vendor; "" if it is not known
	Gateways       []string           `json:"gateways"`       // namespace/name of those that it serves
	Node           string             `json:"node"`           // its id
	Versions       dataplane.Versions `json:"versions"`       // of what it runs with
}

// Summary counts the items, and the rules.
type Summary struct {
	Rules        int `json:"rules"`        // that the proxies should serve
	Matched      int `json:"matched"`      // whose routes were found
	Same         int `json:"same"`         // items by verdict
	Missing      int `json:"missing"`      // predicted, and not done
	Different    int `json:"different"`    // done otherwise
	Unexplained  int `json:"unexplained"`  // done, and nobody's
	RouteMissing int `json:"routeMissing"` // rules without routes
	NotCompared  int `json:"notCompared"`  // what cannot be judged
}

// Differences is how many items are no agreement.
func (s *Summary) Differences() int { return s.Missing + s.Different + s.Unexplained + s.RouteMissing }

func (s *Summary) countItem(i *Item) {
	v := i.Verdict
	counts := map[Verdict]*int{Same: &s.Same, Missing: &s.Missing, Different: &s.Different,
		Unexplained: &s.Unexplained, RouteMissing: &s.RouteMissing, NotJudged: &s.NotCompared}
	*counts[v] += max(1, len(i.Settings))
}

// Drift is a Gateway whose proxies do not run with the same.
type Drift struct {
	Gateway string   `json:"gateway"` // namespace/name
	Proxies []string `json:"proxies"` // those that are not like most
	Message string   `json:"message"` // one plain sentence
}

// Report answers `audit` of data planes.
type Report struct {
	view.Envelope
	Proxy   *Proxy  `json:"proxy,omitempty"`   // the one whose dump was read, if it is one
	Proxies []Proxy `json:"proxies,omitempty"` // those whose dumps were read, if there are several
	Summary Summary `json:"summary"`           // the items, counted
	Drift   []Drift `json:"drift,omitempty"`   // proxies of one Gateway that do not run with the same
	Matched []Match `json:"matched"`           // the rules whose routes were found
	Items   []Item  `json:"items"`             // by target, policy kind and setting; what is nobody's first

	// what objects report that is not predicted, where that was asked for
	Statuses *status.StatusList `json:"statuses,omitempty"`

	proxyProblems []model.Problem // of the proxies and their dumps
}

// ProxyProblems are those of the problems that are about the proxies and their dumps.
func (r *Report) ProxyProblems() []model.Problem { return r.proxyProblems }
