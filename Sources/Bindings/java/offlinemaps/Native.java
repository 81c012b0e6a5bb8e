package offlinemaps;

/** The functions of offlinemaps_jni.c. Texts are UTF-8; handles are pointers. */
final class Native {
    /** The thread of the library that calls listeners; null before the first call. */
    static volatile Thread caller;

    private Native() {}

    static native long open(byte[] folder, byte[] catalog, byte[] key, byte[] token) throws OfflineMapsException;
    static native void close(long maps);
    static native byte[] catalog(long maps, long maxAge) throws OfflineMapsException;
    static native byte[] search(long maps, byte[] text, byte[] language) throws OfflineMapsException;
    static native byte[] installed(long maps) throws OfflineMapsException;
    static native byte[] updates(long maps) throws OfflineMapsException;
    static native byte[] verify(long maps) throws OfflineMapsException;
    static native void remove(long maps, byte[] id) throws OfflineMapsException;
    static native byte[] style(long maps, byte[] style, byte[] id) throws OfflineMapsException;
    static native byte[] tile(long maps, byte[] tileset, int z, int x, int y) throws OfflineMapsException;
    static native void setOffline(long maps, boolean offline) throws OfflineMapsException;
    static native long download(long maps, byte[] id, byte[] style, ProgressListener listener) throws OfflineMapsException;
    static native long update(long maps, ProgressListener listener) throws OfflineMapsException;
    static native boolean await(long download, long milliseconds) throws OfflineMapsException;
    static native void cancel(long download);
    static native void free(long download);
}
