package offlinemaps;

/** Why a call failed: a stable word for programs, and what happened and what to do. */
public final class OfflineMapsException extends Exception {
    private static final long serialVersionUID = 1;
    private final String code;

    OfflineMapsException(String code, String message) {
        super(message);
        this.code = code;
    }

    /** Called by offlinemaps_jni.c. */
    OfflineMapsException(byte[] code, byte[] message) {
        this(OfflineMaps.text(code), OfflineMaps.text(message));
    }

    /** A word such as {@code network}, {@code not-in-catalog} or {@code disk-full}. */
    public String code() {
        return code;
    }
}
