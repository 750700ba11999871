# sh enter-tree.sh ROOT FOLDER USER rw|ro DATA COMMAND…
# Runs a command where the tree is all there is, beside the system's own programs: as in a container. Its mounts are seen by
# nobody else and end with it. `ro`: nothing but /tmp and the data folder can be written; DATA is a folder for both or empty.
set -eu
tree=$1 folder=$2 user=$3 mode=$4 data=$5
shift 5
mount -t tmpfs -o mode=755 tmpfs "$tree/mnt"
root=$tree/mnt
for name in bin sbin lib lib64; do
  if [ -L "/$name" ]; then cp -P "/$name" "$root/$name"
  elif [ -d "/$name" ]; then mkdir "$root/$name"; mount --rbind "/$name" "$root/$name"; fi
done
mkdir -p "$root/usr/local" "$root/proc" "$root/dev" "$root/etc" "$root/tmp" "$root/root" "$root/app" "$root/var/lib/faregate"
for name in bin sbin lib lib64 share; do
  [ -d "/usr/$name" ] || continue
  mkdir -p "$root/usr/$name"
  mount --bind "/usr/$name" "$root/usr/$name"
  mount -o remount,bind,ro "$root/usr/$name"
done
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount --bind /etc "$root/etc"
mount -o remount,bind,ro "$root/etc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
for name in app usr/local var/lib/faregate; do
  mount --bind "$tree/$name" "$root/$name"
  [ "$mode" = rw ] || mount -o remount,bind,ro "$root/$name"
done
if [ -n "$data" ]; then mount --bind "$data" "$root/var/lib/faregate"; fi
if [ "$mode" = rw ]; then
  if [ -n "${npm_config_cache:-}" ] && [ -d "$npm_config_cache" ]; then
    mkdir "$root/root/.npm"
    mount --bind "$npm_config_cache" "$root/root/.npm"
  fi
  if [ -f "${npm_config_userconfig:-}" ]; then cp "$npm_config_userconfig" "$root/root/.npmrc"; fi
else
  mount -o remount,ro "$root"
fi
unset npm_config_cache npm_config_userconfig
exec chroot "$root" /usr/bin/env -C "$folder" /usr/bin/setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups \
  $([ "$user" = 0:0 ] || echo --bounding-set=-all --inh-caps=-all --no-new-privs) "$@"
