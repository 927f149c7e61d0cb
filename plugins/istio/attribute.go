package istio

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// attribute matches one field of an operation.
func (j *judgement) attribute(name string, values []any) topology.Truth {
	a := j.query.Answer
	switch {
	case name == "ports" && a == nil:
		return oneOf(values, func(v string) topology.Truth { return truth(v == strconv.Itoa(j.query.Port)) })
	case a == nil || a.Request.Protocol != request.HTTP && a.Request.Protocol != request.GRPC:
		return j.unknown(name + " of a request")
	case name == "hosts":
		return oneOf(values, func(v string) topology.Truth { return j.host(strings.ToLower(v), a.Request) })
	case name == "methods":
		method := a.Request.Method
		if a.Request.Protocol == request.GRPC {
			method = "POST"
		}
		return oneOf(values, func(v string) topology.Truth { return truth(fits(v, method)) })
	case name == "paths":
		path := a.Request.Path
		if a.Request.Protocol == request.GRPC {
			path = "/" + a.Request.Service + "/" + a.Request.Call
		}
		if strings.ContainsAny(path, `%\`) || strings.Contains(path, "/.") || strings.Contains(path, "//") {
			return j.unknown("how the path is normalized")
		}
		return oneOf(values, func(v string) topology.Truth {
			if strings.Contains(v, "{") {
				return j.unknown("the path template " + v)
			}
			return truth(fits(v, path))
		})
	}
	return j.unknown(name)
}

// host matches the Host header, which clients write with the port, unless it is the usual one.
func (j *judgement) host(want string, r request.Request) topology.Truth {
	have := strings.ToLower(r.Host)
	plain, full := fits(want, have), fits(want, have+":"+strconv.Itoa(int(r.Port)))
	usual := r.Port == 80 && !r.Secure || r.Port == 443 && r.Secure
	if plain == full || usual {
		return truth(plain)
	}
	return j.unknown("whether the Host header names the port")
}

// condition matches an entry of when. Only headers of requests are in the question.
func (j *judgement) condition(c any) topology.Truth {
	key := model.Text(c, "key")
	values, _ := model.Get(c, "values").([]any)
	others, _ := model.Get(c, "notValues").([]any)
	name, ok := strings.CutPrefix(key, "request.headers[")
	a := j.query.Answer
	if !ok || a == nil || a.Request.Protocol != request.HTTP && a.Request.Protocol != request.GRPC {
		return j.unknown(key)
	}
	name = strings.TrimSuffix(name, "]")
	have, present := "", false
	for _, h := range a.Request.Headers {
		if strings.EqualFold(h.Name, name) {
			have, present = h.Value, true
		}
	}
	in := func(list []any) topology.Truth {
		return oneOf(list, func(v string) topology.Truth { return truth(present && fits(v, have)) })
	}
	out := topology.Yes
	if len(values) > 0 {
		out = min(out, in(values))
	}
	if len(others) > 0 {
		out = min(out, not(in(others)))
	}
	return out
}

// fits matches a value as Istio does: exactly, by a prefix (x*), by a suffix (*x), or by being there (*).
func fits(want, have string) bool {
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

func oneOf(values []any, match func(string) topology.Truth) topology.Truth {
	out := topology.No
	for _, v := range values {
		if text, ok := v.(string); ok {
			out = max(out, match(text))
		}
	}
	return out
}

func truth(b bool) topology.Truth {
	if b {
		return topology.Yes
	}
	return topology.No
}

func not(t topology.Truth) topology.Truth {
	switch t {
	case topology.Yes:
		return topology.No
	case topology.No:
		return topology.Yes
	}
	return t
}

func sortedNames(m map[string]any) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
