// Package envoy writes down what a vendor's code tells an Envoy proxy, without what only the vendor's own build of Envoy understands. It needs the
// standard library alone, so that it can be built into any module.
package envoy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Config is what one proxy is told: Envoy's resources, each in protojson form.
type Config struct {
	Listeners, Routes, Clusters, Endpoints, Secrets []json.RawMessage
}

// Note adds the facts of a proxy, NAMESPACE/NAME of its Gateway: "NAMESPACE/NAME:listeners" and so on, and the names of the extensions that were
// taken out under "NAMESPACE/NAME:removed". The order of resources means nothing to Envoy; here it is always the same.
func (c Config) Note(facts map[string]string, proxy string) error {
	removed := map[string]bool{}
	for kind, resources := range map[string][]json.RawMessage{
		"listeners": c.Listeners, "routes": c.Routes, "clusters": c.Clusters, "endpoints": c.Endpoints, "secrets": c.Secrets,
	} {
		out := make([]string, 0, len(resources))
		for _, text := range resources {
			var tree any
			if err := json.Unmarshal(text, &tree); err != nil {
				return fmt.Errorf("reading one of the %s of %s: %w", kind, proxy, err)
			}
			text, err := json.Marshal(plain(tree, removed))
			if err != nil {
				return err
			}
			out = append(out, string(text))
		}
		slices.Sort(out)
		facts[proxy+":"+kind] = "[" + strings.Join(out, ",") + "]"
	}
	names := slices.AppendSeq([]string{}, maps.Keys(removed))
	slices.Sort(names)
	text, err := json.Marshal(names)
	facts[proxy+":removed"] = string(text)
	return err
}

// plain is a resource without foreign extensions, and with secrets that are read from where the listeners are read from.
func plain(v any, removed map[string]bool) any {
	switch v := v.(type) {
	case []any:
		kept := v[:0]
		for _, inner := range v {
			if fields, ok := inner.(map[string]any); ok && foreign(fields) {
				removed[named(fields)] = true
				continue
			}
			kept = append(kept, plain(inner, removed))
		}
		return kept
	case map[string]any:
		for key, inner := range v {
			if fields, ok := inner.(map[string]any); ok && key != "typedConfig" && foreign(fields) {
				removed[key] = true
				delete(v, key)
				continue
			}
			v[key] = plain(inner, removed)
		}
		delete(v, "sdsConfig")
	}
	return v
}

// named is the name of an extension.
func named(fields map[string]any) string {
	if name, ok := fields["name"].(string); ok {
		return name
	}
	return fmt.Sprint(fields["@type"])
}

// foreign reports whether an object is an extension, or the configuration of one, that Envoy as it is released cannot run.
func foreign(fields map[string]any) bool {
	if _, ok := fields["configDiscovery"]; ok { // the configuration comes from the vendor's control plane
		return true
	}
	config, ok := fields["typedConfig"].(map[string]any)
	if !ok {
		config = fields
	}
	kind, ok := config["@type"].(string)
	if !ok {
		return false
	}
	if strings.HasSuffix(kind, ".TypedStruct") {
		kind = fmt.Sprint(config["typeUrl"])
	}
	if strings.HasSuffix(kind, "/envoy.config.route.v3.FilterConfig") {
		inner, _ := config["config"].(map[string]any)
		return inner != nil && foreign(inner)
	}
	_, kind, _ = strings.Cut(kind, "/")
	for _, code := range []string{"wasm", "dynamic_modules", "golang"} { // code that is not here
		if strings.HasPrefix(kind, "envoy.extensions.filters.http."+code+".") {
			return true
		}
	}
	return !slices.ContainsFunc([]string{"envoy.config.", "envoy.extensions.", "envoy.type.", "xds.", "google."}, func(known string) bool { return strings.HasPrefix(kind, known) })
}
