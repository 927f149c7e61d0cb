package kgateway

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// value reads JSON.
func value(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func printed(t *testing.T, units []merge.Unit) string {
	t.Helper()
	out := ""
	for _, u := range units {
		raw, err := json.Marshal(u.Value)
		if err != nil {
			t.Fatal(err)
		}
		layers := ""
		for _, f := range u.From {
			layers += fmt.Sprint(f.Layer)
		}
		out += fmt.Sprintf("%s=%s@%s ", u.Path, raw, layers)
	}
	return out
}

func unit(t *testing.T, path, text string, layer int) merge.Unit {
	t.Helper()
	return merge.Unit{Path: merge.KeyPath(path), Value: value(t, text),
		From: []merge.Source{{Layer: layer, Block: merge.Bare}}}
}

// TestDeep combines a child's setting (layer 1) with its parent's (layer 0), both ways (K12).
func TestDeep(t *testing.T) {
	tests := []struct{ name, path, child, parent, preferChild, preferParent string }{
		{"providers", "extAuth", `{"extensionRef":{"name":"c"}}`, `{"extensionRef":{"name":"p"}}`,
			`extAuth=[{"extensionRef":{"name":"c"}},{"extensionRef":{"name":"p"}}]@01 `,
			`extAuth=[{"extensionRef":{"name":"p"}},{"extensionRef":{"name":"c"}}]@01 `},
		{"one provider", "extProc", `{"by":"c","extensionRef":{"name":"x"}}`, `{"by":"p","extensionRef":{"name":"x"}}`,
			`extProc={"by":"c","extensionRef":{"name":"x"}}@1 `, `extProc={"by":"c","extensionRef":{"name":"x"}}@1 `},
		{"parent turns off", "extAuth", `{"extensionRef":{"name":"c"}}`, `{"disable":{}}`, `extAuth={"disable":{}}@0 `,
			`extAuth={"disable":{}}@0 `},
		{"child turns off", "extAuth", `{"disable":{}}`, `{"extensionRef":{"name":"p"}}`, `extAuth={"disable":{}}@1 `,
			`extAuth={"disable":{}}@1 `},
		{"access lists", "acl", `{"defaultAction":"deny","rules":[1]}`,
			`{"defaultAction":"deny","rules":[2],"denyResponse":{"statusCode":401}}`,
			`acl={"defaultAction":"deny","denyResponse":{"statusCode":401},"rules":[1,2]}@01 `,
			`acl={"defaultAction":"deny","denyResponse":{"statusCode":401},"rules":[2,1]}@01 `},
		{"contradiction", "acl", `{"defaultAction":"deny"}`, `{"defaultAction":"allow"}`,
			`acl={"defaultAction":"deny"}@1 `, `acl={"defaultAction":"allow"}@0 `},
		{"no default action", "acl", `{"rules":[1]}`, `{"rules":[2]}`, `acl={"rules":[1]}@1 `, `acl={"rules":[2]}@0 `},
		{"other answers", "acl", `{"defaultAction":"deny","denyResponse":{"statusCode":403}}`,
			`{"defaultAction":"deny","denyResponse":{"statusCode":404}}`,
			`acl={"defaultAction":"deny","denyResponse":{"statusCode":403}}@1 `,
			`acl={"defaultAction":"deny","denyResponse":{"statusCode":404}}@0 `},
		{"lists", "transformation", `{"request":{"set":["c"]},"response":{"body":"c"},"x":"c"}`,
			`{"request":{"set":["p"],"body":"p"},"x":"p"}`,
			`transformation={"request":{"body":"p","set":["p","c"]},"response":{"body":"c"},"x":"p"}@01 `,
			`transformation={"request":{"body":"p","set":["c","p"]},"response":{"body":"c"},"x":"c"}@01 `},
		{"whole settings", "cors", `"c"`, `"p"`, `cors="c"@1 `, `cors="c"@1 `},
		{"odd values", "transformation", `"c"`, `{"request":{"set":["p"]}}`, `transformation="c"@1 `,
			`transformation={"request":{"set":["p"]}}@0 `},
	}
	for _, tt := range tests {
		for how, want := range map[string]string{deepChild: tt.preferChild, deepParent: tt.preferParent} {
			child, parent := unit(t, tt.path, tt.child, 1), unit(t, tt.path, tt.parent, 0)
			f := settingFold{units: []merge.Unit{child}}
			f.addParent(parent, how)
			if got := printed(t, f.units); got != want {
				t.Errorf("%s, %s:\n got %s\nwant %s", tt.name, how, got, want)
			}
		}
	}
}

// TestLayers puts what a Gateway (layer 0) sets under what a route (layer 1) does (K13-K15).
func TestLayers(t *testing.T) {
	tests := []struct{ name, path, inner, outer, want string }{
		{"whole", "cors", `{"a":1}`, `{"b":1}`, `cors={"a":1}@1 `},
		{"providers", "jwtAuth", `{"extensionRef":{"name":"i","namespace":"n"}}`,
			`{"extensionRef":{"name":"o","namespace":"n"}}`,
			`jwtAuth[n/i]={"extensionRef":{"name":"i","namespace":"n"}}@1 jwtAuth[n/o]={"extensionRef":{"name":"o","namespace":"n"}}@0 `},
		{"one provider", "jwtAuth", `{"extensionRef":{"name":"i"},"x":1}`, `{"extensionRef":{"name":"i"}}`,
			`jwtAuth={"extensionRef":{"name":"i"},"x":1}@1 `},
		{"off inside", "jwtAuth", `{"disable":{}}`, `{"extensionRef":{"name":"o"}}`, `jwtAuth={"disable":{}}@1 `},
		{"timeouts", "timeouts", `{"request":"1s"}`, `{"request":"2s","streamIdle":"3s"}`,
			`timeouts.request="1s"@1 timeouts.streamIdle="3s"@0 `},
	}
	strategy, _ := newLayerStrategy("", model.Settings{})
	for _, tt := range tests {
		units, _ := strategy.Func([]merge.Unit{unit(t, tt.path, tt.outer, 0)},
			[]merge.Unit{unit(t, tt.path, tt.inner, 1)})
		if got := printed(t, units); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
