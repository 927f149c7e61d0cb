package view

// Version answers `version`.
type Version struct {
	Envelope
	Version    string `json:"version"`    // "dev" where it is not known
	Commit     string `json:"commit"`     // full hash, or "unknown"; ends in "-dirty" if there were changes on top
	Date       string `json:"date"`       // of the commit, or "unknown"
	GoVersion  string `json:"goVersion"`  // that it was built with
	Platform   string `json:"platform"`   // operating system/architecture
	GatewayAPI string `json:"gatewayAPI"` // the release by whose rules objects are read
}

// Table is one fact a line.
func (v *Version) Table(TableOptions) Table {
	b := Block{Columns: []Column{{}, {}}}
	for _, fact := range [][2]string{{"version", v.Version}, {"commit", v.Commit}, {"date", v.Date},
		{"go", v.GoVersion},
		{"platform", v.Platform}, {"gateway api", v.GatewayAPI}} {
		b.Rows = append(b.Rows, []Cell{{Text: fact[0]}, {Text: fact[1]}})
	}
	return Table{Blocks: []Block{b}}
}
