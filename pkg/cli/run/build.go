package run

import "runtime/debug"

// Build is what the linker was told about the program. Fields that are empty are filled from the
// build information of the go command.
type Build struct {
	Version string // with a leading v, as a tag is
	Commit  string // full hash
	Date    string // of the commit, RFC 3339
}

// unknownFact is printed where neither the linker nor the go command recorded a fact.
const unknownFact = "unknown"

// FillFromBuildInfo fills empty fields with what the go command recorded: `go install` of a version
// knows only that version, a build inside a clone knows the commit. A commit with changes on top is
// marked "-dirty".
func (b Build) FillFromBuildInfo(info *debug.BuildInfo) Build {
	settings := map[string]string{}
	if info != nil {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if b.Version == "" {
			b.Version = info.Main.Version
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "dev"
	}
	if b.Commit == "" {
		b.Commit = unknownFact
		if revision := settings["vcs.revision"]; revision != "" {
			b.Commit = revision
			if settings["vcs.modified"] == "true" {
				b.Commit += "-dirty"
			}
		}
	}
	if b.Date == "" {
		b.Date = unknownFact
		if time := settings["vcs.time"]; time != "" {
			b.Date = time
		}
	}
	return b
}
