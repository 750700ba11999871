/*
 * Stands between a process and its files (LD_PRELOAD) and does two things for files below FAULT_ROOT:
 *
 * FAULT_RECORD: appends every change to this file, in order, so that a test can rebuild the disk as a power cut
 * would have left it. Writes to FAULT_TOLD are recorded too: they say what the process told its clients, and when.
 * Syncs are recorded and not done: the test decides what they mean.
 *
 * FAULT_CONTROL: a file with one line `<id> <write|sync> <action> <bytes> <count>`: from the first of these calls
 * on that finds so many bytes written since the last sync, `count` of them fail or dawdle. Actions: ENOSPC, EIO,
 * SHORT (a write that stops half-way), or a number of milliseconds to wait. A line with another id starts anew; an
 * empty file ends it. `<id> any DIE 0 1` kills the process before its next change or sync: a kill from outside may come
 * between a change and its note, or tear the note, and the record would say something else than what the next process
 * finds.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char *root, *told, *control;
static int record = -1;
static size_t unsynced;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);
static int (*real_open)(const char *, int, ...);

static void start(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_rename = dlsym(RTLD_NEXT, "rename");
  real_open = dlsym(RTLD_NEXT, "open64");
  root = getenv("FAULT_ROOT");
  told = getenv("FAULT_TOLD");
  control = getenv("FAULT_CONTROL");
  const char *path = getenv("FAULT_RECORD");
  if (path) record = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void ready(void) { pthread_once(&once, start); }

/* 0: not ours. 1: below the root (the shared memory beside a log is no disk). 2: what is told. */
static int kind_of(const char *path) {
  if (told && strcmp(path, told) == 0) return 2;
  if (!root || strncmp(path, root, strlen(root)) != 0) return 0;
  size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, "-shm") == 0 ? 0 : 1;
}

static int kind_of_fd(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return kind_of(path);
}

/* op, path length, offset, data length, path, data: numbers as 32, 64 and 32 bits, little endian. */
static void note(char op, const char *path, uint64_t offset, const void *data, uint32_t bytes) {
  if (record < 0) return;
  char head[17];
  uint32_t path_bytes = (uint32_t)strlen(path);
  head[0] = op;
  memcpy(head + 1, &path_bytes, 4);
  memcpy(head + 5, &offset, 8);
  memcpy(head + 13, &bytes, 4);
  struct iovec parts[3] = {{head, sizeof head}, {(void *)path, path_bytes}, {(void *)data, bytes}};
  if (writev(record, parts, 3) < 0) abort();
}

static int wait_ms(int ms) {
  struct timespec time = {ms / 1000, (ms % 1000) * 1000000L};
  return nanosleep(&time, NULL);
}

