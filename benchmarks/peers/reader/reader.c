// A reader of streams with as little in it as possible: what a client written
// in C pays for epoll, recvmsg and the kernel's arrival stamps.
//
//   reader PORT RATE REQUESTS CONNECTIONS NAP_US TOKENS
//
// Requests start at a constant rate on connections opened before. One line a
// request goes to stdout: ID SENT_NS ARRIVAL_NS…, all of CLOCK_MONOTONIC. With
// NAP_US above 0 it does not wait for each event but sleeps so long between
// looks; the kernel's stamps keep the arrival times.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    int fd;
    long request;       // the request under way, -1: none
    unsigned token, end; // how much of each pattern has matched
    int after;           // the byte before completed a token's pattern
} conn;

typedef struct {
    int64_t sent;
    int n;
    int64_t *at;
} record;

static const char token_is[] = "\"content\":\"", end_is[] = "\r\n0\r\n\r\n";
static record *records;
static int tokens;
static long done, failed;

static int64_t now_of(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int open_conn(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
    // One answered request makes both ends warm.
    static const char get[] = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char buf[4096];
    if (write(fd, get, sizeof get - 1) < 0 || read(fd, buf, sizeof buf) <= 0) die("warm-up");
    return fd;
}

static void ask(conn *c, long k) {
    static const char body[] =
        "{\"model\":\"sim\",\"messages\":[{\"role\":\"user\",\"content\":\"w1 w2 w3 w4 w5 w6 w7 w8\"}],"
        "\"max_tokens\":%d,\"ignore_eos\":true,\"stream\":true,\"stream_options\":{\"include_usage\":true}}";
    char b[512], all[1024];
    int n = snprintf(b, sizeof b, body, tokens);
    n = snprintf(all, sizeof all,
                 "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                 "X-Request-Id: c-%ld\r\nContent-Length: %d\r\n\r\n%s", k, n, b);
    c->request = k;
    c->token = c->end = c->after = 0;
    records[k].at = malloc(sizeof(int64_t) * tokens);
    records[k].sent = now_of(CLOCK_MONOTONIC);
    if (write(c->fd, all, n) != n) die("write");
}

// match moves a pattern on by a byte and tells whether it is complete.
static int match(const char *pattern, unsigned length, unsigned *state, char ch) {
    *state = ch == pattern[*state] ? *state + 1 : ch == pattern[0];
    if (*state < length) return 0;
    *state = 0;
    return 1;
}

// arrived reads once; it tells whether the reply has ended.
static int arrived(conn *c) {
    static char buf[1 << 16];
    char control[128];
    struct iovec iov = {buf, sizeof buf};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(c->fd, &m, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (n <= 0) {
        failed++;
        close(c->fd);
        return 1;
    }
    int64_t at = now_of(CLOCK_MONOTONIC);
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h))
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(h), sizeof t);
            at -= now_of(CLOCK_REALTIME) - (t.tv_sec * 1000000000LL + t.tv_nsec); // by its age
        }
    if (c->request < 0) return 0;
    record *r = &records[c->request];
    int over = 0;
    for (ssize_t i = 0; i < n; i++) {
        if (c->after && buf[i] != '"' && r->n < tokens) r->at[r->n++] = at; // "" is the role's
        c->after = match(token_is, sizeof token_is - 1, &c->token, buf[i]);
        over |= match(end_is, sizeof end_is - 1, &c->end, buf[i]);
    }
    return over;
}

int main(int argc, char **argv) {
    if (argc != 7) return fprintf(stderr, "usage: reader PORT RATE REQUESTS CONNECTIONS NAP_US TOKENS\n"), 2;
    int port = atoi(argv[1]), conns = atoi(argv[4]);
    double rate = atof(argv[2]);
    long requests = atol(argv[3]), next = 0, nap = atol(argv[5]) * 1000;
    tokens = atoi(argv[6]);
    struct rlimit files;
    if (!getrlimit(RLIMIT_NOFILE, &files)) files.rlim_cur = files.rlim_max, setrlimit(RLIMIT_NOFILE, &files);
    prctl(PR_SET_TIMERSLACK, 1);
    records = calloc(requests, sizeof *records);
    conn *all = calloc(conns, sizeof *all), **idle = calloc(conns, sizeof *idle);
    int ep = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0), free_conns = 0;
    for (int i = 0; i < conns; i++) {
        all[i] = (conn){.fd = open_conn(port), .request = -1};
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &all[i]};
        if (epoll_ctl(ep, EPOLL_CTL_ADD, all[i].fd, &e)) die("epoll_ctl");
        idle[free_conns++] = &all[i];
    }
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(ep, EPOLL_CTL_ADD, timer, &e);
    int64_t start = now_of(CLOCK_MONOTONIC) + 10000000;
    while (done < requests) {
        int64_t now = now_of(CLOCK_MONOTONIC), due = start + (int64_t)(next * 1e9 / rate);
        while (next < requests && due <= now && free_conns > 0) {
            ask(idle[--free_conns], next++);
            due = start + (int64_t)(next * 1e9 / rate);
        }
        int wait = next < requests && free_conns > 0;
        if (nap > 0) {
            int64_t until = now + nap;
            if (wait && due < until) until = due;
            struct timespec t = {until / 1000000000, until % 1000000000};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        } else if (wait) {
            struct itimerspec t = {.it_value = {due / 1000000000, due % 1000000000}};
            timerfd_settime(timer, TFD_TIMER_ABSTIME, &t, NULL);
        }
        struct epoll_event events[512];
        int n = epoll_wait(ep, events, 512, nap > 0 ? 0 : -1);
        for (int i = 0; i < n; i++) {
            conn *c = events[i].data.ptr;
            uint64_t fired;
            if (!c) {
                if (read(timer, &fired, sizeof fired) < 0 && errno != EAGAIN) die("timer");
            } else if (arrived(c)) {
                c->request = -1;
                idle[free_conns++] = c;
                done++;
            }
        }
    }
    for (long k = 0; k < requests; k++) {
        printf("c-%ld %lld", k, (long long)records[k].sent);
        for (int i = 0; i < records[k].n; i++) printf(" %lld", (long long)records[k].at[i]);
        putchar('\n');
    }
    return failed > 0;
}
