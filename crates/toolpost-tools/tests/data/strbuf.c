/* A string that grows. */

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

#define STRBUF_MIN 16

struct strbuf {
    char  *data;
    size_t len;
    size_t cap;
};

static int grow(struct strbuf *buf, size_t want)
{
    size_t cap = buf->cap ? buf->cap : STRBUF_MIN;
    char *data;

    while (cap < want) {
        if (cap > (size_t)-1 / 2)
            return -1;
        cap *= 2;
    }
    data = realloc(buf->data, cap);
    if (data == NULL)
        return -1;
    buf->data = data;
    buf->cap = cap;
    return 0;
}

int strbuf_add(struct strbuf *buf, const char *text, size_t len)
{
    if (buf->len + len + 1 > buf->cap && grow(buf, buf->len + len + 1) != 0)
        return -1;
    memcpy(buf->data + buf->len, text, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return 0;
}

int strbuf_printf(struct strbuf *buf, const char *format, ...)
{
    char small[64];
    va_list args;
    int need;

    va_start(args, format);
    need = vsnprintf(small, sizeof(small), format, args);
    va_end(args);
    if (need < 0)
        return -1;
    if ((size_t)need < sizeof(small))
        return strbuf_add(buf, small, (size_t)need);
    if (grow(buf, buf->len + (size_t)need + 1) != 0)
        return -1;
    va_start(args, format);
    vsnprintf(buf->data + buf->len, (size_t)need + 1, format, args);
    va_end(args);
    buf->len += (size_t)need;
    return 0;
}

void strbuf_trim(struct strbuf *buf)
{
    while (buf->len > 0 && buf->data[buf->len - 1] == ' ')
        buf->data[--buf->len] = '\0';
}

void strbuf_free(struct strbuf *buf)
{
    free(buf->data);
    memset(buf, 0, sizeof(*buf));
}
