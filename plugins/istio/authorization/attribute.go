package authorization

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// matchAttribute matches one field of an operation.
func (j *ruleEvaluator) matchAttribute(name string, values []any) selector.Truth {
	a := j.Answer
	switch {
	case name == "ports" && j.Port != 0:
		return matchAny(values, func(v string) selector.Truth { return truthOf(v == strconv.Itoa(j.Port)) })
	case a == nil || a.Request.Protocol != request.HTTP && a.Request.Protocol != request.GRPC:
		return j.noteUnknown(name + " of a request")
	case name == "hosts":
		if j.Rewritten && a.Sends != nil && !strings.EqualFold(a.Sends.Host, a.Request.Host) {
			return matchAny(values, func(v string) selector.Truth {
				return truthOf(matchesValue(strings.ToLower(v), strings.ToLower(a.Sends.Host)))
			})
		}
		return matchAny(values, func(v string) selector.Truth { return j.matchHost(strings.ToLower(v), a.Request) })
	case name == "methods":
		method := a.Request.Method
		if a.Request.Protocol == request.GRPC {
			method = "POST"
		}
		return matchAny(values, func(v string) selector.Truth { return truthOf(matchesValue(v, method)) })
	case name == "paths":
		path := cmp.Or(a.SeenPath, a.Request.Path)
		if j.Rewritten && a.Sends != nil && a.Sends.Path != "" {
			path = a.Sends.Path
		}
		if a.Request.Protocol == request.GRPC {
			path = "/" + a.Request.Service + "/" + a.Request.Call
		}
		if strings.ContainsAny(path, `%\`) || strings.Contains(path, "/.") || strings.Contains(path, "//") {
			return j.noteUnknown("how the path is normalized")
		}
		return matchAny(values, func(v string) selector.Truth {
			if strings.Contains(v, "{") {
				return j.noteUnknown("the path template " + v)
			}
			return truthOf(matchesValue(v, path))
		})
	}
	return j.noteUnknown(name)
}

// matchHost matches the Host header, with the port that it has. Of a request of which that is not
// known, clients write the port, unless it is the usual one.
func (j *ruleEvaluator) matchHost(want string, r request.Request) selector.Truth {
	have := strings.ToLower(r.Host)
	if r.HostText != "" {
		if r.HostPort != "" {
			have += ":" + r.HostPort
		}
		return truthOf(matchesValue(want, have))
	}
	plain, full := matchesValue(want, have), matchesValue(want, have+":"+strconv.Itoa(int(r.Port)))
	usual := r.Port == 80 && !r.Secure || r.Port == 443 && r.Secure
	if plain == full || usual {
		return truthOf(plain)
	}
	return j.noteUnknown("whether the Host header names the port")
}

// matchCondition matches an entry of when: what is known are headers of requests, and what places know
// of connections.
func (j *ruleEvaluator) matchCondition(c any) selector.Truth {
	key := model.Text(c, "key")
	values, _ := model.Get(c, "values").([]any)
	others, _ := model.Get(c, "notValues").([]any)
	match := func(one func([]any) selector.Truth) selector.Truth {
		out := selector.Truth(selector.Yes)
		if len(values) > 0 {
			out = min(out, one(values))
		}
		if len(others) > 0 {
			out = min(out, negateTruth(one(others)))
		}
		return out
	}
	if field := sourceConditions[key]; field != "" && j.Source != nil {
		return match(func(list []any) selector.Truth { return j.matchSourceField(field, list) })
	}
	if key == "destination.port" && j.Port != 0 {
		return match(func(list []any) selector.Truth { return j.matchAttribute("ports", list) })
	}
	name, ok := strings.CutPrefix(key, "request.headers[")
	a := j.Answer
	if !ok || a == nil || a.Request.Protocol != request.HTTP && a.Request.Protocol != request.GRPC {
		return j.noteUnknown(key)
	}
	name = strings.TrimSuffix(name, "]")
	have, present := "", false
	for _, h := range a.Request.Headers {
		if strings.EqualFold(h.Name, name) {
			have, present = h.Value, true
		}
	}
	return match(func(list []any) selector.Truth {
		return matchAny(list, func(v string) selector.Truth { return truthOf(present && matchesValue(v, have)) })
	})
}

// matchesValue matches a value as Istio does: exactly, by a prefix (x*), by a suffix (*x), or by
// being there (*).
func matchesValue(want, have string) bool {
	switch {
	case want == "*":
		return have != ""
	case strings.HasPrefix(want, "*"):
		return strings.HasSuffix(have, strings.TrimPrefix(want, "*"))
	case strings.HasSuffix(want, "*"):
		return strings.HasPrefix(have, strings.TrimSuffix(want, "*"))
	}
	return want == have
}

func matchAny(values []any, match func(string) selector.Truth) selector.Truth {
	out := selector.No
	for _, v := range values {
		if text, ok := v.(string); ok {
			out = max(out, match(text))
		}
	}
	return out
}

func truthOf(b bool) selector.Truth {
	if b {
		return selector.Yes
	}
	return selector.No
}

func negateTruth(t selector.Truth) selector.Truth {
	switch t {
	case selector.Yes:
		return selector.No
	case selector.No:
		return selector.Yes
	}
	return t
}

func sortNames(m map[string]any) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
