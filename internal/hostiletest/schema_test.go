//go:build linux

package hostiletest

import (
	"fmt"
	"strings"
)

// schemaAttacks are definitions that multiply what is in them by what is in objects.
var schemaAttacks = []attack{
	{name: "a large default for each of many items", args: "check -f @file",
		file: definition("properties: {d: {type: array, items: {type: string}, default: ["+list("x", 10_000)+"]}}", "",
			"{}", 10_000), want: "defaults would add more than 100000 keys and values"},
	{name: "defaults within defaults", args: "check -f @file",
		file: definition(nestedDefaults(8), "", "{}", 10), want: "defaults would add more than 100000 keys and values"},
	{name: "a default for each of many objects", args: "check -f @file",
		file: manyThings("default: ["+list("x", 1_000)+"]", 3_000, func(int) string { return "null" }),
		want: "or 2000000 to all"},
	{name: "a large enum in many messages", args: "check -f @file",
		file: definition("enum: ["+numbered("v%d, ", 100_000)+"]", "", "wrong", 8_000), want: "more than 200000000 steps"},
	{name: "a long pattern in many messages", args: "check -f @file",
		file: definition("pattern: '^"+strings.Repeat("a", 200_000)+"$'", "", "b", 8_000),
		want: "more than 200000000 steps"},
	{name: "a long key on the way to many fields", args: "check -f @file",
		file: longKey(1_000_000, 8_000), exit: 1, want: "more than 200000000 steps"},
	{name: "lists of lists of mistakes", args: "check -f @file",
		file: replaced(definition("", "", "["+list("1", 1_000)+"]", 1_000), "type: string",
			"type: array\n                  items: {type: string}"), want: "more than 200000000 steps"},
	{name: "many unknown fields", args: "check -f @file",
		file: replaced(definition("properties: {a: {type: string}}", "", "{"+fields(1_000)+"}", 300), preserved, ""),
		exit: 1, want: "more problems of the object are not listed"},
	{name: "many broken rules", args: "check -f @file",
		file: definition("x-kubernetes-validations: [{rule: 'false'}]", "", "v", 8_000), exit: 1,
		want: "more than 1000 of its values break validation rules"},
}

// preserved is what definition says of items that are objects.
const preserved = "                  x-kubernetes-preserve-unknown-fields: true\n"

func replaced(file func() []byte, old, with string) func() []byte {
	return func() []byte { return []byte(strings.Replace(string(file()), old, with, 1)) }
}

func list(entry string, n int) string { return strings.TrimSuffix(strings.Repeat(entry+", ", n), ", ") }

func fields(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "u%d: 1, ", i)
	}
	return out.String()
}

// nestedDefaults is a field with ten objects by default, each of which has such a field.
func nestedDefaults(deep int) string {
	if deep == 0 {
		return "properties: {a: {type: string}}"
	}
	return "properties: {a: {type: array, default: [" + list("{}", 10) + "], items: {type: object, " +
		nestedDefaults(deep-1) + "}}}"
}

// longKey is an object with a long key, below which there are many unknown fields.
func longKey(length, n int) func() []byte {
	return func() []byte {
		kind := definition("additionalProperties: {type: object, properties: {a: {type: string}}}", "", "{}", 0)
		head, _, _ := strings.Cut(string(replaced(kind, preserved, "")()), "\n---\napiVersion: example.com")
		return []byte(head + "\n---\n" + `{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, ` +
			`"spec": {"list": [{"` + strings.Repeat("k", length) + `": {` +
			strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(fields(n), ", "), "u", `"u`), ":", `":`) + "}}]}}\n")
	}
}
