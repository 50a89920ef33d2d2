package config

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The form of `terraform validate -json`, for the tools that read it.
type (
	jsonResult struct {
		FormatVersion string           `json:"format_version"`
		Valid         bool             `json:"valid"`
		ErrorCount    int              `json:"error_count"`
		WarningCount  int              `json:"warning_count"`
		Diagnostics   []jsonDiagnostic `json:"diagnostics"`
	}
	jsonDiagnostic struct {
		Severity string       `json:"severity"`
		Summary  string       `json:"summary"`
		Detail   string       `json:"detail"`
		Range    *jsonRange   `json:"range,omitempty"`
		Snippet  *jsonSnippet `json:"snippet,omitempty"`
	}
	jsonRange struct {
		Filename string  `json:"filename"`
		Start    jsonPos `json:"start"`
		End      jsonPos `json:"end"`
	}
	jsonPos struct {
		Line   int `json:"line"`
		Column int `json:"column"`
		Byte   int `json:"byte"`
	}
	jsonSnippet struct {
		Context     *string    `json:"context"` // the head of the block around, null outside of blocks
		Code        string     `json:"code"`
		StartLine   int        `json:"start_line"`
		Start       int        `json:"highlight_start_offset"` // bytes in Code
		End         int        `json:"highlight_end_offset"`
		Expressions []struct{} `json:"values"` // values of variables: there are none before a request
	}
)

// JSON is all of them in the form of Terraform's validate, version 1.0.
func (d Diagnostics) JSON() ([]byte, error) {
	out := jsonResult{FormatVersion: "1.0", Valid: !d.HasErrors(), ErrorCount: d.Errors(), WarningCount: d.Len() - d.Errors(),
		Diagnostics: []jsonDiagnostic{}}
	for _, one := range d.sorted() {
		out.Diagnostics = append(out.Diagnostics, d.json(one))
	}
	text, err := json.MarshalIndent(out, "", "  ")
	return append(text, '\n'), err
}

func (d Diagnostics) json(one *hcl.Diagnostic) jsonDiagnostic {
	out := jsonDiagnostic{Severity: "error", Summary: one.Summary, Detail: one.Detail}
	if one.Severity == hcl.DiagWarning {
		out.Severity = "warning"
	}
	if at := one.Subject; at != nil {
		out.Range = &jsonRange{at.Filename, jsonPos(at.Start), jsonPos(at.End)}
		out.Snippet = d.snippet(at)
	}
	return out
}

// snippet is the line that the range begins in.
func (d Diagnostics) snippet(at *hcl.Range) *jsonSnippet {
	line, start, ok := lineAt(d.files[at.Filename], at.Start.Line)
	if !ok {
		return nil
	}
	line = strings.ToValidUTF8(masked(line), "?")
	from := min(max(at.Start.Byte-start, 0), len(line))
	to := len(line)
	if at.End.Line == at.Start.Line {
		to = min(max(at.End.Byte-start, from), len(line))
	}
	return &jsonSnippet{Context: d.context(at), Code: line, StartLine: at.Start.Line, Start: from, End: to, Expressions: []struct{}{}}
}

// context is the head of the block that the range stands in.
func (d Diagnostics) context(at *hcl.Range) *string {
	file, _ := hclsyntax.ParseConfig(d.files[at.Filename], at.Filename, hcl.InitialPos)
	if file == nil {
		return nil
	}
	block := file.OutermostBlockAtPos(at.Start)
	if block == nil {
		return nil
	}
	head := block.Type
	for _, label := range block.Labels {
		head += ` "` + label + `"`
	}
	return &head
}
