package gitops

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// SourceFolder is a folder that holds what a source has, as the user says.
type SourceFolder struct {
	Source string // KIND/NAMESPACE/NAME of Flux, or the address of a repository
	Folder string
}

// SourceKinds are the kinds of Flux that a folder may stand for.
func SourceKinds() []string { return []string{"GitRepository", "OCIRepository", "Bucket"} }

// IsAddress reports whether a source is called by the address of a repository.
func (s SourceFolder) IsAddress() bool {
	return strings.Contains(s.Source, "://") || strings.Contains(s.Source, "@") && strings.Contains(s.Source, ":")
}

// Check returns an error if a source is not written as one.
func (s SourceFolder) Check() error {
	parts := strings.Split(s.Source, "/")
	switch {
	case s.Folder == "":
		return fmt.Errorf("there is no folder")
	case s.IsAddress():
		return nil
	case len(parts) != 3 || slices.Contains(parts, ""):
		return fmt.Errorf("%q is neither KIND/NAMESPACE/NAME nor an address", s.Source)
	case !slices.Contains(SourceKinds(), parts[0]):
		return fmt.Errorf("%s is no kind of source: there are %s", parts[0], strings.Join(SourceKinds(), ", "))
	}
	return nil
}

// repositoryID is how sources of Flux and repositories are told apart.
func (s SourceFolder) repositoryID() string {
	if s.IsAddress() {
		return normalizeURL(s.Source)
	}
	kind, name, _ := strings.Cut(s.Source, "/")
	return kind + " " + name
}

// mapSources notes the folders of sources.
func (r *renderer) mapSources(list []SourceFolder) error {
	r.repositories.folders = map[string]pathRoot{}
	for _, s := range list {
		dir, err := filesys.ConfirmDir(r.workspace.fileSystem, s.Folder)
		if err != nil {
			return &document.Error{What: "source " + s.Source, Err: fmt.Errorf("there is no folder %s", s.Folder),
				Hint: "write --source " + s.Source + "=FOLDER"}
		}
		r.repositories.folders[s.repositoryID()] = pathRoot{dir, filepath.ToSlash(filepath.Clean(s.Folder))}
	}
	return nil
}

// folderOf returns the folder that the user says to hold a repository.
func (h *repositoryMatcher) folderOf(o sourceRepository) (pathRoot, bool) {
	if at, ok := h.folders[o.name]; ok {
		return at, true
	}
	at, ok := h.folders[h.repositoryID(o)]
	return at, ok
}

// locateInRepository finds the folder at a path of a repository.
func (r *renderer) locateInRepository(o sourceRepository, at string) (dir filesys.ConfirmedDir, from pathRoot,
	found bool) {
	root, mapped := r.repositories.folderOf(o)
	if !mapped {
		return r.workspace.locateFolder(at)
	}
	dir, err := filesys.ConfirmDir(r.workspace.fileSystem, root.dir.Join(filepath.FromSlash(path.Clean("/"+at))))
	if err != nil || !dir.HasPrefix(root.dir) {
		return "", pathRoot{}, false
	}
	return dir, root, true
}

// sourceHint says how to name the folder of a source, if the input has one.
func sourceHint(o sourceRepository, otherwise string) string {
	name := strings.Replace(o.name, " ", "/", 1)
	if o.tool == "argo" {
		name = "https://" + o.name
	}
	return "if it is in the input, name its folder: --source " + name + "=FOLDER; else " + otherwise
}
