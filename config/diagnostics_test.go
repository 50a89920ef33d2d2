package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oneticket/config"
)

var update = flag.Bool("update", false, "write the texts that mistakes are reported with")

// TestMistakes reads each testdata/invalid-NAME.hcl and compares what is
// reported with invalid-NAME.txt.
func TestMistakes(t *testing.T) {
	eachFile(t, "invalid", 53, func(t *testing.T, c *config.Config, diags config.Diagnostics) {
		if c != nil || !diags.HasErrors() {
			t.Fatal("nothing is wrong with it")
		}
	})
}

// TestWarnings does the same for what is legal and dangerous.
func TestWarnings(t *testing.T) {
	eachFile(t, "warning", 12, func(t *testing.T, c *config.Config, diags config.Diagnostics) {
		if c == nil || diags.HasErrors() || diags.Len() == 0 {
			t.Fatalf("%d of %d are mistakes", diags.Errors(), diags.Len())
		}
	})
}

func eachFile(t *testing.T, kind string, least int, check func(*testing.T, *config.Config, config.Diagnostics)) {
	t.Helper()
	files, err := filepath.Glob("testdata/" + kind + "-*.hcl")
	if err != nil || len(files) < least {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".hcl"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, diags := config.Parse(map[string][]byte{filepath.Base(file): text}, func(name string) (string, bool) { return "hunter2", name == "SECRET" })
			compareText(t, strings.TrimSuffix(file, ".hcl")+".txt", diags.String())
			check(t, c, diags)
		})
	}
}

func compareText(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if strings.Contains(got, "hunter2") {
		t.Error("a value of the environment is shown")
	}
}

func TestWarningsLetTheConfigurationPass(t *testing.T) {
	c, diags := config.Parse(map[string][]byte{"w.hcl": []byte(snowBackend + `rule "r" {
  backend     = "servicenow"
  fingerprint = { severity = body.impact }
}`)}, nil)
	diags = diags.ForServe() // which needs no listen
	if c == nil || diags.Len() != 1 || !strings.HasPrefix(diags.String(), "warning: w.hcl:4:17: fingerprint without identity\n   4 |   fingerprint = {") {
		t.Errorf("%v\n%s", c, diags)
	}
}

func TestDiagnosticsOfPathsThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	empty, link := filepath.Join(folder, "empty"), filepath.Join(folder, "link.hcl")
	if err := errors.Join(os.Mkdir(empty, 0o755), os.Symlink("nowhere", link)); err != nil {
		t.Fatal(err)
	}
	cases := map[string][]string{
		filepath.Join(folder, "oneticket.hcl"): {"there is no configuration " + folder, "oneticket init", "-c"},
		empty:                                  {"has no configuration", `no file that ends in ".hcl"`},
		link:                                   {"there is no configuration"},
	}
	for path, parts := range cases {
		c, diags := config.Load(path)
		if c != nil || diags.Errors() != 1 || diags.Len() != 1 {
			t.Errorf("%s: %v, %v", path, c, diags)
		}
		for _, part := range parts {
			if !strings.Contains(diags.String(), part) {
				t.Errorf("%q is not in %s", part, diags)
			}
		}
	}
}

// TestAPasswordInAnAddressIsNotRepeated: what is reported goes to logs and
// pages, too.
func TestAPasswordInAnAddressIsNotRepeated(t *testing.T) {
	_, diags := config.Parse(map[string][]byte{"p.hcl": []byte("backend \"b\" {\n  url = \"https://bot:hünter2@acme.service-now.com\"\n}\n")}, nil)
	text, err := diags.JSON()
	if err != nil || strings.Contains(string(text), "nter2") || strings.Contains(diags.String(), "nter2") {
		t.Errorf("%v %s %s", err, diags, text)
	}
}

