package offlinemaps;

/** A download that has begun. Closing it before its end stops it; its bytes are kept, and the next download of the package continues there. */
public final class Download implements AutoCloseable {
    private long handle;

    Download(long handle) {
        this.handle = handle;
    }

    /** Waits for the end. */
    public void await() throws OfflineMapsException {
        Native.await(handle(), -1);
    }

    /** Waits for the end; false when it has not ended within the time. */
    public boolean await(long milliseconds) throws OfflineMapsException {
        return Native.await(handle(), Math.max(0, milliseconds));
    }

    /** Stops it; returns at once. */
    public void cancel() {
        Native.cancel(handle());
    }

    /** Stops it when it has not ended. Not while another thread waits for it: cancel it first. */
    @Override
    public synchronized void close() {
        if (handle != 0) {
            Native.free(handle);
        }
        handle = 0;
    }

    private synchronized long handle() {
        if (handle == 0) {
            throw new IllegalStateException("The download is closed.");
        }
        return handle;
    }
}
