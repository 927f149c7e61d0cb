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
		"argo.<secret:domain>":       {"<secret:domain>"},
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
