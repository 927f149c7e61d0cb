package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// istioMetrics are the metrics that have names of their own; all others are custom ones.
var istioMetrics = []string{"GRPC_REQUEST_MESSAGES", "GRPC_RESPONSE_MESSAGES", "REQUEST_COUNT", "REQUEST_DURATION", "REQUEST_SIZE", "RESPONSE_SIZE",
	"TCP_CLOSED_CONNECTIONS", "TCP_OPENED_CONNECTIONS", "TCP_RECEIVED_BYTES", "TCP_SENT_BYTES"}

// translated writes what is in force back, as one policy of a kind for each target and without default providers, and notes what the peer makes of
// it. What waypoints serve is asked about apart: a policy for the waypoint would hold there too.
func translated(out facts, translate translate, in *input, items []istioItem) error {
	for _, served := range []bool{false, true} {
		back, err := withoutPolicies(in)
		if err != nil {
			return err
		}
		bare := len(back.Objects)
		wanted := map[string]bool{} // facts about what is said of one target only
		for n, item := range items {
			if serves := item.kind() != "DestinationRule" && (item.Target.Kind == "Service" || item.Target.Kind == "ServiceEntry"); serves == served {
				back.Objects = append(back.Objects, item.back(n)...)
				if item.kind() == "DestinationRule" {
					wanted[item.destinationFact()] = true
				}
			}
		}
		written := map[string]bool{}
		tunneled := tunnelBack(in, items)
		for _, fact := range slices.Sorted(maps.Keys(tunneled)) {
			name := fact[strings.LastIndex(fact, " "):]
			if wanted[fact] = true; !written[name] && !served {
				back.Objects = append(back.Objects, tunneled[fact])
			}
			written[name] = true
		}
		if len(back.Objects) == bare {
			continue // there is nothing to be told
		}
		said, err := translate(back)
		if err != nil {
			return fmt.Errorf("what was written back: %w", err)
		}
		for key, value := range said {
			sort, _, _ := strings.Cut(key, " ")
			if merged := slices.Contains([]string{"jwt", "tracing", "metrics", "logs"}, sort); merged && strings.Contains(key, " via ") == served || wanted[key] && !served {
				set(out, key, value)
			}
		}
	}
	return nil
}

// withoutPolicies is an input without policies, in a mesh without default providers.
func withoutPolicies(in *input) (*input, error) {
	out, err := in.clone()
	if err != nil {
		return nil, err
	}
	out.Objects = slices.DeleteFunc(out.Objects, func(o object) bool {
		return slices.ContainsFunc(istioKinds, func(k istioKind) bool { return k.kind == o["kind"] })
	})
	for _, o := range out.Objects {
		text, is := at(o, "data", "mesh").(string)
		if !is {
			continue
		}
		config := object{}
		if err := json.Unmarshal([]byte(text), &config); err != nil {
			return nil, err
		}
		delete(config, "defaultProviders")
		less, err := json.Marshal(config)
		if err != nil {
			return nil, err
		}
		o["data"] = object{"mesh": string(less)}
	}
	return out, nil
}

// back is the policy that says for one target what is in force there; none of the kinds that are compared as they are.
func (i istioItem) back(n int) []object {
	var spec object
	version := ""
	metadata := object{"name": fmt.Sprintf("back-%d", n), "namespace": i.Target.Namespace}
	switch i.kind() {
	case "DestinationRule":
		metadata["namespace"] = i.clients()
		return []object{{"apiVersion": "networking.istio.io/v1", "kind": i.kind(), "metadata": metadata, "spec": i.Spec}}
	case "RequestAuthentication":
		version, spec = "security.istio.io/v1", i.Spec
	case "Telemetry":
		version, spec = "telemetry.istio.io/v1", object{"tracing": tracingBack(i.Spec), "metrics": metricsBack(i.Spec), "accessLogging": logsBack(i.Spec)}
	default:
		return nil
	}
	switch i.Target.Kind {
	case "Gateway", "Service", "ServiceEntry":
		groups := map[string]string{"Gateway": "gateway.networking.k8s.io", "Service": "", "ServiceEntry": "networking.istio.io"}
		spec["targetRefs"] = []object{{"group": groups[i.Target.Kind], "kind": i.Target.Kind, "name": i.Target.Name}}
	default:
		spec["selector"] = object{"matchLabels": object{"app": i.Target.Name}}
	}
	return []object{{"apiVersion": version, "kind": i.kind(), "metadata": metadata, "spec": spec}}
}

// tracingBack writes an entry for each end. Where nobody gets spans, a provider is named that nobody has.
func tracingBack(spec object) []object {
	var out []object
	for _, mode := range []string{"CLIENT", "SERVER"} {
		end, is := at(spec, "tracing", mode).(object)
		if !is {
			continue
		}
		entry := object{"match": object{"mode": mode}, "disableSpanReporting": end["disabled"]}
		for _, field := range []string{"randomSamplingPercentage", "useRequestIdForTraceSampling", "enableIstioTags", "disableContextPropagation"} {
			if v, has := end[field]; has {
				entry[field] = v
			}
		}
		provider, has := end["provider"]
		if !has {
			provider = "nowhere"
		}
		entry["providers"] = []object{{"name": provider}}
		if names, has := end["customTags"].([]any); has {
			tags := object{}
			for _, name := range names {
				tags[name.(string)] = tagOf(name.(string))
			}
			entry["customTags"] = tags
		}
		out = append(out, entry)
	}
	return out
}

// metricsBack writes an entry for each provider, and a last one that names them all: what it does not name would not count.
func metricsBack(spec object) []object {
	var out, names []object
	providers, _ := spec["metrics"].(object)
	for _, provider := range slices.Sorted(maps.Keys(providers)) {
		v := providers[provider]
		entry := object{"providers": []object{{"name": provider}}}
		names = append(names, object{"name": provider})
		if every := at(v, "reportingInterval"); every != nil {
			entry["reportingInterval"] = every
		}
		var overrides []object
		for _, mode := range []string{"CLIENT", "SERVER"} {
			overrides = append(overrides, overridesBack(mode, at(v, mode))...)
		}
		entry["overrides"] = overrides
		out = append(out, entry)
	}
	if names == nil {
		return nil
	}
	return append(out, object{"providers": names})
}

func overridesBack(mode string, end any) []object {
	if at(end, "disabled") == true {
		return []object{{"match": object{"mode": mode, "metric": "ALL_METRICS"}, "disabled": true}}
	}
	var out []object
	overrides, _ := at(end, "overrides").(object)
	for _, metric := range slices.Sorted(maps.Keys(overrides)) {
		v := overrides[metric]
		field := "customMetric"
		if slices.Contains(istioMetrics, metric) {
			field = "metric"
		}
		over := object{"match": object{"mode": mode, field: metric}}
		for _, field := range []string{"disabled", "tagOverrides"} {
			if said := at(v, field); said != nil {
				over[field] = said
			}
		}
		out = append(out, over)
	}
	return out
}

// logsBack writes an entry for each provider and end.
func logsBack(spec object) []object {
	var out []object
	providers, _ := spec["accessLogging"].(object)
	for _, provider := range slices.Sorted(maps.Keys(providers)) {
		ends := providers[provider].(object)
		for _, mode := range slices.Sorted(maps.Keys(ends)) {
			end := ends[mode]
			entry := object{"match": object{"mode": mode}, "providers": []object{{"name": provider}}}
			for _, field := range []string{"disabled", "filter"} {
				if said := at(end, field); said != nil {
					entry[field] = said
				}
			}
			out = append(out, entry)
		}
	}
	return out
}
