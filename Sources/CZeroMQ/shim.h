// What Swift cannot import from <zmq.h> by itself. Only Sources/ZeroMQ imports this module.
#ifndef PACKHORSE_CZEROMQ_SHIM_H
#define PACKHORSE_CZEROMQ_SHIM_H
#include <stdint.h>
#include <sys/eventfd.h>  // not part of Swift's Glibc module
#include <unistd.h>
#include <zmq.h>

// In the draft section of Debian's zmq.h, yet honoured by its non-draft build (libzmq 4.3.4): refuse every client
// while no ZAP handler answers for the domain, instead of accepting any key.
#ifndef ZMQ_ZAP_ENFORCE_DOMAIN
#define ZMQ_ZAP_ENFORCE_DOMAIN 93
#endif

// A descriptor that makes zmq_poll return: -1 when the process has no descriptors left.
static inline int ph_wake_open(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
static inline void ph_wake_signal(int fd) {
    uint64_t one = 1;
    (void)!write(fd, &one, sizeof one);
}
static inline void ph_wake_drain(int fd) {
    uint64_t count;
    (void)!read(fd, &count, sizeof count);
}
#endif