// TestEveryFileIsReported, the broken one and the others.
func TestEveryFileIsReported(t *testing.T) {
	_, diags := config.Parse(map[string][]byte{
		"b.hcl": []byte("backend \"b\" {\n  url = \"https://b.example.com\"\n  tiemout = \"1s\"\n}\n"),
		"a.hcl": []byte("admin = \"127.0.0.1:1\"\n}\n"),
		"c.hcl": []byte("rule \"r\" {\n  backend = \"nowhere\"\n  wait = 1\n}\nadmin = \"127.0.0.1:2\"\n"),
	}, nil)
	var heads []string
	for line := range strings.Lines(diags.String()) {
		if strings.HasPrefix(line, "error: ") {
			heads = append(heads, strings.TrimSpace(line))
		}
	}
	want := []string{
		"error: a.hcl:2:1: this brace closes nothing",
		`error: b.hcl:3:3: unknown setting "tiemout" in backend "b"`,
		`error: c.hcl:3:3: unknown setting "wait" in rule "r"`,
		"error: c.hcl:5:9: admin stands in two files",
	}
	if !slices.Equal(heads, want) {
		t.Errorf("%s", strings.Join(heads, "\n"))
	}
}

func TestWarnPointsWhereTheSettingStands(t *testing.T) {
	_, diags := config.Parse(map[string][]byte{"w.hcl": []byte("state_dir = \"/s\"\nstore \"sqlite\" {\n  path = \"/p\"\n}\nbackend \"b\" {\n  url = \"https://b.example.com\"\n  listen = \"127.0.0.1:1\"\n}\n")}, nil)
	diags.Warn("store", "path", "a", "")
	diags.Warn("store", "timeout", "b", "")
	diags.Warn("", "state_dir", "c", "")
	diags.Warn("", "socket", "d", "Detail.")
	want := `warning: w.hcl:1:13: c
   1 | state_dir = "/s"
     |             ^^^^

warning: w.hcl:2:1: b
   2 | store "sqlite" {
     | ^^^^^^^^^^^^^^

warning: w.hcl:3:10: a
   3 |   path = "/p"
     |          ^^^^

warning: d
  Detail.

`
	if got := diags.String(); got != want || diags.HasErrors() || diags.Errors() != 0 || diags.Len() != 4 {
		t.Errorf("%s", got)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"lower", "upper", "trimspace", "request_key", "max", "servicenow/incident"}
	for given, want := range map[string]string{
		"Lower": "lower", "tolower": "lower", "request-key": "request_key", "requestkey": "request_key", "trim_space": "trimspace",
		"mix": "max", "servicenow/incidents": "servicenow/incident", "service": "servicenow/incident", "xyzzy": "", "": "",
	} {
		if got := config.Nearest(given, names); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

func TestFormatKeepsWhatAFileSays(t *testing.T) {
	got, diags := config.Format([]byte("backend \"b\" {\r\nurl=\"https://b.example.com\" # why\r\n}\r\n"), "f.hcl")
	if diags.HasErrors() || string(got) != "backend \"b\" {\r\n  url = \"https://b.example.com\" # why\r\n}\r\n" {
		t.Errorf("%q, %v", got, diags)
	}
	if again, _ := config.Format(got, "f.hcl"); string(again) != string(got) {
		t.Errorf("again: %q", again)
	}
	if got, diags := config.Format([]byte("}"), "f.hcl"); got != nil || !strings.HasPrefix(diags.String(), "error: f.hcl:1:1: ") {
		t.Errorf("%q, %v", got, diags)
	}
}

func TestPresetsTellOfThemselves(t *testing.T) {
	for _, name := range config.Presets() {
		info, ok := config.FindPreset(name)
		if !ok || info.Name != name || info.Title == "" || len(info.Title) > 120 {
			t.Errorf("%s: %+v", name, info)
		}
	}
	info, ok := config.FindPreset("servicenow")
	if !ok || info.Name != "servicenow/incident" || len(info.Identity) != 2 || info.Identity[0] != (config.PresetField{Name: "element_id", Expression: "lower(body.cmdb_ci)"}) {
		t.Errorf("%+v", info)
	}
	if _, ok := config.FindPreset("nothing"); ok {
		t.Error("a preset of no name")
	}
}

func TestMistakesAndWhatServeHasToKnow(t *testing.T) {
	_, diags := config.Parse(map[string][]byte{"w.hcl": []byte("admin = \"0.0.0.0:1\"\nbackend \"b\" {\n  url = \"https://b.example.com\"\n}\n")}, nil)
	if diags.Len() != 2 || diags.ForServe().Len() != 1 || diags.Mistakes().Len() != 0 || diags.Len() != 2 {
		t.Errorf("%d, %d for serve, %d mistakes", diags.Len(), diags.ForServe().Len(), diags.Mistakes().Len())
	}
}
