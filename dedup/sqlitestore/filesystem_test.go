package sqlitestore_test

import (
	"os"
	"path/filepath"
	"testing"

	"oneticket/dedup/sqlitestore"
)

const mountinfo = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /dev/shm rw,nosuid - tmpfs tmpfs rw
24 22 0:50 / /mnt/nas rw,relatime - nfs4 nas:/export rw
25 24 8:2 / /mnt/nas/local rw - xfs /dev/sdb1 rw
26 22 0:51 / /mnt/my\040share rw - cifs //nas/share rw
27 22 0:52 / /home/ops/remote rw - fuse.sshfs ops@host: rw
28 22 0:53 / /data rw - fuse.mergerfs a:b rw
29 22 0:54 / /over rw - ext4 /dev/sdc1 rw
30 22 0:55 / /over rw - 9p host rw
31 22 0:56 / /disks/ntfs rw - fuseblk /dev/sdd1 rw
broken line
`

func TestNetworkFileSystemsAreRefused(t *testing.T) {
	for path, want := range map[string]struct {
		system  string
		refused bool
	}{
		"/var/lib/oneticket/x.db":  {"ext4", false},
		"/mnt/nas/x.db":            {"nfs4", true},
		"/mnt/nas":                 {"nfs4", true},
		"/mnt/nasty/x.db":          {"ext4", false},
		"/mnt/nas/local/x.db":      {"xfs", false},
		"/mnt/my share/x.db":       {"cifs", true},
		"/home/ops/remote/a/b":     {"fuse.sshfs", true},
		"/data/x.db":               {"fuse.mergerfs", false},
		"/over/x.db":               {"9p", true}, // the later mount covers the earlier
		"/disks/ntfs/oneticket.db": {"fuseblk", false},
	} {
		system := sqlitestore.MountType(mountinfo, path)
		if refused := sqlitestore.IsNetworkType(system); system != want.system || refused != want.refused {
			t.Errorf("%s: %s, refused %v; want %s, %v", path, system, refused, want.system, want.refused)
		}
	}
}

func TestALocalFolderIsNoNetworkFileSystem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "not there", "x.db")
	if system, found := sqlitestore.OnNetwork(path); found {
		t.Fatalf("%s counts as %s", path, system)
	}
}

func TestMemoryIsTold(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err != nil {
		t.Logf("this machine has no /dev/shm: %v", err)
		return
	}
	dir, err := os.MkdirTemp("/dev/shm", "sqlitestore")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "x.db"), filepath.Join(link, "x.db")} {
		if !sqlitestore.OnTmpfs(path) {
			t.Errorf("%s is in memory", path)
		}
	}
	if sqlitestore.OnTmpfs("/proc/self") {
		t.Error("/proc is not tmpfs")
	}
}
