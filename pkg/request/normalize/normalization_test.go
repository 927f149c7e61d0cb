package normalize

import "testing"

func TestTidying(t *testing.T) {
	all := Rules{ResolveDots: true, MergeSlashes: true, Escaped: DecodeEscaped}
	for _, c := range []struct {
		how        Rules
		path, want string
	}{
		{Rules{}, "/x/..//%2F.", "/x/..//%2F."},
		{Rules{ResolveDots: true}, "/x/../admin", "/admin"},
		{Rules{ResolveDots: true}, "/x/./admin/", "/x/admin/"},
		{Rules{ResolveDots: true}, "/x/%2e%2E/admin", "/admin"},
		{Rules{ResolveDots: true}, "/x/.%2e", "/"},
		{Rules{ResolveDots: true}, "/x/.", "/x/"},
		{Rules{ResolveDots: true}, "/../../a", "/a"},
		{Rules{ResolveDots: true}, "/a//../b", "/a/b"},
		{Rules{ResolveDots: true}, "/a/...", "/a/..."},
		{Rules{ResolveDots: true}, "/", "/"},
		{Rules{MergeSlashes: true}, "///a//b/", "/a/b/"},
		{all, "/x%2f..%2Fadmin", "/admin"},
		{all, "/a//../b", "/a/b"},
		{Rules{ResolveDots: true, MergeSlashes: true}, "/x%2f../admin", "/x%2f../admin"},
		{Rules{ResolveDots: true, MergeSlashes: true, MergeSlashesFirst: true}, "/a//../b", "/b"},
		{Rules{Decode: DecodeUnreserved}, "/%61%2d%7E%20%2F%zz", "/a-~%20%2F%zz"},
		{Rules{Decode: DecodeUnreserved, ResolveDots: true}, "/x/%2e%2E/%61", "/a"},
		{Rules{Decode: DecodeAll, ResolveDots: true, MergeSlashes: true, MergeSlashesFirst: true},
			"/x%2F%2e.%2F%2Fadmin%20b", "/admin b"},
		{Rules{Decode: DecodeAll}, "/%zz", "/%zz"},
		{Rules{Backslashes: true, ResolveDots: true}, `/x\..\admin`, "/admin"},
		{Rules{Escaped: DecodeEscaped, Backslashes: true}, "/x%5cadmin", "/x/admin"},
	} {
		if got := c.how.Apply(c.path); got != c.want {
			t.Errorf("%+v of %s: %s, want %s", c.how, c.path, got, c.want)
		}
	}
}
