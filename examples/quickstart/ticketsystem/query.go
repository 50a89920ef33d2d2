package main

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A query is the part of the Table API's sysparm_ parameters that clients of
// the incident table live on: conditions joined by ^, an order, a limit.
type query struct {
	conditions []condition
	orderBy    string
	descending bool
	limit      int
}

type condition struct {
	field  string
	differ bool
	values []string
}

func parseQuery(params url.Values) query {
	q := query{limit: 10000}
	if n, err := strconv.Atoi(params.Get("sysparm_limit")); err == nil && n >= 0 {
		q.limit = min(n, q.limit)
	}
	for part := range strings.SplitSeq(params.Get("sysparm_query"), "^") {
		q.add(part)
	}
	return q
}

// add takes up one part. A part that it does not understand is ignored, as the
// real system does: whoever asks must look at what comes back.
func (q *query) add(part string) {
	if field, ok := strings.CutPrefix(part, "ORDERBYDESC"); ok {
		q.orderBy, q.descending = field, true
	} else if field, ok := strings.CutPrefix(part, "ORDERBY"); ok {
		q.orderBy, q.descending = field, false
	} else if field, value, ok := strings.Cut(part, "!="); ok {
		q.conditions = append(q.conditions, condition{field, true, []string{value}})
	} else if field, value, ok := strings.Cut(part, "="); ok {
		q.conditions = append(q.conditions, condition{field, false, []string{value}})
	} else if field, list, ok := strings.Cut(part, "IN"); ok {
		q.conditions = append(q.conditions, condition{field, false, strings.Split(list, ",")})
	}
}

func (q *query) matches(row ticket) bool {
	for _, c := range q.conditions {
		if slices.Contains(c.values, row[c.field]) == c.differ {
			return false
		}
	}
	return true
}

func (q *query) arrange(rows []ticket) []ticket {
	if q.orderBy != "" {
		slices.SortStableFunc(rows, func(a, b ticket) int {
			order := cmp.Compare(a[q.orderBy], b[q.orderBy])
			if q.descending {
				return -order
			}
			return order
		})
	}
	return rows[:min(len(rows), q.limit)]
}

// project leaves the fields that sysparm_fields names; all when it names none.
func project(row ticket, params url.Values) ticket {
	names := params.Get("sysparm_fields")
	if names == "" {
		return row
	}
	out := ticket{}
	for name := range strings.SplitSeq(names, ",") {
		if value, ok := row[name]; ok {
			out[name] = value
		}
	}
	return out
}
