// Package dataplane reads what Envoy says it is configured with: its config_dump, of one proxy or
// of many.
//
// A dump is read into maps, not into the messages of the protocol. protojson needs every type that
// occurs linked into the program, which makes it four times as large, and one type that is not (a
// private extension, say) makes the whole dump unreadable. Here it costs nothing: what is not asked
// for is not looked at.
package dataplane
