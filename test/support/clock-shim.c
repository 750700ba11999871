/*
 * Gives a process other clocks (LD_PRELOAD). CLOCK_SHIM_FILE holds two numbers of eight bytes each: the seconds by which its
 * wall clock is ahead, and those that its monotonic clock, and so its timers, have skipped; a test writes them while the
 * process runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *moved_s;
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_gettimeofday)(struct timeval *, void *);
static time_t (*real_time)(time_t *);

__attribute__((constructor)) static void start(void) {
  real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  real_gettimeofday = dlsym(RTLD_NEXT, "gettimeofday");
  real_time = dlsym(RTLD_NEXT, "time");
  const char *path = getenv("CLOCK_SHIM_FILE");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *mapped = mmap(NULL, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) moved_s = mapped;
  close(fd);
}

static int64_t ahead(void) { return moved_s ? moved_s[0] : 0; }
static int64_t skipped(void) { return moved_s ? moved_s[1] : 0; }

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!real_clock_gettime) start();
  int result = real_clock_gettime(clock, now);
  if (result != 0) return result;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += ahead();
  if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE) now->tv_sec += skipped();
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  if (!real_gettimeofday) start();
  int result = real_gettimeofday(now, zone);
  if (result == 0 && now) now->tv_sec += ahead();
  return result;
}

time_t time(time_t *out) {
  if (!real_time) start();
  time_t now = real_time(NULL) + ahead();
  if (out) *out = now;
  return now;
}
