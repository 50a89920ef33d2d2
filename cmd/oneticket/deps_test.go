package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestOneArrow holds the direction of imports:
// cmd -> {config, extproc, stores} -> dedup, and nothing points back.
func TestOneArrow(t *testing.T) {
	forbidden := []struct{ pkg, imports, why string }{
		{"oneticket/dedup", "oneticket/", "the domain knows nobody"},
		{"oneticket/config", "oneticket/extproc", "config hands its values to cmd"},
		{"oneticket/config", "oneticket/cmd", "nothing points back"},
		{"oneticket/config", "oneticket/dedup/", "config knows no store"},
		{"oneticket/extproc", "oneticket/config", "the stream gets compiled rules from cmd"},
		{"oneticket/extproc", "oneticket/cmd", "nothing points back"},
		{"oneticket/extproc", "oneticket/dedup/", "the stream knows no store"},
		{"oneticket/extproc", "go.uber.org/fx", "fx is imported in one file"},
		{"oneticket/config", "go.uber.org/fx", "fx is imported in one file"},
	}
	deps := map[string][]string{}
	for _, f := range forbidden {
		if deps[f.pkg] == nil {
			deps[f.pkg] = goList(t, "-deps", "-f", "{{.ImportPath}}", f.pkg)
		}
		for _, d := range deps[f.pkg] {
			if d != f.pkg && strings.HasPrefix(d, f.imports) {
				t.Errorf("%s imports %s: %s", f.pkg, d, f.why)
			}
		}
	}
}

// TestDomainImportsTheStandardLibraryOnly: package dedup may import
// golang.org/x/text besides, for NFC.
func TestDomainImportsTheStandardLibraryOnly(t *testing.T) {
	for _, d := range goList(t, "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "oneticket/dedup") {
		if d != "oneticket/dedup" && !strings.HasPrefix(d, "golang.org/x/text/") {
			t.Errorf("dedup imports %s", d)
		}
	}
}

// TestFxIsImportedInOneFile reads the imports of every Go file of the module.
func TestFxIsImportedInOneFile(t *testing.T) {
	out := goList(t, "-f", `{{$p := .ImportPath}}{{range .Imports}}{{if eq . "go.uber.org/fx"}}{{$p}}{{"\n"}}{{end}}{{end}}`, "oneticket/...")
	for _, pkg := range out {
		if pkg != "oneticket/cmd/oneticket" {
			t.Errorf("%s imports fx; only cmd/oneticket/app.go does", pkg)
		}
	}
	files, err := exec.Command("grep", "-l", `"go.uber.org/fx"`, "-r", "--include=*.go", ".").Output()
	if err != nil {
		t.Fatalf("grep: %v", err)
	}
	for name := range strings.FieldsSeq(string(files)) {
		if name != "./app.go" && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s imports fx; only app.go does", name)
		}
	}
}

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}
