package config

import (
	"maps"
	"path/filepath"
	"strings"
)

// beside is a path of the configuration as this process finds it: a relative
// one is meant from the folder of the file that it stands in, wherever
// oneticket is called from.
func beside(file, path string) string {
	folder := filepath.Dir(file)
	if path == "" || filepath.IsAbs(path) || folder == "." {
		return path
	}
	return filepath.Join(folder, path)
}

// path reads a setting that is a path.
func (l *loader) path(from layers, setting string) string {
	return beside(l.fileOf(from, setting), from.text(setting))
}

// fileOf is the file that the setting stands in; of a default, the first one:
// all are in one folder.
func (l *loader) fileOf(from layers, setting string) string {
	if v, set := from.get(setting); set {
		return v.at.Filename
	}
	return l.config.Files[0]
}

// pathTable reads a map of which some members are paths.
func (l *loader) pathTable(from layers, setting string, paths ...string) map[string]string {
	table := maps.Clone(from.table(setting))
	for _, name := range paths {
		if text, given := table[name]; given {
			table[name] = beside(l.fileOf(from, setting), text)
		}
	}
	return table
}

// socketPlace is the setting socket with its path, if it has one, as this
// process finds it.
func (l *loader) socketPlace(top layers) string {
	text := top.text("socket")
	rest, unix := strings.CutPrefix(text, "unix:")
	if !unix {
		return text
	}
	path, query, has := strings.Cut(rest, "?")
	path = "unix:" + beside(l.fileOf(top, "socket"), path)
	if has {
		path += "?" + query
	}
	return path
}
