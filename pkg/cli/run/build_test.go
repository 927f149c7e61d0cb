package run

import (
	"runtime/debug"
	"testing"
)

func TestRecorded(t *testing.T) {
	clone := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time",
				Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: modified}}}
	}
	for name, c := range map[string]struct {
		linked Build
		info   *debug.BuildInfo
		want   Build
	}{
		"nothing known": {Build{}, nil, Build{"dev", unknownFact, unknownFact}},
		"go install of a version": {Build{}, &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}},
			Build{"v1.2.3", unknownFact, unknownFact}},
		"a clone":                  {Build{}, clone("false"), Build{"dev", "abc", "2026-01-02T03:04:05Z"}},
		"a clone with changes":     {Build{}, clone("true"), Build{"dev", "abc-dirty", "2026-01-02T03:04:05Z"}},
		"a release":                {Build{"v9", "def", "2020"}, clone("true"), Build{"v9", "def", "2020"}},
		"only the version is told": {Build{Version: "v9"}, clone("false"), Build{"v9", "abc", "2026-01-02T03:04:05Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.linked.FillFromBuildInfo(c.info); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
