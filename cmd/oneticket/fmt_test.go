package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

const untidy = "backend \"servicenow\" {\n    url =   \"https://acme.service-now.com\"\n  listen=\"127.0.0.1:8081\"\n}\n\n# keep\n# keep\n# keep\n# keep\n# keep\n# keep\n# keep\n# keep\nlimits {\nmax_body=\"1MiB\"\n}\n"

const tidy = "backend \"servicenow\" {\n  url    = \"https://acme.service-now.com\"\n  listen = \"127.0.0.1:8081\"\n}\n\n# keep\n# keep\n# keep\n# keep\n# keep\n# keep\n# keep\n# keep\nlimits {\n  max_body = \"1MiB\"\n}\n"

func TestFmtRewritesAndNamesWhatItChanged(t *testing.T) {
	inFolder(t, map[string]string{"oneticket.hcl": untidy, "d/a.hcl": untidy, "d/b.hcl": tidy, "d/notes.txt": untidy})
	execute(t, "fmt").want(t, 0, "oneticket.hcl\n", "")
	execute(t, "fmt", "d").want(t, 0, "d/a.hcl\n", "")
	for _, name := range []string{"oneticket.hcl", "d/a.hcl", "d/b.hcl"} {
		if got := read(t, name); got != tidy {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	if read(t, "d/notes.txt") != untidy {
		t.Error("another file was changed")
	}
	execute(t, "fmt", "oneticket.hcl", "d").want(t, 0, "", "")
	if info, err := os.Stat("oneticket.hcl"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestFmtThatOnlyLooks(t *testing.T) {
	inFolder(t, map[string]string{"oneticket.hcl": untidy, "good.hcl": tidy})
	const complaint = "oneticket: not every file is in the usual form: run \"oneticket fmt\"\n"
	execute(t, "fmt", "--check").want(t, 1, "oneticket.hcl\n", complaint)
	execute(t, "fmt", "--check", "good.hcl").want(t, 0, "", "")
	execute(t, "fmt", "--write=false").want(t, 0, "oneticket.hcl\n", "")
	const diff = `--- oneticket.hcl
+++ oneticket.hcl
@@ -1,6 +1,6 @@
 backend "servicenow" {
-    url =   "https://acme.service-now.com"
-  listen="127.0.0.1:8081"
+  url    = "https://acme.service-now.com"
+  listen = "127.0.0.1:8081"
 }
 
 # keep
@@ -12,5 +12,5 @@
 # keep
 # keep
 limits {
-max_body="1MiB"
+  max_body = "1MiB"
 }
`
	execute(t, "fmt", "--check", "--diff").want(t, 1, diff, complaint)
	if read(t, "oneticket.hcl") != untidy {
		t.Error("the file was changed")
	}
	execute(t, "fmt", "--diff").want(t, 0, diff, "")
	if read(t, "oneticket.hcl") != tidy {
		t.Error("the file was not changed")
	}
}

func TestFmtOfStdin(t *testing.T) {
	var out, errs bytes.Buffer
	root := newRootCommand(&out, &errs)
	root.SetIn(strings.NewReader(untidy))
	root.SetArgs([]string{"fmt", "-"})
	if err := root.ExecuteContext(t.Context()); err != nil || out.String() != tidy || errs.Len() > 0 {
		t.Errorf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	if got := execute(t, "fmt", "-", "a.hcl"); got.status != 1 || !strings.Contains(got.errors, "stands alone") {
		t.Errorf("%+v", got)
	}
}

// TestFmtLeavesWhatItCannotRead: one broken file does not stop the others.
func TestFmtLeavesWhatItCannotRead(t *testing.T) {
	const broken = "backend \"servicenow\" {\n   url = “x”\n}\n"
	inFolder(t, map[string]string{"d/a.hcl": broken, "d/b.hcl": untidy})
	got := execute(t, "fmt", "d")
	if got.status != 1 || got.out != "d/b.hcl\n" || read(t, "d/a.hcl") != broken || read(t, "d/b.hcl") != tidy {
		t.Errorf("%+v", got)
	}
	contains(t, got.errors, "error: d/a.hcl:2:10: a curly quote\n")
	if got := execute(t, "fmt", "none.hcl"); got.status != 1 || got.errors != "oneticket: stat none.hcl: no such file or directory\n" {
		t.Errorf("%+v", got)
	}
}

func TestFmtFollowsALink(t *testing.T) {
	inFolder(t, map[string]string{"real/a.hcl": untidy})
	if err := os.Symlink("real/a.hcl", "oneticket.hcl"); err != nil {
		t.Fatal(err)
	}
	execute(t, "fmt").want(t, 0, "oneticket.hcl\n", "")
	if target, err := os.Readlink("oneticket.hcl"); err != nil || target != "real/a.hcl" || read(t, "real/a.hcl") != tidy {
		t.Errorf("%q, %v", target, err)
	}
}
