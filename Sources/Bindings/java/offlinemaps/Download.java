package offlinemaps;

/** A download that has begun. Closing it before its end stops it; its bytes are kept, and the next download of the package continues there. */
public final class Download implements AutoCloseable {
    /** Milliseconds of a wait in the library, which does not hear an interrupt. */
    private static final long SLICE = 200;

    private long handle;

    Download(long handle) {
        this.handle = handle;
    }

    /** Waits for the end. Not in a progress listener. An interrupt of the thread ends the wait, and the download continues. */
    public void await() throws OfflineMapsException, InterruptedException {
        await(Long.MAX_VALUE);
    }

    /** Waits for the end; false when it has not ended within the time. As {@link #await()} otherwise. */
    public boolean await(long milliseconds) throws OfflineMapsException, InterruptedException {
        if (Thread.currentThread() == Native.caller) {
            throw new OfflineMapsException(
                    "wrong-state", "A progress listener may not wait: the download would wait for it. Call await() on another thread.");
        }
        long began = System.nanoTime();
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException("The wait for a download was interrupted.");
            }
            long left = milliseconds - (System.nanoTime() - began) / 1_000_000;
            if (Native.await(handle(), Math.max(0, Math.min(left, SLICE)))) {
                return true;
            }
            if (left <= SLICE) {
                return false;
            }
        }
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
