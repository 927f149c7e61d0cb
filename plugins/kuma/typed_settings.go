package kuma

import (
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// toTyped makes of a part's settings what the control plane reads: without nulls, durations as it
// prints them, and with what the API fills in.
func toTyped(part *policy.Policy, settings any, s model.Settings) any {
	c := valueCleaner{asWritten: s.Text("kuma.labels") == "compute"}
	out := c.cleanValue(settings, "", false)
	if fill := defaultFillers()[part.Kind.GroupKind.Kind]; fill != nil {
		eachObject(out, fill)
	}
	return out
}

// valueCleaner writes values as the control plane does; durations of plain YAML, which it has not
// seen, stay as they are written.
type valueCleaner struct{ asWritten bool }

// cleanValue drops nulls inside lists and writes durations alike. Other nulls are left to the fold,
// which accounts for them.
func (c valueCleaner) cleanValue(v any, key string, listed bool) any {
	switch t := v.(type) {
	case map[string]any:
		for name, inner := range t {
			if inner == nil && listed {
				delete(t, name)
			} else {
				t[name] = c.cleanValue(inner, name, listed)
			}
		}
	case []any:
		for i, inner := range t {
			t[i] = c.cleanValue(inner, "", true)
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

// fillFunc fills defaults into an object that stands at a field.
type fillFunc func(key string, object map[string]any)

// eachObject calls fill for every object, with the field that it stands at; for entries of a list
// that of the list.
func eachObject(v any, fill fillFunc) { eachObjectAt(v, "", fill) }

func eachObjectAt(v any, key string, fill fillFunc) {
	switch t := v.(type) {
	case map[string]any:
		fill(key, t)
		for name, inner := range t {
			eachObjectAt(inner, name, fill)
		}
	case []any:
		for _, inner := range t {
			eachObjectAt(inner, key, fill)
		}
	}
}

func setDefault(object map[string]any, key string, value any) {
	if object[key] == nil { // nor is a null a value
		object[key] = value
	}
}

// defaultFillers are the defaults of the kinds' CRDs that take part in merging.
func defaultFillers() map[string]fillFunc {
	weights := func(key string, o map[string]any) {
		if key == "backendRefs" || key == "backendRef" {
			setDefault(o, "weight", int64(1))
		}
	}
	return map[string]fillFunc{
		"MeshHTTPRoute": weights,
		"MeshTCPRoute":  weights,
		"MeshTrace": func(key string, o map[string]any) {
			switch key {
			case "zipkin":
				setDefault(o, "apiVersion", "httpJson")
				setDefault(o, "sharedSpanContext", true)
				setDefault(o, "traceId128bit", false)
			case "datadog":
				setDefault(o, "splitService", false)
			}
		},
		"MeshAccessLog": func(key string, o map[string]any) {
			if key == "format" {
				setDefault(o, "omitEmptyValues", false)
			}
		},
		"MeshMetric": func(key string, o map[string]any) {
			switch key {
			case "prometheus":
				setDefault(o, "port", int64(5670))
				setDefault(o, "path", "/metrics")
			case "applications":
				setDefault(o, "path", "/metrics")
			}
		},
	}
}
