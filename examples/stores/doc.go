// Package stores holds a page and a configuration for each store. Its tests
// load the configurations, and set real servers up as the pages say.
package stores
