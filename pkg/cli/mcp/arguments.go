package mcp

import (
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
)

// commandLine is a command to run: no part of it comes from the client but values of flags, and words behind "--".
type commandLine struct {
	name  string
	flags []string
	words []string
	stdin string
}

// addFlag adds a flag, unless its value is empty.
func (c *commandLine) addFlag(flag, value string) {
	if value != "" {
		c.flags = append(c.flags, formatFlag(flag, value))
	}
}

// addFlags adds a flag for each value.
func (c *commandLine) addFlags(flag string, values []string) {
	for _, value := range values {
		c.flags = append(c.flags, formatFlag(flag, value))
	}
}

// addListFlags adds a flag, which takes several values separated by commas, for each value.
func (c *commandLine) addListFlags(flag string, values []string) {
	for _, value := range values {
		c.flags = append(c.flags, formatFlag(flag, quoteListValue(value)))
	}
}

// addSwitch adds a flag that is on.
func (c *commandLine) addSwitch(flag string, on bool) {
	if on {
		c.flags = append(c.flags, formatFlag(flag, "true"))
	}
}

// addNumber adds a flag, unless the number is 0.
func (c *commandLine) addNumber(flag string, n int64) {
	if n != 0 {
		c.flags = append(c.flags, formatFlag(flag, strconv.FormatInt(n, 10)))
	}
}

// scope are the arguments that all tools have.
type scope struct {
	Namespace   string   `json:"namespace,omitempty" jsonschema:"only this namespace; names without one are looked up there (default: all namespaces)"`
	PolicyKinds []string `json:"policyKinds,omitempty" jsonschema:"only these policy kinds, such as AuthPolicy, or with their group as authpolicy.example.com"`
	pageArguments
}

// pageArguments are the arguments that ask for a part of a list.
type pageArguments struct {
	Limit    int    `json:"limit,omitempty" jsonschema:"how many entries to return at most, 1 to 200 (default: 50)"`
	Continue string `json:"continue,omitempty" jsonschema:"the value of page.continue in the result before, for the next entries; repeat the other arguments"`
}

func (s scope) addTo(c *commandLine) {
	c.addFlag("namespace", s.Namespace)
	c.addListFlags("policy-kind", s.PolicyKinds)
}

func (p pageArguments) askedPage() pageArguments { return p }

type effectiveArguments struct {
	Targets  []string `json:"targets,omitempty" jsonschema:"what to show, as [KIND/][NAMESPACE/]NAME[/SECTION]: a route (the default kind), a rule of it (rule-1 or its name), a Gateway, a listener, a Service (default: everything)"`
	ShowNone bool     `json:"showNone,omitempty" jsonschema:"also list targets where no policy is in force"`
	scope
}

func (a effectiveArguments) toCommandLine() (commandLine, error) {
	c := commandLine{name: "effective", words: a.Targets}
	c.addSwitch("show-none", a.ShowNone)
	a.addTo(&c)
	return c, nil
}

