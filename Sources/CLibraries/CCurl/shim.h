// libcurl's variadic calls, one typed inline per argument class, because Swift imports none that are variadic.
// Only Sources/Foundations/Transfer imports this module.
#ifndef PACKHORSE_CCURL_SHIM_H
#define PACKHORSE_CCURL_SHIM_H
#include <curl/curl.h>

typedef size_t (*ph_curl_data)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ph_curl_seek)(void *context, curl_off_t offset, int origin);

static inline CURLcode ph_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ph_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ph_easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ph_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ph_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ph_easy_set_data(CURL *easy, CURLoption option, ph_curl_data value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ph_easy_set_seek(CURL *easy, CURLoption option, ph_curl_seek value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ph_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ph_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ph_easy_get_text(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ph_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLMcode ph_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
// CURLMsg.data is a union.
static inline CURLcode ph_message_result(const CURLMsg *message) { return message->data.result; }
// CURL_GLOBAL_ALL is a compound macro; Swift imports simple ones only.
static inline CURLcode ph_global_init(void) { return curl_global_init(CURL_GLOBAL_ALL); }
#endif
