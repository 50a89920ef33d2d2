package sqlitestore

import "syscall"

// magics are file systems by the number that statfs gives. FUSE has one for
// all of its kinds; it is not here, so that the mount's type decides.
var magics = map[uint32]string{
	0x01021994: "tmpfs",
	0x858458f6: "ramfs",
	0x00006969: "nfs",
	0x0000517b: "smbfs",
	0xff534d42: "cifs",
	0xfe534d42: "smb3",
	0x0000564c: "ncpfs",
	0x01021997: "9p",
	0x00c36400: "ceph",
	0x5346414f: "afs",
	0x6b414653: "afs",
	0x73757245: "coda",
	0x0bd00bd0: "lustre",
	0x47504653: "gpfs",
	0x19830326: "beegfs",
	0xaad7aaea: "panfs",
	0x7461636f: "ocfs2",
	0x01161970: "gfs2",
	0x20030528: "orangefs",
	0x786f4256: "vboxsf",
	0xbacbacbc: "vmhgfs",
}

// magicName names the file system by its number, or is empty.
func magicName(path string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return ""
	}
	return magics[uint32(st.Type)]
}