type requestArguments struct {
	Method        string   `json:"method,omitempty" jsonschema:"method of the request (default: GET)"`
	URL           string   `json:"url,omitempty" jsonschema:"URL of the request, such as https://shop.example.com/cart; of a connection between Pods leave it empty and give from, to, protocol and port"`
	Headers       []string `json:"headers,omitempty" jsonschema:"request headers, each as 'name: value'"`
	Gateway       string   `json:"gateway,omitempty" jsonschema:"Gateway that the request is sent to, as [NAMESPACE/]NAME (default: every one with a matching listener)"`
	Listener      string   `json:"listener,omitempty" jsonschema:"only listeners with this name"`
	SNI           string   `json:"sni,omitempty" jsonschema:"TLS server name (default: the host of the URL)"`
	GRPC          string   `json:"grpc,omitempty" jsonschema:"a gRPC request, as package.Service/Method"`
	ClientIP      string   `json:"clientIP,omitempty" jsonschema:"address of the client (default: one that no address list names)"`
	ClientCert    string   `json:"clientCert,omitempty" jsonschema:"client certificate, as trusted[:SUBJECT] or untrusted[:SUBJECT] (default: none)"`
	BodyBytes     int64    `json:"bodyBytes,omitempty" jsonschema:"size of the request body in bytes"`
	Ingress       string   `json:"ingress,omitempty" jsonschema:"the request is sent to the proxy of Ingress objects of this class"`
	FromNamespace string   `json:"fromNamespace,omitempty" jsonschema:"a request in the mesh, from a client in this namespace"`
	From          string   `json:"from,omitempty" jsonschema:"the Pod or workload that sends it, as [NAMESPACE/]NAME"`
	To            string   `json:"to,omitempty" jsonschema:"of a connection: the Pod or workload that it goes to"`
	Protocol      string   `json:"protocol,omitempty" jsonschema:"a connection instead of an HTTP request: TLS, TCP or UDP; with from and to: TCP, UDP or SCTP"`
	Port          int64    `json:"port,omitempty" jsonschema:"of a connection with to: its port"`
	Expect        []string `json:"expect,omitempty" jsonschema:"what the answer has to be: 200, allowed, 404, another status of the Gateway itself, denied, no-match, or policy=KIND/[NAMESPACE/]NAME; the result says which expectations are met"`
	scope
}

func (a requestArguments) toCommandLine() (commandLine, error) {
	c := commandLine{name: "request"}
	if a.URL != "" {
		c.words = append(c.words, a.URL)
	}
	c.addFlag("method", a.Method)
	c.addFlags("header", a.Headers)
	for _, flag := range [][2]string{{"gateway", a.Gateway}, {"listener", a.Listener}, {"sni", a.SNI},
		{"grpc", a.GRPC}, {"client-ip", a.ClientIP}, {"client-cert", a.ClientCert}, {"ingress", a.Ingress},
		{"from-namespace", a.FromNamespace}, {"from", a.From}, {"to", a.To}, {"protocol", a.Protocol}} {
		c.addFlag(flag[0], flag[1])
	}
	c.addNumber("body-bytes", a.BodyBytes)
	c.addNumber("port", a.Port)
	c.addFlags("expect", a.Expect)
	a.addTo(&c)
	return c, nil
}

type reachArguments struct {
	Policies []string `json:"policies" jsonschema:"policies, or settings of them, as [KIND/][NAMESPACE/]NAME[/SETTING]"`
	scope
}

func (a reachArguments) toCommandLine() (commandLine, error) {
	c := commandLine{name: "reach", words: a.Policies}
	a.addTo(&c)
	return c, nil
}

type overriddenArguments struct {
	Policies []string `json:"policies,omitempty" jsonschema:"policies or settings of them, as [KIND/][NAMESPACE/]NAME[/SETTING] (default: all)"`
	Target   string   `json:"target,omitempty" jsonschema:"only what was overridden at this target, as [KIND/][NAMESPACE/]NAME[/SECTION]"`
	scope
}

func (a overriddenArguments) toCommandLine() (commandLine, error) {
	c := commandLine{name: "overridden", words: a.Policies}
	c.addFlag("target", a.Target)
	a.addTo(&c)
	return c, nil
}

type matrixArguments struct {
	Target  string   `json:"target,omitempty" jsonschema:"only what is below this target, as [KIND/][NAMESPACE/]NAME[/SECTION] (default: all route rules)"`
	Missing []string `json:"missing,omitempty" jsonschema:"only rules without this property (authentication, authorization, …), or without a policy of this kind in force"`
	scope
}

func (a matrixArguments) toCommandLine() (commandLine, error) {
	c := commandLine{name: "matrix"}
	if a.Target != "" {
		c.words = []string{a.Target}
	}
	c.addListFlags("missing", a.Missing)
	a.addTo(&c)
	return c, nil
}

type statusArguments struct {
	Objects []string `json:"objects,omitempty" jsonschema:"policies, as [KIND/][NAMESPACE/]NAME (default: all)"`
	All     bool     `json:"all,omitempty" jsonschema:"also routes, Gateways and listeners"`
	scope
}

func (a statusArguments) toCommandLine() (commandLine, error) {
	c := commandLine{name: "status", words: a.Objects}
	c.addSwitch("all", a.All)
	a.addTo(&c)
	return c, nil
}

