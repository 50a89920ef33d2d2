package config_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"oneticket/config"
)

// FuzzAnyConfiguration: whatever stands in a file, there is a configuration, or
// a mistake with a place in it; never a panic.
func FuzzAnyConfiguration(f *testing.F) {
	files, err := filepath.Glob("testdata/*.hcl")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, diags := config.Parse(map[string][]byte{"f.hcl": text}, nil)
		if (c == nil) != diags.HasErrors() {
			t.Fatalf("%v, %v", c, diags)
		}
		if _, err := diags.WriteTo(io.Discard); err != nil {
			t.Fatal(err)
		}
		written, err := diags.JSON()
		if err != nil {
			t.Fatal(err)
		}
		placed(t, written)
	})
}

// placed checks that each mistake is at a place of the file, and that its
// highlight lies in the line shown.
func placed(t *testing.T, written []byte) {
	t.Helper()
	var result struct {
		Diagnostics []struct {
			Summary string
			Range   *struct{ Start struct{ Line, Column int } }
			Snippet *struct {
				Code  string
				Start int `json:"highlight_start_offset"`
				End   int `json:"highlight_end_offset"`
			}
		}
	}
	if err := json.Unmarshal(written, &result); err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Diagnostics {
		if d.Summary == "" || d.Range == nil || d.Range.Start.Line < 1 || d.Range.Start.Column < 1 || d.Snippet == nil {
			t.Fatalf("no place: %s", written)
		}
		if s := d.Snippet; s.Start < 0 || s.Start > s.End || s.End > len(s.Code) {
			t.Fatalf("highlight: %s", written)
		}
	}
}
