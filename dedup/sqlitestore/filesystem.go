package sqlitestore

import (
	"os"
	"path/filepath"
	"strings"
)

// networkTypes are file systems, as /proc/self/mountinfo names them, whose
// files live on another machine or in the host of a virtual one. A FUSE file
// system stands there as fuse.NAME; those that are not on the list are taken
// for local.
var networkTypes = map[string]bool{
	"nfs": true, "nfs4": true, "cifs": true, "smb3": true, "smbfs": true, "ncpfs": true,
	"9p": true, "virtiofs": true, "vboxsf": true, "vmhgfs": true, "prl_fs": true,
	"ceph": true, "afs": true, "coda": true, "lustre": true, "gpfs": true, "beegfs": true, "panfs": true,
	"ocfs2": true, "gfs2": true, "orangefs": true, "glusterfs": true, "davfs": true,

	"fuse.sshfs": true, "fuse.smbnetfs": true, "fuse.nfs": true, "fuse.curlftpfs": true, "fuse.davfs": true, "fuse.davfs2": true,
	"fuse.glusterfs": true, "fuse.ceph": true, "fuse.ceph-fuse": true, "fuse.juicefs": true, "fuse.mfs": true,
	"fuse.moosefs": true, "fuse.lizardfs": true, "fuse.saunafs": true, "fuse.seaweedfs": true, "fuse.beegfs": true,
	"fuse.s3fs": true, "fuse.goofys": true, "fuse.gcsfuse": true, "fuse.mountpoint-s3": true, "fuse.blobfuse": true,
	"fuse.blobfuse2": true, "fuse.rclone": true, "fuse.alluxio-fuse": true, "fuse.hdfs": true, "fuse.fuse_dfs": true,
	"fuse.cvmfs": true, "fuse.vmhgfs-fuse": true, "fuse.osxfs": true, "fuse.grpcfuse": true,
}

// OnNetwork reports whether the path, or the nearest folder above it that is
// there, is on a file system that several machines may share, and names that.
func OnNetwork(path string) (system string, found bool) {
	system = systemOf(path)
	return system, networkTypes[strings.ToLower(system)]
}

// OnTmpfs reports whether the path is in memory and so gone with the next
// start of the machine or container.
func OnTmpfs(path string) bool {
	system := systemOf(path)
	return system == "tmpfs" || system == "ramfs"
}

// systemOf names the file system that the path is on; empty when that cannot
// be told.
func systemOf(path string) string {
	real := nearest(path)
	if real == "" {
		return ""
	}
	if name := magicName(real); name != "" {
		return name
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	return mountType(string(mounts), real)
}

// nearest is the path, or the nearest folder above it, without symbolic links.
func nearest(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for {
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			return real
		}
		up := filepath.Dir(abs)
		if up == abs {
			return ""
		}
		abs = up
	}
}

// mountType returns the type of the mount that the path is under. The last
// line with the longest mount point counts: mounts cover each other.
func mountType(mountinfo, path string) string {
	best, system := -1, ""
	for line := range strings.Lines(mountinfo) {
		mount, source, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(mount), strings.Fields(source)
		if !ok || len(fields) < 5 || len(kind) == 0 {
			continue
		}
		point := unescape(fields[4])
		if under(path, point) && len(point) >= best {
			best, system = len(point), kind[0]
		}
	}
	return system
}

func under(path, point string) bool {
	return point == "/" || path == point || strings.HasPrefix(path, point+"/")
}

// unescape undoes the four characters that the kernel writes in octal.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