type proveArguments struct {
	Require    []string `json:"require,omitempty" jsonschema:"what every request has to meet: a property such as authentication or authentication=jwt, or a policy kind; several: one of them"`
	Property   string   `json:"property,omitempty" jsonschema:"a ready-made property instead of require: meets-policy, one-namespace-per-host, plain-http-only-redirects, only-listed-exposed, no-rule-shadowed or no-namespace-by-header"`
	Allow      []string `json:"allow,omitempty" jsonschema:"with property only-listed-exposed: what may be reached, as HOST or HOST/PATH"`
	Expression string   `json:"expression,omitempty" jsonschema:"what has to hold instead, in CEL over target, effective, path and backend"`
	Hosts      []string `json:"hosts,omitempty" jsonschema:"only these hosts; *.example.com is all below example.com"`
	Paths      []string `json:"paths,omitempty" jsonschema:"only these paths: /admin alone, /admin/** with all below it"`
	Methods    []string `json:"methods,omitempty" jsonschema:"only these methods"`
	Headers    []string `json:"headers,omitempty" jsonschema:"only requests with these headers, as name=value, or without, as !name"`
	Gateway    string   `json:"gateway,omitempty" jsonschema:"only this Gateway, as [NAMESPACE/]NAME"`
	scope
}

func (a proveArguments) toCommandLine() (commandLine, error) {
	c := commandLine{name: "prove"}
	c.addListFlags("require", a.Require)
	c.addFlag("property", a.Property)
	c.addListFlags("allow", a.Allow)
	c.addFlag("expression", a.Expression)
	c.addListFlags("hosts", a.Hosts)
	c.addListFlags("paths", a.Paths)
	c.addListFlags("methods", a.Methods)
	c.addFlags("headers", a.Headers)
	c.addFlag("gateway", a.Gateway)
	a.addTo(&c)
	return c, nil
}

type diffArguments struct {
	Manifests   string   `json:"manifests,omitempty" jsonschema:"YAML of the objects that would be applied, with all of their fields"`
	Delete      []string `json:"delete,omitempty" jsonschema:"objects that would be deleted, as KIND/NAMESPACE/NAME"`
	Behavior    bool     `json:"behavior,omitempty" jsonschema:"compare what every request gets, instead of what is in force on route rules"`
	NoNewAccess bool     `json:"noNewAccess,omitempty" jsonschema:"with behavior: whether requests get access that they did not have"`
	scope
}

func (a diffArguments) toCommandLine() (commandLine, error) {
	c := commandLine{name: "diff", stdin: a.Manifests}
	if a.Manifests == "" && len(a.Delete) == 0 {
		return c, failure.Usage("give manifests, delete or both", "there is no change to look at")
	}
	if a.Manifests != "" {
		c.addFlag("filename", "-")
	}
	c.addFlags("delete", a.Delete)
	c.addSwitch("behavior", a.Behavior)
	c.addSwitch("no-new-access", a.NoNewAccess)
	a.addTo(&c)
	return c, nil
}

type checkArguments struct{ scope }

func (a checkArguments) toCommandLine() (commandLine, error) {
	c := commandLine{name: "check"}
	a.addTo(&c)
	return c, nil
}

type graphArguments struct {
	Targets []string `json:"targets,omitempty" jsonschema:"only what is above and below these targets, as [KIND/][NAMESPACE/]NAME[/SECTION]"`
	Focus   string   `json:"focus,omitempty" jsonschema:"only what is near this target or policy"`
	Depth   int64    `json:"depth,omitempty" jsonschema:"with focus: how many edges away (default: 2)"`
	Request string   `json:"request,omitempty" jsonschema:"mark the path of a request, as '[METHOD] URL'"`
	scope
}

func (a graphArguments) toCommandLine() (commandLine, error) {
	c := commandLine{name: "graph", words: a.Targets}
	c.addFlag("focus", a.Focus)
	c.addNumber("depth", a.Depth)
	c.addFlag("request", a.Request)
	a.addTo(&c)
	return c, nil
}
