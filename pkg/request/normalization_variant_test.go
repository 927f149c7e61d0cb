package request

import "testing"

func TestTidying(t *testing.T) {
	all := Normalization{ResolveDots: true, MergeSlashes: true, Escaped: DecodeEscaped}
	for _, c := range []struct {
		how        Normalization
		path, want string
	}{
		{Normalization{}, "/x/..//%2F.", "/x/..//%2F."},
		{Normalization{ResolveDots: true}, "/x/../admin", "/admin"},
		{Normalization{ResolveDots: true}, "/x/./admin/", "/x/admin/"},
		{Normalization{ResolveDots: true}, "/x/%2e%2E/admin", "/admin"},
		{Normalization{ResolveDots: true}, "/x/.%2e", "/"},
		{Normalization{ResolveDots: true}, "/x/.", "/x/"},
		{Normalization{ResolveDots: true}, "/../../a", "/a"},
		{Normalization{ResolveDots: true}, "/a//../b", "/a/b"},
		{Normalization{ResolveDots: true}, "/a/...", "/a/..."},
		{Normalization{ResolveDots: true}, "/", "/"},
		{Normalization{MergeSlashes: true}, "///a//b/", "/a/b/"},
		{all, "/x%2f..%2Fadmin", "/admin"},
		{all, "/a//../b", "/a/b"},
		{Normalization{ResolveDots: true, MergeSlashes: true}, "/x%2f../admin", "/x%2f../admin"},
		{Normalization{ResolveDots: true, MergeSlashes: true, MergeSlashesFirst: true}, "/a//../b", "/b"},
		{Normalization{Decode: DecodeUnreserved}, "/%61%2d%7E%20%2F%zz", "/a-~%20%2F%zz"},
		{Normalization{Decode: DecodeUnreserved, ResolveDots: true}, "/x/%2e%2E/%61", "/a"},
		{Normalization{Decode: DecodeAll, ResolveDots: true, MergeSlashes: true, MergeSlashesFirst: true}, "/x%2F%2e.%2F%2Fadmin%20b", "/admin b"},
		{Normalization{Decode: DecodeAll}, "/%zz", "/%zz"},
		{Normalization{Backslashes: true, ResolveDots: true}, `/x\..\admin`, "/admin"},
		{Normalization{Escaped: DecodeEscaped, Backslashes: true}, "/x%5cadmin", "/x/admin"},
	} {
		if got := c.how.apply(c.path); got != c.want {
			t.Errorf("%+v of %s: %s, want %s", c.how, c.path, got, c.want)
		}
	}
}
