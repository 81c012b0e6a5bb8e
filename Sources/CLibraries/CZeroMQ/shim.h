// What Swift cannot import from <zmq.h> by itself. Only Sources/Foundations/ZeroMQ imports this module.
#ifndef PACKHORSE_CZEROMQ_SHIM_H
#define PACKHORSE_CZEROMQ_SHIM_H
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>  // not part of Swift's Glibc module
#include <sys/ioctl.h>
#include <sys/socket.h>
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

// Bytes a TCP connection has received in order since it was made, or -1. Debian's <netinet/tcp.h> has an older struct tcp_info;
// the kernel's field tcpi_bytes_received is at byte 128 since Linux 4.1 and stays there (level IPPROTO_TCP 6, option TCP_INFO 11).
static inline int64_t ph_bytes_received(int fd) {
    unsigned char info[256];
    socklen_t length = sizeof info;
    uint64_t received;
    if (getsockopt(fd, 6, 11, info, &length) != 0 || length < 136) return -1;
    memcpy(&received, info + 128, sizeof received);
    return (int64_t)received;
}
// Of these, the bytes that have not been read yet, or -1.
static inline int64_t ph_bytes_waiting(int fd) {
    int waiting = 0;
    return ioctl(fd, FIONREAD, &waiting) == 0 ? waiting : -1;
}
// Shuts a connection and discards what waits in it (MSG_TRUNC does not copy): at most 64 MiB, many times any receive buffer.
static inline void ph_cut(int fd) {
    // When libzmq closes it, the peer is told by a reset at once instead of probing a window that never opens again.
    struct linger reset = {1, 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    (void)shutdown(fd, SHUT_RDWR);
    for (int i = 0; i < 64; i++) {
        char byte;
        if (recv(fd, &byte, 1 << 20, MSG_DONTWAIT | MSG_TRUNC) <= 0) break;
    }
}
#endif
