package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// sketch is an object of a kind that grows: whatever the server takes is what is changed next.
type sketch struct {
	draw
	apiVersion, kind string
	schema           map[string]any
	content          map[string]any // without metadata; nil: the server has taken none yet
}

// newSketches are sketches of every served version of every kind.
func newSketches(kinds []releasedKind, seed int) []*sketch {
	var out []*sketch
	for _, k := range kinds {
		for _, v := range k.Versions {
			if v["served"] != true {
				continue
			}
			holder, _ := v["schema"].(map[string]any)
			of, _ := holder["openAPIV3Schema"].(map[string]any)
			random := rand.New(rand.NewPCG(uint64(seed), uint64(len(out))))
			out = append(out, &sketch{draw: draw{random, 30}, apiVersion: fmt.Sprint(k.group, "/", v["name"]),
				kind: k.kind, schema: of})
		}
	}
	return out
}

// compareDrawn compares so many objects, spread evenly over the sketches.
func (j *jury) compareDrawn(sketches []*sketch, n int) {
	j.t.Helper()
	for drawn := 0; drawn < n; {
		var objects []*unstructured.Unstructured
		var contents []map[string]any
		for _, s := range sketches[:min(len(sketches), n-drawn)] {
			content := s.next()
			contents = append(contents, content)
			objects = append(objects, s.object(content, fmt.Sprintf("d%d", drawn)))
			drawn++
		}
		for i, taken := range j.compare(objects) {
			if taken {
				sketches[i].content = contents[i]
			}
		}
	}
}

// next is what is tried next.
func (s *sketch) next() map[string]any {
	s.optional = pick(s.draw, []int{0, 10, 30, 60})
	content := runtime.DeepCopyJSON(s.content)
	if content == nil || s.chance(5) {
		content, _ = s.value(s.schema, 0).(map[string]any)
		if content == nil {
			content = map[string]any{}
		}
		if s.content == nil && s.chance(80) {
			return content
		}
	}
	for more := true; more; more = s.chance(40) {
		root := place{schema: s.schema, value: content, remove: func() {}, set: func(to any) {
			if to, ok := to.(map[string]any); ok {
				content = to
			}
		}}
		if s.chance(35) {
			s.grow(root)
		} else {
			s.change(root)
		}
	}
	return content
}

// object is an object with a content. Some are wrong outside of it.
func (s *sketch) object(content map[string]any, name string) *unstructured.Unstructured {
	o := runtime.DeepCopyJSON(content)
	metadata := map[string]any{"name": name, "namespace": "default"}
	if s.chance(3) {
		maps.Copy(metadata, runtime.DeepCopyJSON(pick(s.draw, metadatas)))
	}
	if s.chance(1) {
		metadata["name"] = name + "_A"
	}
	o["apiVersion"], o["kind"], o["metadata"] = s.apiVersion, s.kind, metadata
	return &unstructured.Unstructured{Object: o}
}
