// A bare reader of many token streams: epoll and recvmsg with the kernel's
// stamps, nothing else. It is what a client can cost at least.
//
//   reader PORT STREAMS TOKENS GAP_US SECONDS NAP_US
//
// Stream i starts i-th over the length of one reply, so that tokens do not come
// in lock step; a stream whose reply has ended sends the next request until the
// seconds are over. With NAP_US 0 it waits for every event and reads at once;
// else it looks every so many microseconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char request[1024];
static int request_len;
static char buffer[256 << 10];

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what) { perror(what); exit(1); }

static int dial(int port) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) ||
        connect(fd, (struct sockaddr *)&a, sizeof a)) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void ask(int fd) {
    if (send(fd, request, request_len, MSG_NOSIGNAL) != request_len) fail("send");
}

int main(int argc, char **argv) {
    if (argc != 7) { fprintf(stderr, "reader PORT STREAMS TOKENS GAP_US SECONDS NAP_US\n"); return 2; }
    int port = atoi(argv[1]), n = atoi(argv[2]), tokens = atoi(argv[3]);
    long long gap = atoll(argv[4]) * 1000, length = tokens * gap, nap = atoll(argv[6]) * 1000;
    char body[512];
    int len = snprintf(body, sizeof body, "{\"model\":\"sim\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
        "\"max_tokens\":%d,\"ignore_eos\":true,\"stream\":true,\"stream_options\":{\"include_usage\":true}}", tokens);
    request_len = snprintf(request, sizeof request, "POST /v1/chat/completions HTTP/1.1\r\nhost: sim\r\n"
        "content-type: application/json\r\ncontent-length: %d\r\n\r\n%s", len, body);
    int set = epoll_create1(0), *fds = calloc(n, sizeof *fds);
    for (int i = 0; i < n; i++) {
        fds[i] = dial(port);
        struct epoll_event e = {.events = EPOLLIN, .data.fd = fds[i]};
        if (epoll_ctl(set, EPOLL_CTL_ADD, fds[i], &e)) fail("epoll_ctl");
    }
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    long long start = now(), end = start + atoll(argv[5]) * 1000000000LL, stamps = 0, reads = 0, replies = 0, look = start;
    int started = 0, open = 0;
    while (now() < end || open) {
        long long t = now();
        for (; started < n && t >= start + length * started / n && t < end; started++, open++) ask(fds[started]);
        long long wait = started < n && t < end ? start + length * started / n - t : 100000000;
        if (wait < 0) wait = 0;
        if (nap) {
            look = look + nap > t ? look + nap : t;
            struct timespec until = {look / 1000000000, look % 1000000000};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0);
            wait = 0;
        }
        struct epoll_event events[1024];
        struct timespec timeout = {wait / 1000000000, wait % 1000000000};
        int ready = epoll_pwait2(set, events, 1024, &timeout, 0);
        for (int i = 0; i < ready; i++) {
            char control[256];
            struct iovec v = {buffer, sizeof buffer};
            struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
            ssize_t got = recvmsg(events[i].data.fd, &m, MSG_DONTWAIT);
            if (got < 0 && errno == EAGAIN) continue;
            if (got <= 0) fail("recvmsg");
            reads++;
            struct cmsghdr *c = CMSG_FIRSTHDR(&m);
            if (c && c->cmsg_type == SCM_TIMESTAMPING) stamps++;
            if (got >= 7 && !memcmp(buffer + got - 7, "\r\n0\r\n\r\n", 7)) {
                replies++;
                if (now() < end) ask(events[i].data.fd);
                else open--;
            }
        }
    }
    getrusage(RUSAGE_SELF, &after);
    double us = (after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1e6 +
        after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec;
    printf("{\"cpu_us\":%.0f,\"events\":%lld,\"reads\":%lld,\"stamps\":%lld,\"seconds\":%.3f}\n",
        us, replies * tokens, reads, stamps, (now() - start) / 1e9);
}
