package kuma

import (
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// typed makes of a part's settings what the control plane reads: without nulls, durations as it prints them, and with what the API fills in
// (spec §8).
func typed(part *policy.Policy, settings any, s model.Settings) any {
	c := cleaner{asWritten: s.Text("kuma.labels") == "compute"}
	out := c.clean(settings, "", false)
	if fill := fillers()[part.Kind.GroupKind.Kind]; fill != nil {
		walk(out, fill)
	}
	return out
}

// cleaner writes values as the control plane does; durations of plain YAML, which it has not seen, stay as they are written.
type cleaner struct{ asWritten bool }

// clean drops nulls inside lists and writes durations alike. Other nulls are left to the fold, which accounts for them.
func (c cleaner) clean(v any, key string, listed bool) any {
	switch t := v.(type) {
	case map[string]any:
		for name, inner := range t {
			if inner == nil && listed {
				delete(t, name)
			} else {
				t[name] = c.clean(inner, name, listed)
			}
		}
	case []any:
		for i, inner := range t {
			t[i] = c.clean(inner, "", true)
		}
	case string:
		if isDuration(key) && !c.asWritten {
			if d, err := time.ParseDuration(t); err == nil {
				return d.String()
			}
		}
	}
	return v
}

// isDuration reports whether a field holds a duration, by its name.
func isDuration(key string) bool {
	lower := strings.ToLower(key)
	for _, end := range []string{"timeout", "interval", "duration", "jitter", "ejectiontime"} {
		if strings.HasSuffix(lower, end) {
			return true
		}
	}
	return lower == "ttl"
}

// filler fills defaults into an object that stands at a field.
type filler func(key string, object map[string]any)

// walk calls fill for every object, with the field that it stands at; for entries of a list that of the list.
func walk(v any, fill filler) { walkAt(v, "", fill) }

func walkAt(v any, key string, fill filler) {
	switch t := v.(type) {
	case map[string]any:
		fill(key, t)
		for name, inner := range t {
			walkAt(inner, name, fill)
		}
	case []any:
		for _, inner := range t {
			walkAt(inner, key, fill)
		}
	}
}

func unset(object map[string]any, key string, value any) {
	if object[key] == nil { // nor is a null a value
		object[key] = value
	}
}

// fillers are the defaults of the kinds' CRDs that take part in merging.
func fillers() map[string]filler {
	weights := func(key string, o map[string]any) {
		if key == "backendRefs" || key == "backendRef" {
			unset(o, "weight", int64(1))
		}
	}
	return map[string]filler{
		"MeshHTTPRoute": weights,
		"MeshTCPRoute":  weights,
		"MeshTrace": func(key string, o map[string]any) {
			switch key {
			case "zipkin":
				unset(o, "apiVersion", "httpJson")
				unset(o, "sharedSpanContext", true)
				unset(o, "traceId128bit", false)
			case "datadog":
				unset(o, "splitService", false)
			}
		},
		"MeshAccessLog": func(key string, o map[string]any) {
			if key == "format" {
				unset(o, "omitEmptyValues", false)
			}
		},
		"MeshMetric": func(key string, o map[string]any) {
			switch key {
			case "prometheus":
				unset(o, "port", int64(5670))
				unset(o, "path", "/metrics")
			case "applications":
				unset(o, "path", "/metrics")
			}
		},
	}
}
