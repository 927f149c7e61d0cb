package protecttest

import "slices"

// truth is what a simulator knows of one request: that it is so, that it is not, or neither.
type truth int8

const (
	no truth = iota
	maybe
	yes
)

// is is yes or no.
func is(b bool) truth {
	if b {
		return yes
	}
	return no
}

// not is the opposite.
func (t truth) not() truth { return yes - t }

// The worth of a credential. Every word but absent and bad is one that is verified, and says what
// is in it.
const (
	absent = ""
	bad    = "bad"
	good   = "good"
	claims = "claims" // a token with the claims that rules of a world ask for
)

// client is who sends a request, and from where.
type client struct {
	token       string // JWT: absent, bad, good, claims
	basic       string // user and password: absent, bad, good
	key         string // API key: absent, bad, good
	certificate string // of the connection: absent, bad, good
	session     bool   // of a login with OIDC
	mesh        bool   // a verified identity of a mesh
	address     string
	opaque      bool // what expressions that are not read come to
}

// counts reports whether a client has any credential that is worth something.
func (c *client) counts() bool {
	worth := func(s string) bool { return s != absent && s != bad }
	return worth(c.token) || worth(c.basic) || worth(c.key) || worth(c.certificate) || c.session || c.mesh
}

// call is what is asked: everything of a request but who asks.
type call struct {
	method, path string
	team         string // header x-team; "": it is not there
	secure       bool
}

// headers are those of the call.
func (c *call) headers() map[string]string {
	if c.team == "" {
		return nil
	}
	return map[string]string{"x-team": c.team}
}

// noAnswer stands for a handshake that fails in the place of an answer.
const noAnswer = -1

// reply is what a filter does with one request.
type reply struct {
	passes  truth // it goes on
	status  int   // of a request that does not go on; 0: any
	counted truth // against a finite limit that refuses
}

func pass() reply                      { return reply{passes: yes} }
func refuse(status int) reply          { return reply{status: status} }
func ask(t truth, status int) reply    { return reply{passes: t, status: status} }
func count(t truth) reply              { return reply{passes: yes, counted: t, status: 429} }
func demand(ok bool, status int) reply { return ask(is(ok), status) }

// filter is one step that a proxy takes with requests.
type filter struct {
	name    string
	decides bool // who is allowed, by identity or attributes
	does    func(*call, *client) reply
	partly  bool // only requests that it may refuse are put to it
}

// outcome is what becomes of one request.
type outcome struct {
	passes   truth
	counted  truth
	statuses []int // of answers that are possible; 0: any, 200: that of a backend
}

// run sends a request through the filters of a proxy.
func run(filters []filter, c *call, who *client) outcome {
	out := outcome{passes: yes}
	add := func(status int) {
		if !slices.Contains(out.statuses, status) {
			out.statuses = append(out.statuses, status)
		}
	}
	for i := range filters {
		r := filters[i].does(c, who)
		out.counted = max(out.counted, r.counted)
		if r.counted != no || r.passes != yes {
			if out.passes != no {
				add(r.status)
			}
		}
		out.passes = min(out.passes, r.passes)
	}
	if out.passes != no {
		add(200)
	}
	return out
}

// value finds what stands under field names of settings.
func value(v any, path ...string) any {
	for _, name := range path {
		fields, _ := v.(map[string]any)
		v = fields[name]
	}
	return v
}

func text(v any, path ...string) string {
	s, _ := value(v, path...).(string)
	return s
}

func flag(v any, path ...string) bool {
	b, _ := value(v, path...).(bool)
	return b
}

func list(v any, path ...string) []any {
	l, _ := value(v, path...).([]any)
	return l
}

func texts(v any, path ...string) []string {
	var out []string
	for _, one := range list(v, path...) {
		s, _ := one.(string)
		out = append(out, s)
	}
	return out
}