/* What the control file asks of this call: 0, an errno, -1 for SHORT; waits when it says so. */
static int injected(const char *call) {
  static char last_id[32];
  static int used;
  if (!control) return 0;
  int file = real_open(control, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char line[128], id[32], which[16], action[16];
  ssize_t bytes = read(file, line, sizeof line - 1);
  close(file);
  if (bytes <= 0) return 0;
  line[bytes] = 0;
  int count;
  size_t bytes_before;
  if (sscanf(line, "%31s %15s %15s %zu %d", id, which, action, &bytes_before, &count) != 5) return 0;
  if (strcmp(which, "any") != 0 && strcmp(which, call) != 0) return 0;
  pthread_mutex_lock(&lock);
  if (strcmp(action, "DIE") == 0) raise(SIGKILL);
  if (strcmp(id, last_id) != 0) {
    strcpy(last_id, id);
    used = 0;
  }
  int now = used > 0 ? used < count : unsynced >= bytes_before;
  if (now) used++;
  pthread_mutex_unlock(&lock);
  if (!now) return 0;
  if (strcmp(action, "ENOSPC") == 0) return ENOSPC;
  if (strcmp(action, "EIO") == 0) return EIO;
  if (strcmp(action, "SHORT") == 0) return -1;
  wait_ms(atoi(action));
  return 0;
}

static ssize_t put(int fd, const void *data, size_t bytes, off_t offset, int at) {
  ready();
  char path[PATH_MAX];
  int kind = fd > 2 && fd != record ? kind_of_fd(fd, path) : 0;
  if (kind == 0) return at ? real_pwrite(fd, data, bytes, offset) : real_write(fd, data, bytes);
  if (kind == 1) {
    int fault = injected("write");
    if (fault > 0) {
      errno = fault;
      return -1;
    }
    if (fault < 0 && bytes > 1) bytes /= 2;
  }
  pthread_mutex_lock(&lock);
  off_t where = at ? offset : lseek(fd, 0, SEEK_CUR);
  ssize_t done = at ? real_pwrite(fd, data, bytes, offset) : real_write(fd, data, bytes);
  if (done > 0 && kind == 1) unsynced += (size_t)done;
  if (done > 0) note(kind == 2 ? 'A' : 'W', path, (uint64_t)where, data, (uint32_t)done);
  pthread_mutex_unlock(&lock);
  return done;
}

ssize_t write(int fd, const void *data, size_t bytes) { return put(fd, data, bytes, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset) { return put(fd, data, bytes, offset, 1); }
ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t offset) { return put(fd, data, bytes, offset, 1); }

static int truncate_to(int fd, off_t size) {
  ready();
  char path[PATH_MAX];
  if (kind_of_fd(fd, path) != 1) return real_ftruncate(fd, size);
  injected("change");
  pthread_mutex_lock(&lock);
  int result = real_ftruncate(fd, size);
  if (result == 0) note('T', path, (uint64_t)size, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate(int fd, off_t size) { return truncate_to(fd, size); }
int ftruncate64(int fd, off_t size) { return truncate_to(fd, size); }

static int sync_file(int fd, int (*real)(int)) {
  char path[PATH_MAX];
  if (kind_of_fd(fd, path) != 1) return real(fd);
  int fault = injected("sync");
  pthread_mutex_lock(&lock);
  struct stat status;
  int folder = fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
  int result = 0;
  unsynced = 0;
  if (fault > 0) {
    note('E', path, 0, NULL, 0);
    errno = fault;
    result = -1;
  } else if (record >= 0) {
    note(folder ? 'D' : 'S', path, 0, NULL, 0);
  } else {
    result = real(fd);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int fsync(int fd) {
  ready();
  return sync_file(fd, real_fsync);
}
int fdatasync(int fd) {
  ready();
  return sync_file(fd, real_fdatasync);
}

int unlink(const char *path) {
  ready();
  if (kind_of(path) != 1) return real_unlink(path);
  injected("change");
  pthread_mutex_lock(&lock);
  int result = real_unlink(path);
  if (result == 0) note('U', path, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}

int rename(const char *from, const char *to) {
  ready();
  if (kind_of(to) != 1) return real_rename(from, to);
  injected("change");
  pthread_mutex_lock(&lock);
  int result = real_rename(from, to);
  if (result == 0) note('R', from, 0, to, (uint32_t)strlen(to));
  pthread_mutex_unlock(&lock);
  return result;
}

static int open_file(const char *path, int flags, mode_t mode) {
  ready();
  if (!(flags & O_CREAT) || kind_of(path) != 1) return real_open(path, flags, mode);
  injected("change");
  pthread_mutex_lock(&lock);
  int made = access(path, F_OK) != 0;
  int fd = real_open(path, flags, mode);
  if (fd >= 0 && made) note('C', path, 0, NULL, 0);
  else if (fd >= 0 && (flags & O_TRUNC)) note('T', path, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return fd;
}

#define MODE(flags, mode)            \
  mode_t mode = 0;                   \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list more;                    \
    va_start(more, flags);           \
    mode = va_arg(more, mode_t);     \
    va_end(more);                    \
  }

int open(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_file(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_file(path, flags, mode);
}
