package offlinemaps;

import java.nio.charset.StandardCharsets;

/**
 * The maps of a folder. It loads {@code libofflinemaps_jni.so} from the folders of {@code java.library.path}. That library loads
 * {@code libofflinemaps.so} from its own folder, when it was linked with {@code -Wl,-rpath,'$ORIGIN'}; the path of Java does not
 * hold for it.
 *
 * <pre>{@code
 * try (OfflineMaps maps = OfflineMaps.open(folder, "https://maps.example.com/offline/", "ed25519-public:...");
 *         Download download = maps.download("FR", "streets", (fraction, transferred, state, text) -> show(fraction))) {
 *     download.await();
 *     String style = maps.style("streets", "FR");
 * }
 * }</pre>
 *
 * <p>Calls block until they are done; on Android make them on a thread of your own. They may be made by several threads. {@link #close}
 * must not run at the same time as another call of this object.
 */
public final class OfflineMaps implements AutoCloseable {
    static {
        System.loadLibrary("offlinemaps_jni");
    }

    private long handle;

    private OfflineMaps(long handle) {
        this.handle = handle;
    }

    /** Opens a folder, makes it where it is missing, and continues interrupted downloads. Needs no network. */
    public static OfflineMaps open(String folder, String catalog, String key) throws OfflineMapsException {
        return open(folder, catalog, key, null);
    }

    /** The same for a server that shows its catalog with a token only; the token is sent to that server alone. */
    public static OfflineMaps open(String folder, String catalog, String key, String token) throws OfflineMapsException {
        return new OfflineMaps(Native.open(bytes(folder), bytes(catalog), bytes(key), token == null ? null : bytes(token)));
    }

    /**
     * Begins to download a package and a style, or to bring them to the newest version of the last list, which is read again when it
     * is a day old. {@code style} and {@code listener} may be null.
     */
    public Download download(String id, String style, ProgressListener listener) throws OfflineMapsException {
        return new Download(Native.download(handle(), bytes(id), style == null ? null : bytes(style), listener));
    }

    /** Asks the server for the list, and begins to bring everything that is installed to the newest version, with patches. */
    public Download update(ProgressListener listener) throws OfflineMapsException {
        return new Download(Native.update(handle(), listener));
    }

    /** What the publisher offers, as JSON. The server is asked when it was not asked within so many seconds: 0 always, -1 never. */
    public String catalog(long maxAge) throws OfflineMapsException {
        return text(Native.catalog(handle(), maxAge));
    }

    /** The packages whose names match, best first, as JSON. */
    public String search(String words, String language) throws OfflineMapsException {
        return text(Native.search(handle(), bytes(words), bytes(language)));
    }

    /** What is on the device, as JSON. */
    public String installed() throws OfflineMapsException {
        return text(Native.installed(handle()));
    }

    /** What an update would download, by the last list, as JSON. */
    public String updates() throws OfflineMapsException {
        return text(Native.updates(handle()));
    }

    /**
     * Reads every byte of what is installed; what is missing or damaged, as JSON, an empty array when all is whole. A damaged map stays
     * until {@link #download} or {@link #update} has downloaded it again.
     */
    public String verify() throws OfflineMapsException {
        return text(Native.verify(handle()));
    }

    /** Removes a package. */
    public void remove(String id) throws OfflineMapsException {
        Native.remove(handle(), bytes(id));
    }

    /** An installed style, as JSON, whose tiles, sprites and glyphs are files of this device. Do not store it. */
    public String style(String style, String id) throws OfflineMapsException {
        return text(Native.style(handle(), bytes(style), bytes(id)));
    }

    /** A tile of what is installed, uncompressed; y counts from the north. Null when it is not here, empty when its server has none. */
    public byte[] tile(String tileset, int z, int x, int y) throws OfflineMapsException {
        return Native.tile(handle(), tileset == null ? null : bytes(tileset), z, x, y);
    }

    /** Holds all requests back, until it is called with false or the maps are closed. */
    public void setOffline(boolean offline) throws OfflineMapsException {
        Native.setOffline(handle(), offline);
    }

    /** Stops the downloads, which keep their bytes, and lets go of the folder. */
    @Override
    public synchronized void close() {
        if (handle != 0) {
            Native.close(handle);
        }
        handle = 0;
    }

    private synchronized long handle() {
        if (handle == 0) {
            throw new IllegalStateException("The maps are closed.");
        }
        return handle;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
