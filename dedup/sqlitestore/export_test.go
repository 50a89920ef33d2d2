package sqlitestore

// MountType is for the test of what a machine without such mounts cannot show.
var MountType = mountType

// IsNetworkType reports whether a file system of that type is refused.
func IsNetworkType(system string) bool { return networkTypes[system] }
