package dedup_test

import (
	"strings"
	"testing"

	"oneticket/dedup"
)

func TestTextOfAName(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"as it is", "core-rtr-7", "core-rtr-7"},
		{"case and inner white space stay", "Disk  /Var", "Disk  /Var"},
		{"outer blanks and line ends", "\t db-07 \r\n", "db-07"},
		{"outer no-break space", "db-07\u00a0", "db-07"},
		{"other Unicode space", "\u2003\u3000db-07\u2028\u0085", "db-07"},
		{"zero-width space is none", "db-07\u200b", "db-07\u200b"},
		{"composed", "web-m\u00fcnchen-1", "web-m\u00fcnchen-1"},
		{"decomposed", "web-mu\u0308nchen-1", "web-m\u00fcnchen-1"},
		{"hangul", "\u1112\u1161\u11ab", "\ud55c"},
		{"compatibility forms stay", "\ufb01le\u00b2", "\ufb01le\u00b2"},
		{"digits with leading zeros are a name", "007", "007"},
		{"a decimal point in a string stays", "1.0", "1.0"},
		{"control character", "a\x00b", "a\x00b"},
		{"replacement character", "a\ufffdb", "a\ufffdb"},
		{"price", "$5$", "$5$"},
		{"dollars alone", "$$$", "$$$"},
		{"shell variable without braces", "$HOME", "$HOME"},
		{"macro inside a text", "{HOST.NAME} is down", "{HOST.NAME} is down"},
		{"two macros", "$HOSTNAME$/$SERVICEDESC$", "$HOSTNAME$/$SERVICEDESC$"},
		{"two templates", "{{ a }} on {{ b }}", "{{ a }} on {{ b }}"},
		{"JSON", `{"a":1}`, `{"a":1}`},
		{"JSON in JSON", `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"empty braces", "{}", "{}"},
		{"path template", "{name}", "{name}"},
		{"GUID", "{5B1C8A52-6F0E-4F3A-9A51-000000000001}", "{5B1C8A52-6F0E-4F3A-9A51-000000000001}"},
		{"unknown in words", "UNKNOWN", "UNKNOWN"},
		{"another starred word", "*DOWN*", "*DOWN*"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := dedup.TextOf(c.in); got != c.want || !ok {
				t.Errorf("TextOf(%q) = %q, %v; want %q", c.in, got, ok, c.want)
			}
		})
	}
}

func TestTextOfWhatIsMissing(t *testing.T) {
	for _, in := range []string{
		"", " ", "\t\r\n", "\u00a0\u2003",
		"db-\xff07", "m\xfcnchen", "\xed\xa0\x80",
		"{HOST.NAME}", "{HOST.NAME1}", " {HOST.NAME} ", "{DATE}", "{1}", "{IPADDRESS}", "{INVENTORY.SERIALNO.A}",
		"{EVENT.TAGS.service}", `{EVENT.TAGS."a name"}`, "{EVENT.TAGS}", "{EVENT.RECOVERY.TAGS}",
		"{$MACRO}", `{$LOW.SPACE:"/var"}`, "{$M:}", "{#FSNAME}", "{?avg(/host/key,1h)}",
		"{{ITEM.VALUE}.regsub(a, b)}", "{{#NAME}.iregsub(\"x\", y)}",
		"{{ x }}", "{{x}}", "{{ .Labels.instance }}", "{{}}",
		"${X}", "${host.name}", "${X:-none}",
		"$HOSTNAME$", "$ARG1$", "$_HOSTSITE$", "$host.name$", "$HOSTSTATE:other-host$", "$SERVICESTATE:h:disk /var$",
		"*UNKNOWN*",
	} {
		t.Run(in, func(t *testing.T) {
			if got, ok := dedup.TextOf(in); ok {
				t.Errorf("TextOf(%q) = %q; want it missing", in, got)
			}
		})
	}
}

func numberValue(literal string) dedup.Value {
	return dedup.Value{Kind: dedup.NumberValue, Literal: literal}
}

func TestTextOfANumber(t *testing.T) {
	digits64 := "1234567890123456789012345678901234567890123456789012345678901234"
	for _, c := range []struct{ in, want string }{
		{"1", "1"}, {"1.0", "1"}, {"1e0", "1"}, {"10e-1", "1"}, {"0.1E+1", "1"}, {"100e-2", "1"},
		{"0", "0"}, {"-0", "0"}, {"0.0", "0"}, {"-0.00e7", "0"}, {"0e99999999999999999999999", "0"},
		{"-1", "-1"}, {"-1.50", "-1.5"}, {"10", "10"}, {"1e2", "100"}, {"1200", "1200"}, {"12.30e1", "123"},
		{"0.5", "0.5"}, {"5e-1", "0.5"}, {"0.050", "0.05"}, {"123e-5", "0.00123"}, {"12.34e1", "123.4"},
		{"9007199254740993", "9007199254740993"}, {"18446744073709551617", "18446744073709551617"},
		{"0.1000000000000000055511151231257827021181583404541015625", "0.1000000000000000055511151231257827021181583404541015625"},
		{digits64, digits64}, {"-" + digits64, "-" + digits64}, {digits64 + ".0", digits64},
		{"1e63", "1" + strings.Repeat("0", 63)}, {"1e-63", "0." + strings.Repeat("0", 62) + "1"},
		{"1" + strings.Repeat("0", 500) + "e-500", "1"}, {"1e0000000000000000000000002", "100"},
	} {
		t.Run(c.in, func(t *testing.T) {
			if got, ok := numberValue(c.in).Text(); got != c.want || !ok {
				t.Errorf("text of %s = %q, %v; want %q", c.in, got, ok, c.want)
			}
		})
	}
}

func TestNumbersWithoutText(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("9", 65), "1e64", "1e-64", "0." + strings.Repeat("3", 64), "1e1000000", "-1e-1000000",
		"1e999999999999999999", "1e-999999999999999999", "1e9999999999999999999999999", strings.Repeat("7", 1<<20),
		"", "-", ".", "1.", ".5", "1e", "1e+", "1e+-1", "NaN", "Infinity", "0x10", "1 ", "1_000", "١",
	} {
		if got, ok := numberValue(in).Text(); ok {
			t.Errorf("text of %.40s = %q; want it missing", in, got)
		}
	}
}

func TestTextOfOtherValues(t *testing.T) {
	for _, c := range []struct {
		name string
		in   dedup.Value
		want string
		ok   bool
	}{
		{"true", dedup.Value{Kind: dedup.BoolValue, Literal: "true"}, "true", true},
		{"string", dedup.Value{Kind: dedup.StringValue, Literal: " x "}, "x", true},
		{"missing", dedup.Value{}, "", false},
		{"null", dedup.Value{Kind: dedup.NullValue}, "", false},
		{"list", dedup.Value{Kind: dedup.ListValue, Items: []dedup.Value{numberValue("1")}}, "", false},
		{"object", dedup.Value{Kind: dedup.ObjectValue}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := c.in.Text(); got != c.want || ok != c.ok {
				t.Errorf("got %q, %v; want %q, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func FuzzTextOfATextIsThatText(f *testing.F) {
	for _, seed := range []string{"a", " \u00a0a\u0308 ", "{HOST.NAME}", "a" + strings.Repeat("\u0308", 40), "\u0344\u1fef\u2126", "{{a}.f()}", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, ok := dedup.TextOf(s)
		if !ok {
			return
		}
		if twice, ok := dedup.TextOf(once); twice != once || !ok {
			t.Errorf("%q: first %q, then %q, %v", s, once, twice, ok)
		}
	})
}
