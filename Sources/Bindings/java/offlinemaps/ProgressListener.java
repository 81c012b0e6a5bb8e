package offlinemaps;

/** Gets the progress of a download, on the one thread of the library, which is named "offlinemaps". It must return soon. */
@FunctionalInterface
public interface ProgressListener {
    /**
     * Called whenever the progress changes; the last call has the state DONE, FAILED or CANCELLED.
     *
     * @param fraction the part that is done, 0 to 1; never falls
     * @param transferred bytes that came over the network
     * @param text the state in English, or the message of the failure
     */
    void progress(double fraction, long transferred, State state, String text);

    /** Where a download is, in the order of {@code enum ofm_state}. */
    enum State {
        WAITING, DOWNLOADING, VERIFYING, INSTALLING, PAUSED, DONE, FAILED, CANCELLED
    }

    /** Called by the library. */
    static void call(ProgressListener listener, double fraction, long transferred, int number, byte[] text) {
        State[] states = State.values();
        // A number of a newer library is a state in which the download continues.
        State state = number >= 0 && number < states.length ? states[number] : State.WAITING;
        Native.caller = Thread.currentThread();
        listener.progress(fraction, transferred, state, OfflineMaps.text(text));
    }
}
