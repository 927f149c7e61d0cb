package model

import (
	"slices"
	"testing"
)

func TestCutVariable(t *testing.T) {
	for text, want := range map[string][]string{
		"shop":                       nil,
		"${APP}":                     {"${APP}"},
		"${APP}.${DOMAIN:=x.com}":    {"${APP}", "${DOMAIN}"},
		"a-${app_1}-b":               {"${app_1}"},
		"$${APP}":                    nil,
		"$${APP}-${B}":               {"${B}"},
		"${APP":                      nil,
		"${}":                        nil,
		"${1}":                       nil,
		"$APP":                       nil,
		"${A${B}":                    {"${A}"},
		"a.{{.Values.host}}":         {"{{ .Values.host }}"},
		"{{ a }}-{{ b":               {"{{ a }}"},
		"{a}":                        nil,
		"rss.<path:avp/data#domain>": {"<path:avp/data#domain>"},
		"<path>":                     nil,
		"ENC[AES256_GCM,data:A,iv:B,tag:C,type:str].${A}": {EncryptedVariable, "${A}"},
		"ENC[x]":     nil,
		"${var/a/b}": {"${var}"},
	} {
		var got []string
		for rest := text; ; {
			name, after, found := CutVariable(rest)
			if !found {
				break
			}
			got, rest = append(got, name), after
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Every text with a variable is found by what may begin one, wherever it stands in what was packed together.
func TestVariableSearch(t *testing.T) {
	for text, want := range map[string]bool{"": false, "shop": false, "$": false, "$5 {x}": false, "a ${APP} b": true, "{{ .Values.x }}": true, "<path:a/b#c>": true,
		"ENC[AES256_GCM,data:x]": true} {
		b := Pack(map[string]any{"metadata": map[string]any{"name": "plain"}, "spec": map[string]any{"list": []any{"plain", text}}}, nil)
		s := VariableSearch{}
		for range 2 {
			if got := s.CanHaveVariable(b.At("metadata")); got != want || HasVariable(text) && !got {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	}
	if !(VariableSearch{}).CanHaveVariable(Body{}) {
		t.Error("of a body without content nothing is known")
	}
}
