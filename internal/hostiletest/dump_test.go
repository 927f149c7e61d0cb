//go:build linux

package hostiletest

import (
	"bytes"
	"compress/gzip"
	"strings"
)

// dumpAttacks are dumps of proxies that are larger than they look.
var dumpAttacks = []attack{
	{name: "megabytes of zipped spaces as a dump", args: "audit -f @route --dataplane @file",
		file: zippedSpaces(512), exit: 3, want: "unpacks to more than"},
	{name: "a dump of many numbers", args: "audit -f @route --dataplane @file", file: dumped("1,", 5_000_000), exit: 3,
		want: "more than 4000000 keys and values"},
	{name: "a dump of as many maps as it may have", args: "audit -f @route --dataplane @file",
		file: dumped(`{"a":1},`, 990_000), exit: 3, want: "nothing was compared"},
	{name: "lists within lists in a dump", args: "audit -f @route --dataplane @file",
		file: dumped(strings.Repeat("[", 9_000), 1), exit: 3, want: "nested deeper than 100"},
	{name: "an endless device as a dump", args: "audit -f @route --dataplane /dev/zero", exit: 3,
		want: "larger than 128 MiB"},
	{name: "many requests in a file", args: "request -f @route --requests-file @file",
		file: repeated("GET https://a/b\n", 200_000), exit: 3, want: "more than 100000 requests"},
}

func dumped(entry string, times int) func() []byte {
	return func() []byte { return []byte(`{"configs":[` + strings.Repeat(entry, times) + `1]}`) }
}

// zippedSpaces is a dump with so many MiB of spaces.
func zippedSpaces(mib int) func() []byte {
	return func() []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write([]byte(`{"configs":[`))
		for range mib {
			_, _ = z.Write(bytes.Repeat([]byte(" "), 1<<20))
		}
		_, _ = z.Write([]byte("]}"))
		_ = z.Close()
		return out.Bytes()
	}
}
