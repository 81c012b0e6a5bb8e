/* The natives of offlinemaps.Native on libofflinemaps. Build: see docs/other-languages.md. */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "offlinemaps.h"

static JavaVM *machine;
static jclass error_class, listener_class;
static jmethodID error_init, listener_call;

jint JNI_OnLoad(JavaVM *vm, void *reserved) {
    JNIEnv *env;
    (void)reserved;
    machine = vm;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK || ofm_abi_version() != OFM_ABI_VERSION) return JNI_ERR;
    jclass error = (*env)->FindClass(env, "offlinemaps/OfflineMapsException");
    jclass listener = error ? (*env)->FindClass(env, "offlinemaps/ProgressListener") : NULL;
    if (!listener) return JNI_ERR;
    error_class = (*env)->NewGlobalRef(env, error);
    listener_class = (*env)->NewGlobalRef(env, listener);
    error_init = (*env)->GetMethodID(env, error_class, "<init>", "([B[B)V");
    listener_call = (*env)->GetStaticMethodID(env, listener_class, "call", "(Lofflinemaps/ProgressListener;DJI[B)V");
    return error_init && listener_call ? JNI_VERSION_1_6 : JNI_ERR;
}

/* Bytes of Java as a text of C, to be freed; NULL for null, and when an exception is pending. */
static char *text(JNIEnv *env, jbyteArray bytes) {
    if (!bytes) return NULL;
    jsize length = (*env)->GetArrayLength(env, bytes);
    char *copy = malloc((size_t)length + 1);
    if (!copy) return NULL;
    (*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)copy);
    copy[length] = 0;
    return copy;
}

static jbyteArray bytes(JNIEnv *env, const void *from, size_t length) {
    jbyteArray array = (*env)->NewByteArray(env, (jsize)length);
    if (array) (*env)->SetByteArrayRegion(env, array, 0, (jsize)length, from);
    return array;
}

/* Throws the error as an exception, and frees it. */
static int failed(JNIEnv *env, ofm_error *error) {
    if (!error) return 0;
    const char *code = ofm_error_code(error), *message = ofm_error_message(error);
    jbyteArray first = bytes(env, code, strlen(code)), second = first ? bytes(env, message, strlen(message)) : NULL;
    jobject exception = second ? (*env)->NewObject(env, error_class, error_init, first, second) : NULL;
    if (exception) (*env)->Throw(env, exception);
    ofm_error_free(error);
    return 1;
}

static jbyteArray taken(JNIEnv *env, ofm_error *error, ofm_data *data) {
    if (failed(env, error) || !data) return NULL;
    jbyteArray array = bytes(env, ofm_data_bytes(data), ofm_data_length(data));
    ofm_data_free(data);
    return array;
}

#define MAPS ((ofm_maps *)(intptr_t)maps)
#define NATIVE(type, name) JNIEXPORT type JNICALL Java_offlinemaps_Native_##name

NATIVE(jlong, open)(JNIEnv *env, jclass class, jbyteArray folder, jbyteArray catalog, jbyteArray key,
                   jbyteArray token) {
    char *a = text(env, folder), *b = text(env, catalog), *c = text(env, key), *d = text(env, token);
    ofm_maps *maps = NULL;
    (void)class;
    failed(env, ofm_maps_open(a, b, c, d, &maps));
    free(a), free(b), free(c), free(d);
    return (jlong)(intptr_t)maps;
}

NATIVE(void, close)(JNIEnv *env, jclass class, jlong maps) {
    (void)env, (void)class;
    ofm_maps_free(MAPS);
}

/* Calls a function whose last argument is where its data is put. */
#define DATA(call) do { ofm_data *data = NULL; ofm_error *error = call; return taken(env, error, data); } while (0)

NATIVE(jbyteArray, catalog)(JNIEnv *env, jclass class, jlong maps, jlong max_age) {
    (void)class;
    DATA(ofm_maps_catalog(MAPS, max_age, &data));
}

NATIVE(jbyteArray, search)(JNIEnv *env, jclass class, jlong maps, jbyteArray words, jbyteArray language) {
    char *a = text(env, words), *b = text(env, language);
    ofm_data *data = NULL;
    ofm_error *error = ofm_maps_search(MAPS, a, b, &data);
    (void)class;
    free(a), free(b);
    return taken(env, error, data);
}

NATIVE(jbyteArray, installed)(JNIEnv *env, jclass class, jlong maps) {
    (void)class;
    DATA(ofm_maps_installed(MAPS, &data));
}

