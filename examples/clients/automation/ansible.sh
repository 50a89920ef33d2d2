#!/usr/bin/env bash
# Opens and resolves ServiceNow incidents with Ansible's module uri.
#
#   ansible.sh create URL URGENCY FAULT...
#   ansible.sh resolve URL SYS_ID
set -eu
cd "$(dirname "$0")"
export ANSIBLE_REMOTE_TEMP=$HOME/.ansible/tmp
command=$1 url=$2
shift 2
if [ "$command" = resolve ]; then
	exec ansible-playbook -i localhost, -e "url=$url ticket=$1" resolve.yml
fi
urgency=$1
shift
faults=$(printf '%s,' "$@")
exec ansible-playbook -f 16 -i "$faults" -e "url=$url urgency=$urgency patience=${TIMEOUT:-60}" create.yml
