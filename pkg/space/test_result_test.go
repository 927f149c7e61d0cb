package space

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

func TestTold(t *testing.T) {
	tests := []request.Test{{Aspect: request.AspectPath, Value: "/open"}, {Aspect: request.AspectMethod, Value: "GET"},
		{Aspect: request.AspectHeader, Name: "x-key", Form: request.Expression, Value: "^(?:k.*)$"}}
	var got []string
	ok := EachTestResult(tests, request.Request{Protocol: request.HTTP, Method: "GET", Path: "/"},
		func(r request.Request) {
			text := r.Method + " " + r.Path
			for _, h := range r.Headers {
				text += " " + h.Name + "=" + h.Value
			}
			got = append(got, text)
		})
	if !ok || len(got) != 12 {
		t.Fatalf("%v, %d requests: %q", ok, len(got), got)
	}
	for _, want := range []string{"GET /open", "POST /", "GET / x-key=k", "POST /open x-key=k"} {
		if !slices.Contains(got, want) {
			t.Errorf("without %q: %q", want, got)
		}
	}
	var one []request.Request
	if !EachTestResult(nil, request.Request{Path: "/a"}, func(r request.Request) { one = append(one, r) }) ||
		len(one) != 1 || one[0].Path != "/a" {
		t.Errorf("without tests: %v", one)
	}
}