NATIVE(jbyteArray, updates)(JNIEnv *env, jclass class, jlong maps) {
    (void)class;
    DATA(ofm_maps_updates(MAPS, &data));
}

NATIVE(jbyteArray, verify)(JNIEnv *env, jclass class, jlong maps) {
    (void)class;
    DATA(ofm_maps_verify(MAPS, &data));
}

NATIVE(void, remove)(JNIEnv *env, jclass class, jlong maps, jbyteArray id) {
    char *a = text(env, id);
    (void)class;
    failed(env, ofm_maps_remove(MAPS, a));
    free(a);
}

NATIVE(jbyteArray, style)(JNIEnv *env, jclass class, jlong maps, jbyteArray style, jbyteArray id) {
    char *a = text(env, style), *b = text(env, id);
    ofm_data *data = NULL;
    ofm_error *error = ofm_maps_style(MAPS, a, b, &data);
    (void)class;
    free(a), free(b);
    return taken(env, error, data);
}

NATIVE(jbyteArray, tile)(JNIEnv *env, jclass class, jlong maps, jbyteArray tileset, jint z, jint x, jint y) {
    char *a = text(env, tileset);
    ofm_data *data = NULL;
    ofm_error *error = ofm_maps_tile(MAPS, a, z, x, y, &data);
    (void)class;
    free(a);
    return taken(env, error, data);
}

NATIVE(void, setOffline)(JNIEnv *env, jclass class, jlong maps, jboolean offline) {
    (void)class;
    failed(env, ofm_maps_set_offline(MAPS, offline));
}

/* ---- Downloads: the handle of Java has the download, and the listener that it calls ---- */

typedef struct {
    ofm_download *download;
    jobject listener;
} following;

#define FOLLOWING ((following *)(intptr_t)download)

/* On the thread of the library, which Java does not know before the first call. */
static void show(void *context, double fraction, uint64_t transferred, int32_t state, const char *words) {
    following *own = context;
    JNIEnv *env;
    /* Android's header has another type for the first argument. */
#ifdef __ANDROID__
    if ((*machine)->AttachCurrentThreadAsDaemon(machine, &env, NULL) != JNI_OK) return;
#else
    if ((*machine)->AttachCurrentThreadAsDaemon(machine, (void **)&env, NULL) != JNI_OK) return;
#endif
    jbyteArray said = bytes(env, words, strlen(words));
    if (said) {
        (*env)->CallStaticVoidMethod(env, listener_class, listener_call, own->listener, fraction, (jlong)transferred, (jint)state, said);
        (*env)->DeleteLocalRef(env, said);
    }
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionDescribe(env);
        (*env)->ExceptionClear(env);
    }
}

static void forget(JNIEnv *env, following *own) {
    if (own->listener) (*env)->DeleteGlobalRef(env, own->listener);
    free(own);
}

static following *begun(JNIEnv *env, jobject listener) {
    following *own = calloc(1, sizeof *own);
    if (own && listener) own->listener = (*env)->NewGlobalRef(env, listener);
    return own;
}

NATIVE(jlong, download)(JNIEnv *env, jclass class, jlong maps, jbyteArray id, jbyteArray style, jobject listener) {
    following *own = begun(env, listener);
    char *a = text(env, id), *b = text(env, style);
    (void)class;
    if (own && failed(env, ofm_maps_download(MAPS, a, b, own->listener ? show : NULL, own, &own->download))) {
        forget(env, own);
        own = NULL;
    }
    free(a), free(b);
    return (jlong)(intptr_t)own;
}

NATIVE(jlong, update)(JNIEnv *env, jclass class, jlong maps, jobject listener) {
    following *own = begun(env, listener);
    (void)class;
    if (own && failed(env, ofm_maps_update(MAPS, own->listener ? show : NULL, own, &own->download))) {
        forget(env, own);
        own = NULL;
    }
    return (jlong)(intptr_t)own;
}

NATIVE(jboolean, await)(JNIEnv *env, jclass class, jlong download, jlong milliseconds) {
    int32_t ended = 0;
    (void)class;
    failed(env, ofm_download_wait(FOLLOWING->download, milliseconds, &ended));
    return ended != 0;
}

NATIVE(void, cancel)(JNIEnv *env, jclass class, jlong download) {
    (void)env, (void)class;
    ofm_download_cancel(FOLLOWING->download);
}

NATIVE(void, free)(JNIEnv *env, jclass class, jlong download) {
    (void)class;
    ofm_download_free(FOLLOWING->download);
    forget(env, FOLLOWING);
}
